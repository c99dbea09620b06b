import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOf } from '../../src/problem.ts';
import type { ErrorReason } from '../../src/reasons.ts';
import { openTestHub } from '../support/running_hub.ts';
import { type Frame, SocketClient } from '../support/socket_client.ts';
import { isDocumented, testReasonsIn } from './reason_tests.ts';

await testReasonsIn('de', {
  failures: ['Die Verbindung wurde abgelehnt.', 'Keine vollständige Antwort in 15000 ms.'],
  sentences: [
    [problemOf('not_a_number', { found: '"abc"' }), 'Muss eine Zahl sein; angegeben ist „abc“.'],
    [problemOf('not_a_number', { found: 'null' }), 'Muss eine Zahl sein, ist aber leer.'],
    [problemOf('below_minimum', { minimum: -1, found: '-3000' }), 'Muss mindestens -1 sein; angegeben ist -3000.'],
    [
      problemOf('missing_for', { purpose: 'proximity_zone', found: 'nothing' }),
      'Ist für eine Nahbereichszone erforderlich.',
    ],
    [problemOf('missing'), 'Fehlt, ist aber erforderlich.'],
    [
      problemOf('too_many', { limit: 1024, unit: 'characters', found: 8388 }),
      'Darf höchstens 1.024 Zeichen haben; es sind 8.388.',
    ],
    [
      problemOf('too_many', { limit: 20, unit: 'bytes_of_json', found: 'more' }),
      'Darf höchstens 20 Byte als JSON haben; angegeben ist mehr.',
    ],
    [
      problemOf('out_of_choices', { allowed: ['Point', 'Polygon'], found: '"Line"' }),
      'Muss eins von diesen sein: Point, Polygon; angegeben ist „Line“.',
    ],
    [
      problemOf('invalid_polygon', { defect: 'self_intersection', position: '[8.1, 50]' }),
      'Muss ein gültiges Polygon sein; angegeben ist eins mit Selbstüberschneidung bei [8.1, 50].',
    ],
    [
      problemOf('expected_here', { column: 8, token: 'value', found: 'nothing' }),
      'An Stelle 8 wird ein Wert erwartet; angegeben ist nichts.',
    ],
    [problemOf('not_a_uuid', { found: '"abc...' }), 'Muss eine UUID sein; angegeben ist „abc…“.'],
    [problemOf('taken_id', { kind: 'fence', id: 'dock' }), 'Geofence „dock“ gibt es schon.'],
    [
      problemOf('not_found', { action: 'find', kind: 'zone', id: 'x' }),
      'Abrufen nicht möglich: Zone „x“ gibt es nicht.',
    ],
    [
      problemOf('not_found', { action: 'delete', kind: 'fence', id: 'x' }),
      'Löschen nicht möglich: Geofence „x“ gibt es nicht.',
    ],
    [problemOf('token_expired'), 'Das Zugriffstoken ist ungültig: Es ist abgelaufen.'],
    [problemOf('not_permitted', { request: 'PUT /v2/fences' }), 'Ihre Rollen geben Ihnen hierauf keinen Zugriff.'],
    [
      problemOf('shutting_down', { operation: 'take_request' }),
      'Annehmen der Anfrage nicht möglich: Der Hub wird beendet.',
    ],
    [
      problemOf('no_query_process', { limit: 10_000, factor: 2 }),
      'Abfragen des Verlaufs nicht möglich: Kein Prozess war 10.000 ms lang frei (2 × history_query_timeout).',
    ],
    [
      problemOf('no_owner_in_time', { operation: 'process_locations', outcome: 'unknown' }),
      'Verarbeiten der Ortungen nicht möglich: Kein Hub hat es rechtzeitig ausgeführt; eventuell wird es noch ausgeführt.',
    ],
    [problemOf('not_json', { path: 'body' }, 'Unexpected token'), 'Muss JSON sein.'],
  ],
  paths: [
    ['exit_delay', 'Austrittsverzögerung'],
    ['region.coordinates[0][2]', 'Form, Ecke 3'],
    ['region.coordinates[1][0][1]', 'Form, Ecke 1 von Loch 1'],
    ['region.type', 'Form, Typ'],
    ['ground_control_points[3]', 'Passpunkte, Punkt 2'],
    ['global_reference.coordinates[0]', 'Geografische Position, Länge oder x'],
    ['anchor_ids[4]', 'Anker, Nummer 5'],
    ['locating_rules[0].expression', 'Regeln, Nummer 1, Ausdruck'],
    ['properties.load', 'Eigenschaften, load'],
  ],
});

test('Error frames of the WebSocket and errors of JSON-RPC have documented reasons', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const socket = await SocketClient.open(`ws://127.0.0.1:${hub.hub.port}/v2/ws/socket`);
  t.after(() => socket.close());
  for (const frame of [
    'no JSON',
    { event: 'sing' },
    { event: 'subscribe', topic: 'songs' },
    { event: 'subscribe', topic: 'location_updates', params: { crs: 'EPSG:1' } },
    { event: 'message', topic: 'fence_events', payload: [] },
    { event: 'message', topic: 'location_updates', payload: [{}, { position: 1 }] },
  ]) {
    const [error] = (await socket.ask(frame)) as readonly (Frame & ErrorReason)[];
    assert.ok(error?.event === 'error' && isDocumented(error), `${JSON.stringify(frame)}: ${JSON.stringify(error)}`);
  }
  for (const call of ['no JSON', { jsonrpc: '1.0' }, { jsonrpc: '2.0', id: 1, method: 'sing' }]) {
    const { body } = await hub.request('PUT', '/rpc', call);
    assert.ok(isDocumented(body.error.data), JSON.stringify(body));
  }
});
