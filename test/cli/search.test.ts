import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { runCli, temporaryFile } from './run_cli.ts';

const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const TIME = '2026-03-01T10:00:00Z';
/** Around the tags 1 and 2. */
const RING = [
  [-7.0025, 49.9],
  [-7.0005, 49.9],
  [-7.0005, 50.1],
  [-7.0025, 50.1],
  [-7.0025, 49.9],
];
const POLYGON = { type: 'Polygon', coordinates: [RING] };

let hub: TestHub;
before(async () => {
  hub = await openTestHub();
  const cart = { id: CART, type: 'omlox', name: 'Cart\u001b[2J', location_providers: ['tag-0'] };
  assert.equal((await hub.post('/trackables', cart)).status, 201);
  const locations = [0, 1, 2].map((i) => ({
    ...{ provider_id: `tag-${i}`, provider_type: 'uwb', source: 'gps', accuracy: i, timestamp_generated: TIME },
    ...{ crs: 'EPSG:4326', position: { type: 'Point', coordinates: [-7 - i / 1000, 50] } },
  }));
  assert.equal((await hub.put('/providers/locations', locations)).status, 204);
});
after(() => hub.close());

const search = (...args: readonly string[]) => runCli('search', ...args, '--hub', hub.origin);
const providers = (...args: readonly string[]) => search('--kind', 'provider', ...args);

test('search prints the nearest objects with their distances in aligned columns', async () => {
  assert.deepEqual(await providers('--near', '-7,50', '--k', '2'), {
    code: 0,
    out:
      'distance  id     longitude   latitude    floor  accuracy  time\n' +
      `0.00 m    tag-0  -7.0000000  50.0000000  0      0 m       ${TIME}\n` +
      `71.70 m   tag-1  -7.0010000  50.0000000  0      1 m       ${TIME}\n`,
    err: 'There are more than these 2: --k raises the number\n',
  });
});

test('search prints trackables with their names, without control characters', async () => {
  const { code, out } = await search('--near', '-7,50');
  assert.equal(code, 0);
  assert.ok(out.includes(`0.00 m    ${CART}  Cart [2J  -7.0000000`), out);
});

for (const [what, content] of [
  ['a geometry', POLYGON],
  ['a feature', { type: 'Feature', geometry: POLYGON, properties: {} }],
  ['a collection', { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: POLYGON, properties: {} }] }],
] as const) {
  test(`search finds the objects in the region of a file with ${what}`, async () => {
    const file = temporaryFile('region.json', JSON.stringify(content));
    const { out, err } = await providers('--region', file);
    assert.deepEqual([err, out.match(/tag-\d/g)], ['', ['tag-1', 'tag-2']]);
    assert.ok(!out.includes('distance'), out);
  });
}

test('search prints the answer of the hub with --json', async () => {
  const { out } = await providers('--near', '-7,50', '--radius', '100', '--where', 'accuracy > 0', '--json');
  const { matches, complete } = JSON.parse(out);
  assert.deepEqual([matches.length, matches[0].location.provider_id, complete], [1, 'tag-1', true]);
});

test('search prints nothing if there is nothing', async () => {
  assert.deepEqual(await providers('--near', '-7,50', '--floor', '-3'), { code: 0, out: '', err: '' });
});

test('search marks the column at which an expression is invalid', async () => {
  const { code, out, err } = await providers('--near', '-7,50', '--where', 'accuracy < AND floor = 1');
  assert.deepEqual([code, out], [1, '']);
  const [message = '', line = '', mark = ''] = err.split('\n');
  assert.match(message, /^The hub rejects the request: where: .* at column 12, found .*AND.* \(400\)$/);
  assert.equal(line.slice(mark.indexOf('^')), 'AND floor = 1');
});

for (const [what, args, expected] of [
  ['neither a point nor a region', [], /^Name a point with --near, or a file with --region\n$/],
  ['a radius without a point', ['--region', 'x', '--radius', '5'], /^--radius needs a point: --near\n$/],
  ['half a point', ['--near', '7'], /argument '7' is invalid\. It must be a longitude and a latitude/],
  ['a point that is not on the earth', ['--near', '7,91'], /near: must be .*90.*, found 91 \(400\)\n$/],
  ['an unknown kind', ['--near', '7,50', '--kind', 'zone'], /Allowed choices are provider, trackable/],
  ['too many objects', ['--near', '7,50', '--k', '501'], /It must be a whole number of 1 or more and of 500 or less/],
  ['a missing file', ['--region', '/none.json'], /^Cannot read \/none\.json: ENOENT[^\n]*\n$/],
] as const) {
  test(`search rejects ${what}`, async () => {
    const { code, out, err } = await search(...args);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, expected);
  });
}

for (const [what, content, expected] of [
  ['is not JSON', '{', /^Cannot read \S*region\.json: .*JSON.*\n$/],
  ['has a point', '{"type":"Point","coordinates":[7,50]}', /region\.json: must be a GeoJSON Polygon, found "Point"\n$/],
  ['has two features', '{"type":"FeatureCollection","features":[1,2]}', /must have one feature, found 2\n$/],
  ['has a polygon of strings', '{"type":"Polygon","coordinates":[["a"]]}', /region\S*: .*found .* \(400\)\n$/],
] as const) {
  test(`search rejects a region file that ${what}`, async () => {
    const { code, err } = await search('--region', temporaryFile('region.json', content));
    assert.equal(code, 1);
    assert.match(err, expected);
  });
}
