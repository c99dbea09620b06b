import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkStorable, parseBody } from '../../src/api/body.ts';
import type { StoredState } from '../../src/core/entity_write.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { HubProcess, locationOf, randomFrom } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { runCliIn, startCliIn } from './run_cli.ts';

const ZONE = '6f1f4d3e-6a53-4a3e-9a43-000000000001';
const CARRIER = '6f1f4d3e-6a53-4a3e-9a43-000000000002';
const CARRIED = '6f1f4d3e-6a53-4a3e-9a43-000000000003';
const FENCE = '6f1f4d3e-6a53-4a3e-9a43-00000000000f';
const uuid = (number: number) => `6f1f4d3e-6a53-4a3e-9a43-${String(number).padStart(12, '0')}`;

/** A document of every kind of entity, children before parents, and fences in a zone of it. */
const ALL = {
  format: 'location-hub-entities',
  version: 1,
  anchors: [{ id: 'anchor-1', zone_id: 'hall' }],
  trackables: [
    { id: CARRIED, type: 'omlox', parent: CARRIER, location_providers: ['tag-2'] },
    {
      id: CARRIER,
      type: 'omlox',
      name: 'Cart "ä" 🛒',
      location_providers: ['tag-1'],
      properties: { n: 1e21, z: [null] },
    },
  ],
  zones: [
    {
      id: ZONE,
      type: 'uwb',
      foreign_id: 'hall',
      ground_control_points: [
        [9, 50],
        [0, 0],
        [9.001, 50],
        [71.7, 0],
        [9, 50.001],
        [0, 111.2],
      ],
    },
  ],
  providers: [{ id: 'tag-1', type: 'uwb', sensors: { t: 21.5 } }],
  fences: [
    {
      id: FENCE,
      zone_id: 'hall',
      crs: 'local',
      region: { type: 'Point', coordinates: [1, 1] },
      radius: 3,
    },
  ],
  locating_rules: [{ expression: 'accuracy < 5', priority: 3 }],
  alert_rules: [{ id: uuid(21), name: 'Silent', kind: 'silent', longer_than: 60_000, severity: 'critical' }],
  views: [{ id: uuid(22), name: 'Hall', address: '?floor=0&z=18', is_start: true }],
};

function written(document: unknown): string {
  const path = join(temporaryFolder(), 'all.json');
  writeFileSync(path, JSON.stringify(document));
  return path;
}

function keptIn(folder: string): StoredState {
  const store = new SqliteStore(join(folder, 'data.dat'), () => 'new');
  try {
    return store.load();
  } finally {
    store.close();
  }
}

const idsOf = ({ entities }: StoredState) => entities.map(({ kind, id }) => `${kind} ${id}`).sort();
const withoutTime = (path: string) => readFileSync(path, 'utf8').replace(/"exported_at":"[^"]+"/, '');

test('import accepts every kind of entity, and importing their export changes nothing', async () => {
  const first = temporaryFolder();
  const { code, out, err } = await runCliIn(first, 'import', written(ALL));
  assert.match(out, /: 8 created, 0 changed, 0 unchanged, 0 deleted\n$/, err);
  assert.equal(code, 0);
  const exported = join(first, 'out.json');
  assert.equal((await runCliIn(first, 'export', exported)).code, 0);
  const document = JSON.parse(readFileSync(exported, 'utf8'));
  for (const name of ['anchors', 'zones', 'providers', 'fences', 'locating_rules', 'alert_rules', 'views'] as const) {
    assert.deepEqual(document[name], ALL[name], name);
  }
  assert.deepEqual(document.trackables, ALL.trackables.toReversed());

  const second = temporaryFolder();
  assert.equal((await runCliIn(second, 'import', exported)).code, 0);
  const again = join(second, 'out.json');
  await runCliIn(second, 'export', again);
  assert.equal(withoutTime(again), withoutTime(exported));
  assert.match((await runCliIn(second, 'import', exported)).out, /: 0 created, 0 changed, 8 unchanged, 0 deleted\n$/);

  const hub = await HubProcess.start(second);
  assert.deepEqual((await hub.get(`/trackables/${CARRIED}`))?.body, ALL.trackables[0]);
  assert.deepEqual((await hub.get('/trackables/rules/locating'))?.body, ALL.locating_rules);
  assert.deepEqual((await hub.get('/alerts/rules'))?.body, ALL.alert_rules);
  assert.deepEqual((await hub.get('/views'))?.body, ALL.views);
  assert.equal((await hub.put('/providers/tag-2/location', locationOf('tag-2', 1)))?.status, 204);
  assert.equal((await hub.get(`/trackables/${CARRIED}/motion`))?.status, 200);
  await hub.crash();
});

test('import accepts a document in UTF-16, as written by PowerShell', async () => {
  const path = join(temporaryFolder(), 'all.json');
  writeFileSync(path, Buffer.from(`\uFEFF${JSON.stringify(ALL)}\r\n`, 'utf16le'));
  const folder = temporaryFolder();
  const { code, err } = await runCliIn(folder, 'import', path);
  assert.equal(code, 0, err);
  const texts = keptIn(folder).entities.map((written) => JSON.stringify(written));
  assert.ok(
    texts.some((text) => text.includes('ä')),
    texts.join(),
  );
});

test('import and export preserve every digit of properties and sensors, and normalize other numbers', async () => {
  const data = '"properties":{"floorId":723413320329068590,"list":[1.50,-0]}';
  const listed = {
    anchors: `{"id":"anchor-1",${data}}`,
    trackables: `{"id":"${CARRIER}","type":"omlox",${data}}`,
    zones: `{"id":"${ZONE}","type":"rfid","position":{"type":"Point","coordinates":[9,50]},${data}}`,
    providers: `{"id":"tag-1","type":"uwb","sensors":21.0,${data}}`,
    fences: `{"id":"${FENCE}","region":{"type":"Point","coordinates":[9,50]},"radius":3,${data}}`,
  };
  const lists = Object.entries(listed).map(([name, entity]) => `"${name}":[${entity}]`);
  const path = join(temporaryFolder(), 'all.json');
  const document = `{"format":"location-hub-entities","version":1.0,${lists.join(',')}}`;
  writeFileSync(path, document.replace('"radius":3', '"radius":3.0'));
  const folder = temporaryFolder();
  const { out, err } = await runCliIn(folder, 'import', path);
  assert.match(out, /: 5 created, 0 changed, 0 unchanged, 0 deleted\n$/, err);
  const exported = join(folder, 'out.json');
  await runCliIn(folder, 'export', exported);
  const text = readFileSync(exported, 'utf8');
  for (const entity of Object.values(listed)) assert.ok(text.includes(entity), `${entity} is not in ${text}`);
  assert.match((await runCliIn(folder, 'import', exported)).out, /: 0 created, 0 changed, 5 unchanged, 0 deleted\n$/);
});

test('import changes entities with the same id, in any case, and leaves the rest; --replace deletes it', async () => {
  const folder = temporaryFolder();
  await runCliIn(folder, 'import', written(ALL));
  const changed = { ...ALL.trackables[1], id: CARRIER.toUpperCase(), name: 'changed' };
  const small = { format: ALL.format, version: 1, trackables: [changed] };
  assert.match(
    (await runCliIn(folder, 'import', written(small))).out,
    /: 0 created, 1 changed, 0 unchanged, 0 deleted/,
  );
  const merged = keptIn(folder);
  assert.equal(merged.entities.length, 9);
  assert.match(merged.entities.find(({ id }) => id === CARRIER)?.text ?? '', /"name":"changed"/);
  // Data that a document omits stays if it is not an entity.
  const replaced = await runCliIn(folder, 'import', written({ ...small, alert_rules: [] }), '--replace');
  assert.match(replaced.out, /: 0 created, 0 changed, 1 unchanged, 6 deleted/);
  const left = ['setting locating_rules', `setting map_view ${uuid(22)}`, `trackable ${CARRIER}`];
  assert.deepEqual(idsOf(keptIn(folder)), left);
});

test('import --replace deletes the last locations of deleted entities', async () => {
  const folder = temporaryFolder();
  const hub = await HubProcess.start(folder);
  await hub.post('/trackables', ALL.trackables[1]);
  await hub.put('/providers/tag-1/location', locationOf('tag-1', 1));
  await hub.stop();
  assert.equal(keptIn(folder).rows.length, 2);
  await runCliIn(folder, 'import', written({ format: ALL.format, version: 1 }), '--replace');
  const { entities, rows } = keptIn(folder);
  assert.deepEqual([entities.filter(({ kind }) => kind !== 'setting'), rows], [[], []]);
});

const REFUSED: readonly [what: string, document: unknown, says: readonly RegExp[]][] = [
  [
    'entities that do not fit',
    {
      ...ALL,
      fences: [
        { ...ALL.fences[0], zone_id: 'nowhere' },
        { id: uuid(77), region: { type: 'Point', coordinates: [9, 95] }, radius: 1 },
      ],
      trackables: [{ ...ALL.trackables[0], parent: uuid(78) }, ALL.trackables[1], ALL.trackables[1]],
    },
    [
      /: 4 problems, nothing was changed\n/,
      /\n {2}trackables\[0\]\.parent: must be the id of a trackable, found "\S+"\n/,
      /\n {2}trackables\[2\]\.id: trackable "\S+" already exists\n/,
      /\n {2}fences\[0\]\.zone_id: must be the id or foreign id of a zone, found "nowhere"\n/,
      /\n {2}fences\[1\]\.region\.coordinates\S*: must be [^\n]*found 95\n/,
    ],
  ],
  [
    'trackables that carry each other',
    { ...ALL, trackables: [ALL.trackables[0], { ...ALL.trackables[1], parent: CARRIED }] },
    [/: 2 problems, nothing was changed\n {2}trackables\[\d\]\.parent: /],
  ],
  [
    'an entity without id',
    { ...ALL, zones: [{ type: 'rfid' }] },
    [/\n {2}zones\[0\]\.id: must be the id of the entity, found nothing\n/],
  ],
  ['invalid rules', { ...ALL, locating_rules: [{ expression: '((' }] }, [/\n {2}locating_rules\[0\]/]],
  ['an invalid list', { ...ALL, zones: {} }, [/\n {2}zones: must be an array, found \{\}\n/]],
  ['an unknown member', { ...ALL, zonen: [] }, [/\n {2}zonen: is no list of entities\n/]],
  [
    'another kind of document',
    { type: 'FeatureCollection' },
    [/: format: must be "location-hub-entities", found nothing\n/],
  ],
  ['a later format', { ...ALL, version: 2 }, [/: version: must be 1, found 2\n/]],
];

const unchanged = temporaryFolder();
await runCliIn(unchanged, 'import', written({ ...ALL, fences: [] }));
const before = keptIn(unchanged);

for (const [what, document, says] of REFUSED) {
  test(`import rejects ${what}, names each, and changes nothing`, async () => {
    const { code, out, err } = await runCliIn(unchanged, 'import', written(document));
    for (const pattern of says) assert.match(err, pattern);
    assert.deepEqual([code, out], [1, '']);
    assert.deepEqual(keptIn(unchanged), before);
  });
}

const STORED: readonly [what: string, properties: string, says: RegExp][] = [
  ['a member called __proto__', '{"a":{"__proto__":{"x":1}}}', /__proto__: is a name that cannot be stored/],
  ['half of a surrogate pair', '{"a":"\\ud800"}', /properties\.a: must be well-formed Unicode/],
  ['a name with half of a surrogate pair', '{"\\udc00":1}', /must be well-formed Unicode/],
  ['a number beyond those of JSON', '{"a":1e999}', /properties\.a: must be a finite number/],
  ['300 levels', `${'['.repeat(300)}${']'.repeat(300)}`, /must be nested at most 200 levels deep/],
  ['300 levels of objects', `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`, /must be nested at most 200 levels deep/],
];

for (const [what, properties, says] of STORED) {
  test(`import rejects ${what} with the message of the API`, async () => {
    const entity = `{"id":"${CARRIER}","type":"omlox","properties":${properties}}`;
    const text = `{"format":"location-hub-entities","version":1,"trackables":[${entity}]}`;
    const byApi = (): void => checkStorable(parseBody(new TextEncoder().encode(text)), {});
    assert.throws(byApi, { message: says });
    const path = join(temporaryFolder(), 'all.json');
    writeFileSync(path, text);
    const { code, out, err } = await runCliIn(unchanged, 'import', path);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, says);
    assert.deepEqual(keptIn(unchanged), before);
  });
}

test('import reads UTF-8 with a byte order mark, and rejects other encodings', async () => {
  const folder = temporaryFolder();
  const path = join(temporaryFolder(), 'all.json');
  writeFileSync(path, `\ufeff${JSON.stringify({ format: ALL.format, version: 1, providers: ALL.providers })}`);
  assert.match((await runCliIn(folder, 'import', path)).out, /: 1 created/);
  writeFileSync(path, Buffer.from('{"format":"caf\xe9"}', 'latin1'));
  const { code, err } = await runCliIn(folder, 'import', path);
  assert.equal(code, 1);
  assert.match(err, /Cannot read .*all\.json: it must be text in UTF-8/);
});

test('A bulk import of 20,000 entities is complete or absent when its process is killed, and the database is usable', async () => {
  const count = 20_000;
  const trackables = Array.from({ length: count - 1000 }, (_, number) => {
    return { id: uuid(number), type: 'omlox', name: `Cart ${number}`, location_providers: [`tag-${number}`] };
  });
  const fences = Array.from({ length: 1000 }, (_, number) => {
    const coordinates = [9 + (number % 50) / 100, 50 + Math.floor(number / 50) / 100];
    return { id: uuid(900_000 + number), region: { type: 'Point', coordinates }, radius: 50 };
  });
  const path = written({ format: ALL.format, version: 1, trackables, fences });
  const folder = temporaryFolder();
  const random = randomFrom(5);
  const startMs = performance.now();
  const reference = await runCliIn(temporaryFolder(), 'import', path);
  const takesMs = performance.now() - startMs;
  assert.equal(reference.code, 0, reference.err);
  for (let round = 0; round < 2; round++) {
    const { child, finished } = startCliIn(folder, 'import', path);
    // Killed at a random moment.
    const timer = setTimeout(() => child.kill('SIGKILL'), takesMs * (0.4 + 0.6 * random()));
    await finished;
    clearTimeout(timer);
    const found = existsSync(join(folder, 'data.dat')) ? keptIn(folder).entities.length : 0;
    assert.ok(found === 0 || found === count, `${found} entities are there`);
  }
  const { code, out, err } = await runCliIn(folder, 'import', path);
  assert.equal(code, 0, err);
  assert.match(out, /: (20000 created|0 created, 0 changed, 20000 unchanged)/);
  assert.ok(statSync(join(folder, 'data.dat')).size > 1_000_000);

  const hub = await HubProcess.start(folder, { num_threads: 2 });
  assert.equal((await hub.get('/trackables'))?.body.length, trackables.length);
  assert.equal((await hub.get('/fences'))?.body.length, fences.length);
  // Every hundredth tag moves into the first fence, and its cart follows from any shard.
  const sent = Array.from({ length: 190 }, (_, number) => locationOf(`tag-${number * 100}`, 1));
  assert.equal((await hub.put('/providers/locations', sent))?.status, 204);
  assert.equal((await hub.get('/trackables/motions'))?.body.length, sent.length);
  assert.equal((await hub.get(`/fences/${fences[0]?.id}/trackables`))?.body.length, sent.length);
  const { code: end } = await hub.stop();
  assert.equal(end, 0);
});
