import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { reasonsIn, reasonsInSources } from './hub_reasons.ts';
import { CELLAR, createSite, DOCK, FORKLIFT, HALL } from './ui_site.ts';

// Set the language before importing the modules below.
Object.defineProperty(globalThis, 'localStorage', { value: { getItem: () => 'de' }, configurable: true });
const { errorText, partsOf, pathLabel, sentenceOf } = await import('../../src/hub-ui/problems/sentences.ts');
const { patternOf } = await import('../../src/hub-ui/problems/reasons.ts');
const { HUB_WORDS } = await import('../../src/hub-ui/problems/server_message_patterns.ts');

for (const [reason, sentence] of [
  ['must be a number, found "abc"', 'Muss eine Zahl sein; angegeben ist „abc“.'],
  ['must be a number, found null', 'Muss eine Zahl sein, ist aber leer.'],
  ['must be >= -1, found -3000', 'Muss mindestens -1 sein; angegeben ist -3000.'],
  ['is required for a proximity zone, found nothing', 'Ist für eine Nahbereichszone erforderlich.'],
  ['is required, but is missing', 'Fehlt, ist aber erforderlich.'],
  ['must have at most 1,024 characters, found 8,388', 'Darf höchstens 1.024 Zeichen haben; es sind 8.388.'],
  ['must have at most 20 bytes of JSON, found more', 'Darf höchstens 20 Byte als JSON haben; es sind mehr.'],
  ['must be "Point" or "Polygon", found "Line"', 'Muss „Point“ oder „Polygon“ sein; angegeben ist „Line“.'],
  [
    'must differ from ids and foreign ids of other zones, found "hall", that of another',
    'Muss sich von Ids und Fremd-Ids anderer Zonen unterscheiden; angegeben ist „hall“, die einer anderen.',
  ],
  [
    'must be a valid polygon, found Self-intersection at [8.1, 50]',
    'Muss ein gültiges Polygon sein; angegeben ist eins mit Selbstüberschneidung bei [8.1, 50].',
  ],
  [
    'must outline an area, found that region.coordinates[0]: must have at least 3 different points, found 2',
    'Muss eine Fläche umreißen; angegeben ist etwas anderes ' +
      '(region.coordinates[0] muss mindestens 3 verschiedene Punkte haben: 2).',
  ],
  ['expected a value at column 8, found the end', 'An Stelle 8 wird ein Wert erwartet; angegeben ist das Ende.'],
  ['must be a UUID, found "abc...', 'Muss eine UUID sein; angegeben ist „abc…“.'],
  ['fence "dock" already exists', 'Geofence „dock“ gibt es schon.'],
  ['Cannot find zone "x": no zone has that id', 'Zone „x“ nicht gefunden: Diese Id gibt es nicht.'],
  ['Cannot delete fence "x": no fence has that id', 'Löschen nicht möglich: Geofence „x“ gibt es nicht.'],
  [
    'Cannot PUT /v2/fences/:fence_id: the access token does not permit it',
    'Ihre Rollen geben Ihnen hierauf keinen Zugriff.',
  ],
  ['The access token is not valid: it has expired', 'Das Zugriffstoken ist ungültig: Es ist abgelaufen.'],
  ['Cannot take the request: the hub is shutting down', 'Annehmen der Anfrage nicht möglich: Der Hub wird beendet.'],
  [
    'fence "a" cannot be shown in EPSG:32632: longitude must be from 6 to 12, found 13',
    'Geofence „a“ lässt sich nicht in EPSG:32632 zeigen: Die Länge muss von 6 bis 12 sein; angegeben ist 13.',
  ],
  ['must have no control characters, found "a\\nb"', 'Darf keine Steuerzeichen haben; angegeben ist „a\\nb“.'],
  [
    'Cannot find fence "a": there is neither such a fence nor its history',
    'Geofence „a“ nicht gefunden: Weder die Id noch ein Verlauf dazu ist vorhanden.',
  ],
  [
    'Cannot look into the past: no process was free for 10,000 ms (2 × history_query_timeout)',
    'Blick in den Verlauf nicht möglich: Kein Prozess war 10.000 ms lang frei (2 × history_query_timeout).',
  ],
  // Unknown words and their surroundings stay unchanged.
  ['must be purple, found 7', 'Must be purple, found 7.'],
  ['must have at most 7 elephants, found 9', 'Must have at most 7 elephants, found 9.'],
  ['Cannot dance: the music is off', 'Cannot dance: the music is off.'],
] as const) {
  test(`The German message for "${reason}" is correct`, () => assert.equal(sentenceOf(reason), sentence));
}

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

test('A failure without a field is reported in German, too', () => {
  assert.equal(
    errorText(new Error('Cannot import: the hub has failed')),
    'Importieren nicht möglich: Der Hub ist ausgefallen.',
  );
  assert.equal(
    errorText(new Error('radius: must be a number, found "a"')),
    'Radius: Muss eine Zahl sein; angegeben ist „a“.',
  );
});

test('Every pattern matches its own message', () => {
  const lost = HUB_WORDS.filter((text) => {
    return !variants(text.replaceAll(/\{\w+\}/g, '{}')).some((said) => patternOf(said)?.text === text);
  });
  assert.deepEqual(lost, []);
});

/** Duration without preemption: the minimum of three runs, if the first is slow. */
function leastMs(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > 100; tries++) {
    const startMs = performance.now();
    run();
    least = Math.min(least, performance.now() - startMs);
  }
  return least;
}

test('No pattern backtracks for long on any input', () => {
  for (const text of HUB_WORDS) {
    for (const unit of ['"', '" ', '7', '7 and ', '[', 'a ', ': ', ', ', 'fence ']) {
      const places = text.match(/\{\w+\}/g)?.length ?? 1;
      const said = text.replaceAll(/\{\w+\}/g, unit.repeat(900 / places / unit.length));
      const tookMs = leastMs(() => patternOf(`${said}\u0001`.slice(0, 1_000)));
      assert.ok(tookMs < 500, `"${text}" with "${unit}" takes ${tookMs} ms`);
    }
  }
  assert.equal(patternOf(`must be one of ${'a'.repeat(1_000)}`), undefined);
});

test('Every reason in the sources of the hub has a pattern', async () => {
  const reasons = await reasonsInSources();
  assert.ok(reasons.length > 150, `it finds reasons, found ${reasons.length}`);
  const unknown = reasons.filter(({ text }) => ![EXAMPLES[text] ?? variants(text)].flat().some(isKnown));
  assert.deepEqual(
    unknown.map(({ path, text }) => `${path}: ${text}`),
    [],
  );
});

test('Error messages are found in sources', async () => {
  const source = `
    throw new HubError('HUB_BAD_REQUEST', \`\${name}: must be \${wanted}, found \${show(value)}\`);
    const wanted = 'must be blue';
    function bad(text: string): HubError { return new HubError('HUB_BAD_REQUEST', text); }
    throw bad('radius: has to be round');
    const what = 'Cannot paint';
    throw new Error('Cannot happen');
    log.warn('Cannot be helped', { name: 'must not be published' });
  `;
  assert.deepEqual(await reasonsIn(source), [
    'must be {}, found {}',
    'must be blue',
    'has to be round',
    'Cannot paint',
  ]);
  assert.deepEqual(await reasonsIn(source, true), ['must be {}, found {}', 'has to be round']);
});

type Refused = readonly [method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown];

const PLAIN_ZONE = { type: 'uwb', incomplete_configuration: true };
const POINT = { type: 'Point', coordinates: [8.68, 50.11] };
const SQUARE = [
  [8, 50],
  [9, 50],
  [9, 51],
  [8, 51],
  [8, 50],
];
const ALERT_RULE = { name: 'Silent', kind: 'silent', longer_than: 60_000 };
const EXPORT = { format: 'location-hub-entities', version: 1 };

function polygon(...rings: readonly unknown[]): object {
  return { type: 'Polygon', coordinates: rings };
}

function points(...rows: readonly unknown[]): object {
  return { type: 'uwb', ground_control_points: rows };
}

/** Requests that a hub with a site rejects. */
const REFUSED: readonly Refused[] = [
  ['POST', '/zones', 'no JSON'],
  ['POST', '/zones', ''],
  ['POST', '/zones', []],
  ['POST', '/zones', {}],
  ['POST', '/zones', { type: 'radar' }],
  ['POST', '/zones', { type: 7 }],
  ['POST', '/zones', { ...PLAIN_ZONE, name: 7 }],
  ['POST', '/zones', { ...PLAIN_ZONE, name: 'a'.repeat(2_000) }],
  ['POST', '/zones', { ...PLAIN_ZONE, properties: [] }],
  ['POST', '/zones', { ...PLAIN_ZONE, scale_factor: 0 }],
  ['POST', '/zones', { ...PLAIN_ZONE, radius: -1 }],
  ['POST', '/zones', { ...PLAIN_ZONE, anchor_ids: 'a' }],
  ['POST', '/zones', { ...PLAIN_ZONE, foreign_id: 'hall' }],
  ['POST', '/zones', { ...PLAIN_ZONE, foreign_id: HALL.id }],
  ['POST', '/zones', { ...PLAIN_ZONE, id: 'hall' }],
  ['POST', '/zones', { ...PLAIN_ZONE, parent: FORKLIFT.id }],
  ['POST', '/zones', { ...PLAIN_ZONE, surface_projection: 'EPSG:1' }],
  ['POST', '/zones', { ...PLAIN_ZONE, position: { type: 'Point', coordinates: [200, 50] } }],
  ['POST', '/zones', { ...PLAIN_ZONE, position: { type: 'Point', coordinates: [8, 95] } }],
  ['POST', '/zones', { ...PLAIN_ZONE, position: { type: 'Point', coordinates: [8] } }],
  ['POST', '/zones', { ...PLAIN_ZONE, position: { type: 'Point', coordinates: ['8', 50] } }],
  ['POST', '/zones', { ...PLAIN_ZONE, position: { type: 'Line', coordinates: [8, 50] } }],
  ['POST', '/zones', { ...PLAIN_ZONE, position: 'here' }],
  ['POST', '/zones', { type: 'uwb' }],
  ['POST', '/zones', { type: 'rfid' }],
  [
    'POST',
    '/zones',
    {
      type: 'rfid',
      position: POINT,
      ground_control_points: [
        [8, 50],
        [0, 0],
      ],
    },
  ],
  ['POST', '/zones', { type: 'rfid', position: POINT, parent: 'nobody' }],
  ['POST', '/zones', { type: 'uwb', transformation_type: 'benchmark' }],
  ['POST', '/zones', { type: 'uwb', transformation_type: 'benchmark', position: POINT }],
  [
    'POST',
    '/zones',
    {
      type: 'uwb',
      transformation_type: 'benchmark',
      position: { ...POINT, coordinates: [98, -80] },
      surface_projection: 'EPSG:32661',
    },
  ],
  ['POST', '/zones', points([8, 50], [0, 0], [8.1, 50])],
  ['POST', '/zones', points([8, 50], [0, 0])],
  ['POST', '/zones', points([200, 50], [0, 0], [8.1, 50], [1, 1])],
  ['POST', '/zones', points([8, 95], [0, 0], [8.1, 50], [1, 1])],
  ['POST', '/zones', points([8, 50], [0, 0], [8, 50], [1, 1])],
  ['POST', '/zones', points([8, 50], [0, 0], [8.1, 50], [0, 0])],
  ['POST', '/zones', HALL],
  ['PUT', `/zones/${HALL.id}`, { ...HALL, id: 'other' }],
  ['PUT', '/zones/nowhere', PLAIN_ZONE],
  ['GET', '/zones/nowhere'],
  ['DELETE', '/zones/nowhere'],
  ['POST', '/zones/fromlocal', {}],
  ['POST', '/zones/fromlocal', { global_reference: POINT }],
  ['POST', `/zones/${HALL.id}/transform`, { position: POINT, crs: 'EPSG:1' }],
  ['POST', '/fences', {}],
  ['POST', '/fences', { region: POINT }],
  ['POST', '/fences', { region: { ...POINT, coordinates: [400, 0] }, radius: 1 }],
  ['POST', '/fences', { region: { ...POINT, coordinates: [8, 91] }, radius: 1 }],
  ['POST', '/fences', { region: POINT, radius: '1' }],
  ['POST', '/fences', { region: POINT, radius: 1, exit_delay: -5 }],
  ['POST', '/fences', { region: POINT, radius: 1, exit_delay: 1e17 }],
  ['POST', '/fences', { region: POINT, radius: 1, exit_delay: 1.5 }],
  ['POST', '/fences', { region: POINT, radius: 1, crs: 'EPSG:1' }],
  ['POST', '/fences', { region: { ...POINT, coordinates: [9e9, 0] }, radius: 1, crs: 'EPSG:32632' }],
  ['POST', '/fences', { region: POINT, radius: 1, crs: 'local' }],
  ['POST', '/fences', { region: POINT, radius: 1, crs: 'local', zone_id: 'nowhere' }],
  ['POST', '/fences', { region: POINT, radius: 1, elevation_ref: 'moon' }],
  ['POST', '/fences', { region: { type: 'Polygon' } }],
  ['POST', '/fences', { region: polygon() }],
  ['POST', '/fences', { region: polygon('ring') }],
  ['POST', '/fences', { region: polygon([[8, 50]]) }],
  [
    'POST',
    '/fences',
    {
      region: polygon([
        [8, 50],
        [8, 50],
        [8, 50],
        [8, 50],
      ]),
    },
  ],
  [
    'POST',
    '/fences',
    {
      region: polygon([
        [8, 50],
        [9, 50],
        [10, 50],
        [8, 50],
      ]),
    },
  ],
  [
    'POST',
    '/fences',
    {
      region: polygon([
        [8, 50],
        [9, 51],
        [9, 50],
        [8, 51],
        [8, 50],
      ]),
    },
  ],
  [
    'POST',
    '/fences',
    {
      region: polygon(SQUARE, [
        [1, 1],
        [1.1, 1],
        [1.1, 1.1],
        [1, 1],
      ]),
    },
  ],
  [
    'POST',
    '/fences',
    {
      region: polygon(SQUARE, [
        [8.1, 50.1],
        [8.2, 50.1],
        [8.2, 50.2],
        [8.1, 50.1],
      ]),
      exit_tolerance: 1,
    },
  ],
  ['POST', '/fences', CELLAR],
  ['GET', '/fences/nowhere'],
  ['GET', '/fences/summary?crs=EPSG:1'],
  ['GET', '/fences/summary?crs=local'],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'test', path: '/name', value: 'Dock B' }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'remove', path: '/nothing' }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'add', path: 'name', value: 1 }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'add', path: '/name' }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'move', path: '/region/a', from: '/region' }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'add', path: '/name/a', value: 1 }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'add', path: '/region/coordinates/9', value: 1 }]],
  ['PATCH', `/fences/${DOCK.id}`, [{ op: 'paint', path: '/name' }]],
  ['PATCH', '/fences/nowhere', []],
  ['POST', '/trackables', { id: 'no UUID', type: 'omlox' }],
  ['POST', '/trackables', { type: 'virtual', location_providers: [''] }],
  ['POST', '/trackables', { type: 'virtual', location_providers: ['a', 'a'] }],
  ['POST', '/trackables', { type: 'virtual', parent: 'nobody' }],
  ['POST', '/trackables', { type: 'virtual', collision_tolerance: 1 }],
  [
    'POST',
    '/trackables',
    {
      type: 'virtual',
      geometry: polygon([
        [0, 0],
        [1, 0],
        [2, 0],
        [0, 0],
      ]),
    },
  ],
  ['POST', '/trackables', { type: 'virtual', geometry: POINT }],
  ['POST', '/trackables', { type: 'virtual', locating_rules: [{ expression: 'accuracy <', priority: 1 }] }],
  ['POST', '/trackables', { type: 'virtual', locating_rules: [{ expression: 'accuracy', priority: -1 }] }],
  ['POST', '/trackables', { type: 'virtual', calculate_collisions: 'yes' }],
  ['PUT', `/trackables/${FORKLIFT.id}`, { ...FORKLIFT, parent: FORKLIFT.id }],
  ['POST', '/providers', { id: 7, type: 'uwb' }],
  ['POST', '/providers', { id: '', type: 'uwb' }],
  ['POST', '/providers', { id: 'a', type: 'radar' }],
  ['GET', '/providers/nobody'],
  ['GET', '/providers/nobody/location'],
  ['POST', '/anchors', { id: 'a', zone_id: 'nowhere' }],
  ['POST', '/anchors', { id: 'a', georeferenced_position: { type: 'Point', coordinates: [0, 95] } }],
  ['PUT', '/trackables/rules/locating', {}],
  ['PUT', '/trackables/rules/locating', [{ expression: 'shape = 1', priority: 1 }]],
  ['PUT', '/trackables/rules/locating', [{ expression: "type = 'uwb", priority: 1 }]],
  ['PUT', '/trackables/rules/locating', [{ expression: 'accuracy < 10ms', priority: 1 }]],
  ['PUT', '/trackables/rules/locating', [{ expression: 'accuracy # 1', priority: 1 }]],
  ['PUT', '/trackables/rules/locating', [{ expression: 'accuracy NOT 1', priority: 1 }]],
  ['POST', '/validator/rules/locating', 'speed >> '],
  ['POST', '/alerts/rules', { ...ALERT_RULE, kind: 'sings' }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, name: '' }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, name: 'a'.repeat(201) }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, longer_than: 10 }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, longer_than: undefined }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, more_than: 3 }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, trackable_ids: [] }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, trackable_ids: [''] }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, property: { name: 'a', value: [] } }],
  ['POST', '/alerts/rules', { ...ALERT_RULE, severity: 'mild' }],
  ['PUT', '/alerts/rules/none', ALERT_RULE],
  ['GET', '/alerts?state=gone'],
  ['POST', '/views', { name: 'Here' }],
  ['POST', '/views', { name: 'Here', address: 'zoom=3' }],
  ['POST', '/views', { name: '', address: '?zoom=3' }],
  ['DELETE', '/views/none'],
  ['POST', '/import', []],
  ['POST', '/import', { format: 'other' }],
  ['POST', '/import', { ...EXPORT, version: 2 }],
  ['POST', '/import', { ...EXPORT, cats: [] }],
  ['POST', '/import', { ...EXPORT, zones: 'all' }],
  ['POST', '/import', { ...EXPORT, zones: [{ type: 'uwb' }] }],
  ['POST', '/import?dry_run=maybe', EXPORT],
  ['PUT', '/rpc', 'a'.repeat(2_000_000)],
  ['GET', '/events/history?from=yesterday'],
  ['GET', '/stats/consumption/1999/1'],
  ['PUT', '/license/key', { license_key: 7 }],
  ['POST', '/fences', '"\\ud800"'],
  ['GET', '/license/lease'],
  ['GET', '/health/zones/nowhere'],
  ['GET', '/health/sources/nobody'],
  ['GET', '/nowhere'],
  ['DELETE', '/version'],
];

test('Every error of the hub is reported in German', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  await createSite(hub);
  const [taken, unknown]: [string[], string[]] = [[], []];
  const messages = new Set<string>();
  for (const [method, path, body] of REFUSED) {
    const { status, body: reply } = await hub.request(method, path, body);
    const asked = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}`;
    if (status < 400) taken.push(asked);
    else if (!isGerman(reply?.message)) unknown.push(`${asked}: ${reply?.message}`);
    messages.add(String(reply?.message));
  }
  assert.deepEqual(taken, []);
  assert.deepEqual(unknown, []);
  t.diagnostic(`${messages.size} different messages`);
});

test('Every problem found by an import is reported in German', async (t) => {
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
    found.filter(({ message }) => !isGerman(message)),
    [],
  );
});

interface Found {
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

function isGerman(message: unknown): boolean {
  // Quotes, and messages of the JavaScript engine about invalid JSON, are not translated.
  const own = partsOf(String(message)).reason.replaceAll(/„.*?“|Unexpected token.*/g, '');
  return typeof message === 'string' && !/\b(the|must|is|found|cannot|given)\b/i.test(own);
}

/** Values for the placeholders of texts. */
const SAMPLES = [
  '7',
  '"a"',
  'fence',
  'characters',
  'must be smaller',
  'a: must be smaller, found 7',
  'import',
  'it is being kept',
];

/** Messages of the hub whose placeholders contain other words. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'must be a number {}, found {}': 'must be a number from 1 to 7, found 8',
  'must be a {} between -{} and {}, found {}': 'must be a latitude between -90 and 90, found 91',
  'must name {}, found {}': 'must name a trackable or a zone that the access token may read, found "a"',
  'Cannot {} {} {}: no {} has that id': 'Cannot replace fence "a": no fence has that id',
  'Cannot look into the past: {}: {}':
    'Cannot look into the past: it takes more than 7 ms (limit): ask for a shorter span, fewer objects or a smaller area',
  'Cannot take the request: it comes from a web page of another origin, {}, to {}; {}':
    'Cannot take the request: it comes from a web page of another origin, "https://a.example", to Host "hub:8081"; ' +
    'allowed_origins names those that may, trusted_proxies the proxies whose X-Forwarded-Host counts',
  '{} cannot be shown in {}: {}': 'fence "a" cannot be shown in EPSG:32632: longitude must be from 6 to 12, found 13',
  'fence {} cannot be shown in {}: {}': 'fence "a" cannot be shown in EPSG:32632: found a region in local of zone "b"',
  'Cannot get the lease: nothing can verify the license key {}':
    'Cannot get the lease: nothing can verify the license key while license_public_keys is empty',
};

/** Possible messages of a text, with `{}` for values and words. */
function variants(text: string): readonly string[] {
  const [head = '', ...rest] = text.split('{}');
  if (rest.length > 4) return SAMPLES.map((sample) => text.replaceAll('{}', sample));
  let begun = [head];
  for (const part of rest) begun = begun.flatMap((said) => SAMPLES.map((sample) => said + sample + part));
  return begun;
}

function isKnown(said: string): boolean {
  // A part of `Cannot {action}: {why}`.
  if (patternOf(said.replace(/^Cannot (?=[^:]*$)/, '')) !== undefined) return true;
  const [, rule = said, found = ''] = /^(.+?), found (.+)$/s.exec(said) ?? [];
  const isValue = SAMPLES.includes(found) || !/[a-z]{3,}/.test(found) || /^(nothing|none)$/.test(found);
  return (
    (isValue || patternOf(found) !== undefined) && (patternOf(rule) !== undefined || /^must be [<>]=? /.test(rule))
  );
}
