import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

const CART = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
const DOCK = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f02';
const at = (lon: number, lat: number) => ({
  provider_id: 'tag',
  provider_type: 'gps',
  crs: 'EPSG:4326',
  position: { type: 'Point', coordinates: [lon, lat] },
});

/**
 * Views of positions in longitude and latitude, and the error for positions out of range; undefined within the range.
 */
const VIEWS: readonly (readonly [crs: string, lon: number, lat: number, problem: string | undefined])[] = [
  ['EPSG:32632', 9, 50, undefined],
  ['EPSG:32632', 21, 50, undefined],
  ['EPSG:32632', -3, 50, undefined],
  ['EPSG:32632', 21.001, 50, 'longitude must be from -3 to 21, found 21.001'],
  ['EPSG:32732', -3.5, 50, 'longitude must be from -3 to 21, found -3.5'],
  ['EPSG:32632', 60, 89, 'longitude must be from -3 to 21, found 60'],
  ['EPSG:32601', 175, -10, undefined],
  ['EPSG:32601', 170, -10, 'longitude must be from 171 to -165, found 170'],
  ['EPSG:32760', -172, 1, undefined],
  ['EPSG:32760', -170, 1, 'longitude must be from 165 to -171, found -170'],
  ['EPSG:32661', 100, 60, undefined],
  ['EPSG:32661', 100, 59.9, 'latitude must be from 60 to 90, found 59.9'],
  ['EPSG:32661', 100, -88, 'latitude must be from 60 to 90, found -88'],
  ['EPSG:32761', 100, -60, undefined],
  ['EPSG:32761', 100, 50, 'latitude must be from -90 to -60, found 50'],
];

describe('projected answers', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub();
    const cart = { id: CART, type: 'omlox', location_providers: ['tag'], radius: 50 };
    assert.equal((await hub.post('/trackables', cart)).status, 201);
  });
  after(() => hub.close());

  for (const [crs, lon, lat, problem] of VIEWS) {
    const what = problem === undefined ? 'show' : 'do not show';
    test(`in ${crs} ${what} longitude ${lon}, latitude ${lat}`, async () => {
      const [locations, motions] = [
        await hub.subscribe('location_updates', { crs }),
        await hub.subscribe('trackable_motions', { crs }),
      ];
      await hub.delete('/providers/tag/location');
      assert.equal((await hub.put('/providers/tag/location', at(lon, lat))).status, 204);
      const region = { region: { type: 'Point', coordinates: [lon, lat] }, radius: 5 };
      await hub.delete(`/fences/${DOCK}`);
      assert.equal((await hub.post('/fences', { id: DOCK, ...region })).status, 201);
      await hub.settle();
      const ones = {
        'location of provider "tag"': '/providers/tag/location',
        [`location of trackable "${CART}"`]: `/trackables/${CART}/location`,
        [`motion of trackable "${CART}"`]: `/trackables/${CART}/motion`,
        [`fence "${DOCK}"`]: `/fences/${DOCK}`,
      };
      for (const [name, path] of Object.entries(ones)) {
        const { status, body } = await hub.get(`${path}?crs=${crs}`);
        assert.equal(status, problem === undefined ? 200 : 400, name);
        if (problem !== undefined) assert.equal(body.message, `crs: ${name} cannot be shown in ${crs}: ${problem}`);
      }
      const count = problem === undefined ? 1 : 0;
      for (const path of ['/providers/locations', '/trackables/motions', '/fences/summary']) {
        assert.equal((await hub.get(`${path}?crs=${crs}`)).body.length, count, path);
      }
      assert.deepEqual([locations.take().length, motions.take().length], [count, count]);
    });
  }

  test('ignore zone_id unless crs is local', async () => {
    for (const path of ['/providers/tag/location', '/providers/locations', '/fences/summary', '/trackables/motions']) {
      for (const query of ['zone_id=nowhere', 'crs=EPSG:4326&zone_id=nowhere', 'crs=EPSG:32761&zone_id=nowhere']) {
        const plain = await hub.get(`${path}?${query.replace('zone_id=nowhere', '')}`);
        const { status, body } = await hub.get(`${path}?${query}`);
        assert.deepEqual([status, body], [plain.status, plain.body], `${path}?${query}`);
      }
      const local = await hub.get(`${path}?crs=local&zone_id=nowhere`);
      assert.equal(local.status, 400);
      assert.match(local.body.message, /^zone_id: must be the id or foreign id of a zone, found "nowhere"$/);
    }
    await hub.subscribe('location_updates', { crs: 'EPSG:4326', zone_id: 'nowhere' });
  });
});

describe('times of locations', () => {
  const TIMES = {
    '1990-12-31T23:59:60Z': '1991-01-01T00:00:00.000Z',
    '1990-12-31T15:59:60-08:00': '1991-01-01T00:00:00.000Z',
    '2016-12-31t23:59:60.5z': '2017-01-01T00:00:00.500Z',
    '2016-12-31t23:59:59.123456789z': '2016-12-31T23:59:59.123456789Z',
    '1937-01-01T12:00:27.87+00:20': '1937-01-01T12:00:27.87+00:20',
    '2024-02-29T12:00:00-00:00': '2024-02-29T12:00:00-00:00',
  };

  test('are returned as the same instant, in a format that every client can parse', async (t) => {
    const hub = await openTestHub();
    t.after(() => hub.close());
    const locations = await hub.subscribe('location_updates');
    let n = 0;
    for (const [sent, expected] of Object.entries(TIMES)) {
      const id = `tag-${n++}`;
      const location = { ...at(8, 50), provider_id: id, timestamp_generated: sent };
      assert.equal((await hub.put(`/providers/${id}/location`, location)).status, 204);
      assert.equal((await hub.get(`/providers/${id}/location`)).body.timestamp_generated, expected);
      await hub.settle();
      assert.equal(locations.take()[0]?.timestamp_generated, expected);
      assert.ok(Number.isFinite(Date.parse(expected)));
    }
  });
});
