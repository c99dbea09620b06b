import { problemOf } from '../../src/problem.ts';
import { testReasonsIn } from './reason_tests.ts';

await testReasonsIn('es', {
  failures: ['La conexión fue rechazada.', 'No hubo respuesta completa en 15000 ms.'],
  sentences: [
    [problemOf('not_a_number', { found: '"abc"' }), 'Debe ser un número; valor actual: «abc».'],
    [problemOf('not_a_number', { found: 'null' }), 'Debe ser un número, pero está vacío.'],
    [
      problemOf('missing_for', { purpose: 'proximity_zone', found: 'nothing' }),
      'Es obligatorio para una zona de proximidad.',
    ],
    [
      problemOf('too_many', { limit: 1024, unit: 'characters', found: 8388 }),
      'Debe tener como máximo 1024 caracteres; número actual: 8388.',
    ],
    [
      problemOf('axis_out_of_range', { axis: 'latitude', minimum: -90, maximum: 90 }),
      'La latitud debe estar entre -90 y 90.',
    ],
    [
      problemOf('invalid_polygon', { defect: 'self_intersection', position: '[8.1, 50]' }),
      'Debe ser un polígono válido; defecto: contorno que se cruza en [8.1, 50].',
    ],
    [
      problemOf('expected_here', { column: 8, token: 'value', found: 'nothing' }),
      'Se esperaba un valor en la columna 8; valor recibido: nada.',
    ],
    [problemOf('taken_id', { kind: 'fence', id: 'dock' }), 'La geocerca «dock» ya existe.'],
    [
      problemOf('not_found', { action: 'delete', kind: 'trackable', id: 'x' }),
      'No se puede eliminar el objeto rastreado «x»: ese ID no existe.',
    ],
    [
      problemOf('shutting_down', { operation: 'take_request' }),
      'No se puede aceptar la solicitud: el hub se está deteniendo.',
    ],
    [
      problemOf('no_owner_in_time', { operation: 'process_locations', outcome: 'unknown' }),
      'No se puede procesar las localizaciones: ningún hub lo hizo a tiempo; quizá se haga todavía.',
    ],
  ],
  paths: [
    ['exit_delay', 'Retardo de salida'],
    ['region.coordinates[1][0][1]', 'Forma, vértice 1 del hueco 1'],
    ['ground_control_points[3]', 'Puntos de control, punto 2'],
    ['anchor_ids[4]', 'Anclas, número 5'],
  ],
});
