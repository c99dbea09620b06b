import { problemOf } from '../../src/problem.ts';
import { testReasonsIn } from './reason_tests.ts';

await testReasonsIn('fr', {
  failures: ['La connexion a été refusée.', 'Pas de réponse complète en 15000 ms.'],
  sentences: [
    [problemOf('not_a_number', { found: '"abc"' }), 'Doit être un nombre ; valeur actuelle : « abc ».'],
    [problemOf('not_a_number', { found: 'null' }), 'Doit être un nombre, mais est vide.'],
    [
      problemOf('missing_for', { purpose: 'proximity_zone', found: 'nothing' }),
      'Est obligatoire pour une zone de proximité.',
    ],
    [
      problemOf('too_many', { limit: 1024, unit: 'characters', found: 8388 }),
      'Doit avoir au plus 1 024 caractères ; nombre actuel : 8 388.',
    ],
    [
      problemOf('axis_out_of_range', { axis: 'latitude', minimum: -90, maximum: 90 }),
      'La latitude doit être de -90 à 90.',
    ],
    [
      problemOf('invalid_polygon', { defect: 'self_intersection', position: '[8.1, 50]' }),
      'Doit être un polygone valide ; défaut : contour qui se recoupe à [8.1, 50].',
    ],
    [
      problemOf('expected_here', { column: 8, token: 'value', found: 'nothing' }),
      'Il faut une valeur à la colonne 8 ; valeur fournie : rien.',
    ],
    [problemOf('taken_id', { kind: 'fence', id: 'dock' }), 'La géoclôture « dock » existe déjà.'],
    [
      problemOf('not_found', { action: 'delete', kind: 'trackable', id: 'x' }),
      'Impossible de supprimer l’objet suivi « x » : cet ID n’existe pas.',
    ],
    [problemOf('shutting_down', { operation: 'take_request' }), 'Impossible d’accepter la requête : le hub s’arrête.'],
    [
      problemOf('no_owner_in_time', { operation: 'process_locations', outcome: 'unknown' }),
      'Impossible de traiter les localisations : aucun hub ne l’a fait à temps ; cela se fera peut-être encore.',
    ],
  ],
  paths: [
    ['exit_delay', 'Délai de sortie'],
    ['region.coordinates[1][0][1]', 'Forme, coin 1 du trou 1'],
    ['ground_control_points[3]', 'Points de calage, point 2'],
    ['anchor_ids[4]', 'Ancres, numéro 5'],
  ],
});
