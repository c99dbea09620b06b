import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { problemOf } from '../../src/problem.ts';
import { type ErrorReason, REASONS } from '../../src/reasons.ts';
import { germanReasons } from '../../src/hub-ui/languages/de_reasons.ts';
import { type Frame, SocketClient } from '../support/socket_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { ALERT_RULE, EXPORT, PLAIN_ZONE, POINT, REJECTED } from './rejected_requests.ts';
import { createSite } from './ui_site.ts';

// Set the language before importing the modules below.
Object.defineProperty(globalThis, 'localStorage', { value: { getItem: () => 'de' }, configurable: true });
const { failureText, loadMessages, pathLabel, sentenceOf } = await import('../../src/hub-ui/problems/sentences.ts');
await loadMessages();

test('A failure in a state is shown in German, without the English detail', () => {
  const refused = problemOf('target_refused', {}, 'connect ECONNREFUSED 10.0.0.1:443');
  assert.equal(failureText('connect ECONNREFUSED 10.0.0.1:443', refused), 'Die Verbindung wurde abgelehnt.');
  const slow = problemOf('target_too_slow', { timeout: 15_000 });
  assert.equal(failureText(String(slow), slow), 'Keine vollständige Antwort in 15000 ms.');
  // A later version of the hub may have another reason.
  assert.equal(
    failureText('new failure', { reason: 'of_tomorrow' as ErrorReason['reason'], params: {} }),
    'new failure',
  );
  assert.equal(failureText(undefined, {}), undefined);
});

for (const [problem, sentence] of [
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
  [problemOf('not_found', { action: 'find', kind: 'zone', id: 'x' }), 'Abrufen nicht möglich: Zone „x“ gibt es nicht.'],
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
    'Blick in den Verlauf nicht möglich: Kein Prozess war 10.000 ms lang frei (2 × history_query_timeout).',
  ],
  [
    problemOf('no_owner_in_time', { operation: 'process_locations', outcome: 'unknown' }),
    'Verarbeiten der Ortungen nicht möglich: Kein Hub hat es rechtzeitig getan; vielleicht geschieht es doch noch.',
  ],
  [problemOf('not_json', { path: 'body' }, 'Unexpected token'), 'Muss JSON sein.'],
] as const) {
  test(`The German sentence of "${problem}" is correct`, () => {
    assert.equal(sentenceOf(problem), sentence);
    // The English wording does not matter.
    assert.equal(sentenceOf({ ...problem, message: 'Reworded' }), sentence);
  });
}

test('An error with an unknown reason, and one without a reason, are reported with their message', () => {
  assert.equal(sentenceOf({ message: 'Cannot dance: the music is off' }), 'Cannot dance: the music is off.');
  const newer = { message: 'Cannot sing', reason: 'no_voice', params: {} } as unknown as ErrorReason;
  assert.equal(sentenceOf(newer), 'Cannot sing.');
});

test('The German text of a reason uses only parameters of the reason', () => {
  const placesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
  for (const [reason, text] of Object.entries(germanReasons)) {
    const known = placesIn(REASONS[reason as keyof typeof REASONS]);
    for (const name of placesIn(text)) assert.ok(known.includes(name), `${reason}: ${name}`);
  }
});

for (const [path, place] of [
  ['exit_delay', 'Austrittsverzögerung'],
  ['region.coordinates[0][2]', 'Form, Ecke 3'],
  ['region.coordinates[1][0][1]', 'Form, Ecke 1 von Loch 1'],
  ['region.type', 'Form, Typ'],
  ['ground_control_points[3]', 'Passpunkte, Punkt 2'],
  ['global_reference.coordinates[0]', 'Geografische Position, Länge oder x'],
  ['anchor_ids[4]', 'Anker, Nummer 5'],
  ['locating_rules[0].expression', 'Regeln, Nummer 1, Ausdruck'],
  ['properties.load', 'Eigenschaften, load'],
] as const) {
  test(`The German name of ${path} is correct`, () => assert.equal(pathLabel(path), place));
}

test('Every error of the REST API has a documented reason, and is reported in German', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  await createSite(hub);
  const [taken, wrong]: [string[], string[]] = [[], []];
  const reasons = new Set<string>();
  for (const [method, path, body] of REJECTED) {
    const { status, body: reply } = await hub.request(method, path, body);
    const asked = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}`;
    if (status < 400) taken.push(asked);
    else if (!isDocumented(reply) || !isGerman(reply))
      wrong.push(`${asked}: ${JSON.stringify(reply)} ${sentenceOf(reply)}`);
    reasons.add(String(reply?.reason));
  }
  assert.deepEqual(taken, []);
  assert.deepEqual(wrong, []);
  assert.ok(reasons.size > 70, `${reasons.size} different reasons`);
});

test('Every problem found by an import has a documented reason, and is reported in German', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  await createSite(hub);
  const zone = { ...PLAIN_ZONE, id: 'zone' };
  const document = {
    ...EXPORT,
    zones: [zone, zone, { ...zone, id: 'other', foreign_id: 'hall' }],
    fences: [
      { id: 'fence', region: POINT },
      { id: 'local', region: POINT, radius: 1, crs: 'local', former_zone: zone },
    ],
    trackables: [{ id: 'cart', type: 'omlox' }],
    locating_rules: [{ expression: 'a', priority: 1 }],
    alert_rules: [{ ...ALERT_RULE, id: 'rule', more_than: 1 }],
    views: [{ id: 'view', name: 'Here', address: 'here' }],
  };
  const found = await problemsOf(hub, document);
  assert.ok(found.length >= 8, JSON.stringify(found));
  assert.deepEqual(
    found.filter((problem) => !isDocumented(problem) || !isGerman(problem)),
    [],
  );
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

interface Found extends ErrorReason {
  readonly place: string;
  readonly message: string;
}

async function problemsOf(hub: TestHub, document: object): Promise<readonly Found[]> {
  await hub.post('/import?dry_run=true', document);
  for (;;) {
    const { body } = await hub.get('/import');
    if (body.ended_at !== undefined) return body.problems ?? [];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Parameters by reason, as docs/errors.md lists them. */
const DOCUMENTED = new Map(
  [...readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(
    ([, reason, message = '']) =>
      [reason, new Set([...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))] as const,
  ),
);

/** Whether the reason and its parameters are documented, and no parameter is English prose. */
function isDocumented({ reason, params }: ErrorReason): boolean {
  const names = DOCUMENTED.get(reason);
  if (names === undefined || typeof params !== 'object') return false;
  const isKnown = Object.keys(params).every((name) => names.has(name) || ['path', 'found', 'outcome'].includes(name));
  const prose = Object.values(params).some((value) => /\b(the|must|is|are|cannot|of)\b/.test(String(value)));
  return isKnown && !prose;
}

function isGerman(error: ErrorReason & { readonly message: string }): boolean {
  const own = sentenceOf(error).replaceAll(/„.*?“/g, '');
  return !/\b(the|must|is|found|cannot|given)\b/i.test(own);
}
