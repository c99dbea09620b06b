import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALL } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';

/** Places tags in a row to the east, 10 m apart; the first one has a trackable. */
async function furnish(hub: TestHub): Promise<void> {
  await hub.post('/zones', HALL);
  await hub.post('/trackables', { id: CART, type: 'omlox', name: 'Cart', location_providers: ['tag-0'] });
  const locations = [0, 1, 2, 3].map((i) => ({
    ...{ provider_id: `tag-${i}`, provider_type: 'uwb', source: 'gps', accuracy: i, floor: i % 2 },
    ...{ crs: 'EPSG:4326', position: { type: 'Point', coordinates: [7 + i / 1000, 50] } },
  }));
  assert.equal((await hub.put('/providers/locations', locations)).status, 204);
}

interface Match {
  readonly distance?: number;
  readonly location?: { readonly provider_id: string };
  readonly motion?: { readonly id: string };
}

const idsOf = (matches: readonly Match[]) => matches.map(({ location, motion }) => location?.provider_id ?? motion?.id);

test('A search finds the nearest objects, and those in a region', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  await furnish(hub);
  const near = await hub.get('/search?kind=provider&near=7.0021,50&k=2');
  assert.equal(near.status, 200);
  assert.deepEqual([idsOf(near.body.matches), near.body.complete], [['tag-2', 'tag-3'], false]);
  const [{ distance }] = near.body.matches;
  assert.ok(distance > 7 && distance < 7.3, String(distance));
  const within = await hub.get('/search?kind=provider&near=7,50&radius=150&where=accuracy%3C1');
  assert.deepEqual([idsOf(within.body.matches), within.body.complete], [['tag-0'], true]);
  const motions = await hub.get('/search?kind=trackable&near=7,50&floor=0');
  assert.deepEqual(idsOf(motions.body.matches), [CART]);
  assert.deepEqual(motions.body.matches[0].motion, (await hub.get(`/trackables/${CART}/motion`)).body);
  const ring = [
    [7.0005, 49.9],
    [7.0025, 49.9],
    [7.0025, 50.1],
    [7.0005, 50.1],
    [7.0005, 49.9],
  ];
  const region = { type: 'Polygon', coordinates: [ring] };
  const inside = await hub.post('/search', { kind: 'provider', region });
  assert.deepEqual(
    inside.body.matches.map(({ location }: Match) => location?.provider_id),
    ['tag-1', 'tag-2'],
  );
  assert.equal(inside.body.matches[0].distance, undefined);
  const nearest = await hub.post('/search', { kind: 'provider', region, near: [8, 50], k: 1 });
  assert.deepEqual([idsOf(nearest.body.matches), nearest.body.complete], [['tag-2'], false]);
});

test('A search is rejected with the name and the value of a parameter that is invalid', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  for (const [query, message] of [
    ['kind=provider', /^near: is required/],
    ['near=1,2', /^kind: is required/],
    ['kind=zone&near=1,2', /^kind: .*found "zone"/],
    ['kind=provider&near=1', /^near: /],
    ['kind=provider&near=1,x', /^near: must be a number, found "x"$/],
    ['kind=provider&near=1,91', /^near: must be a number from -90 to 90, found 91$/],
    ['kind=provider&near=181,1', /^near: must be a number from -180 to 180, found 181$/],
    ['kind=provider&near=1,2&k=0', /^k: must be >= 1, found 0$/],
    ['kind=provider&near=1,2&k=501', /^k: must be <= 500, found 501$/],
    ['kind=provider&near=1,2&radius=0', /^radius: must be > 0, found 0$/],
    ['kind=provider&near=1,2&floor=', /^floor: must be a number, found ""$/],
    ['kind=provider&near=1,2&where=speed%20%3E', /^where: expected .* at column 8/],
    ['kind=provider&near=1,2&crs=EPSG:1', /^crs: /],
  ] as const) {
    const { status, body } = await hub.get(`/search?${query}`);
    assert.equal(status, 400, query);
    assert.match(body.message, message);
  }
  for (const [body, message] of [
    [{ kind: 'provider' }, /^near: is required/],
    [{ kind: 'provider', radius: 5, region: null }, /^near: is required/],
    [{ kind: 'provider', region: { type: 'Point', coordinates: [1, 2] } }, /^region/],
    [
      {
        kind: 'provider',
        region: {
          type: 'Polygon',
          coordinates: [
            [
              [1, 2],
              [1, 99],
              [2, 2],
            ],
          ],
        },
      },
      /^region: must be a/,
    ],
    [
      {
        kind: 'provider',
        radius: 5,
        region: {
          type: 'Polygon',
          coordinates: [
            [
              [1, 2],
              [1, 9],
              [2, 2],
            ],
          ],
        },
      },
      /^near: is required for a radius/,
    ],
  ] as const) {
    const { status, body: refusal } = await hub.post('/search', body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(refusal.message, message);
  }
});

test('The results of several shards are merged in one order', async (t) => {
  const hub = await openTestHub({ num_threads: 4 });
  t.after(() => hub.close());
  await furnish(hub);
  const near = await hub.get('/search?kind=provider&near=7.0031,50');
  assert.deepEqual(idsOf(near.body.matches), ['tag-3', 'tag-2', 'tag-1', 'tag-0']);
  assert.equal(near.body.complete, true);
});
