import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query, QueryResult, SearchQuery } from '../../src/core/item.ts';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { distanceBound } from '../../src/core/search/search_area.ts';
import { diceOf } from '../support/dice.ts';
import { locationAt, provider, ShardHarness, trackable } from '../support/shard_harness.ts';

type Found = Extract<QueryResult, { found: unknown }>;

const VIEW = { crs: 'EPSG:4326' };
const ALL: SearchQuery = { ask: 'search', kind: 'provider', view: VIEW, most: 1000 };

/** All slices of a search, and their number. */
function searchAll(harness: ShardHarness, second: number, query: SearchQuery) {
  const found = new Map<string, number>();
  let from: number | undefined;
  for (let slices = 1; slices <= 1000; slices++) {
    const asked: Query = { ...query, ...(from !== undefined && { from }) };
    const answer = harness.ask(second, asked) as Found;
    for (const [id, distance, json] of answer.found) {
      assert.equal(JSON.parse(json).provider_id ?? JSON.parse(json).id, id);
      found.set(id, distance);
    }
    if (answer.next === undefined) {
      const ordered = [...found].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
      return { ids: ordered.slice(0, query.most).map(([id]) => id), distances: ordered.map(([, x]) => x), slices };
    }
    from = answer.next;
  }
  return assert.fail('The search does not end');
}

/** Positions around a point, at all scales from a meter to the whole earth. */
function positionsAround(
  lon: number,
  lat: number,
  count: number,
  seed: number,
): Map<string, readonly [number, number]> {
  const dice = diceOf(seed);
  const random = (): number => dice(1_000_001) / 500_000 - 1;
  return new Map(
    Array.from({ length: count }, (_, i) => {
      const scale = 10 ** -dice(7);
      const at = [lon + 180 * random() * scale, lat + 90 * random() * scale] as const;
      const wrapped = at[0] > 180 ? at[0] - 360 : at[0] < -180 ? at[0] + 360 : at[0];
      return [`p${i}`, [wrapped, Math.max(-90, Math.min(90, at[1]))]] as const;
    }),
  );
}

async function harnessOf(positions: ReadonlyMap<string, readonly [number, number]>): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  const items = [...positions].map(([id, [lon, lat]]) => locationAt(1, lon, lat, { provider_id: id }));
  harness.tell(1, ...items);
  return harness;
}

for (const [lon, lat] of [
  [7.6, 51.9],
  [179.999, -16],
  [12, 89.99],
  [-60, 0],
] as const) {
  test(`The nearest objects to ${lon}, ${lat} are those of a search through all, also after moves`, async () => {
    const positions = positionsAround(lon, lat, 3000, 4711);
    const harness = await harnessOf(positions);
    const nearest = (most: number, radius: number): string[] =>
      [...positions]
        .map(([id, [x, y]]) => [id, geodesicMeters(lon, lat, x, y)] as const)
        .filter(([, meters]) => meters <= radius)
        .sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
        .slice(0, most)
        .map(([id]) => id);
    for (const round of [0, 1, 2]) {
      for (const [most, radius] of [
        [1, Number.POSITIVE_INFINITY],
        [10, Number.POSITIVE_INFINITY],
        [250, 3_000_000],
        [500, 20],
      ] as const) {
        const near = { ...ALL, near: [lon, lat], most, ...(radius < 1e9 && { radius }) } as const;
        const { ids, distances } = searchAll(harness, 2 + round, near);
        assert.deepEqual(ids, nearest(most, radius), `${most} within ${radius} m, round ${round}`);
        assert.ok(distances.every((meters) => meters <= radius));
      }
      const moves = positionsAround(lon, lat, 700, round);
      for (const [id, position] of moves) positions.set(id, position);
      harness.tell(2 + round, ...[...moves].map(([id, [x, y]]) => locationAt(2 + round, x, y, { provider_id: id })));
    }
  });
}

test('A region finds the objects inside, without those in its holes, across the antimeridian, in slices', async () => {
  const positions = positionsAround(179.9999, 10, 12_000, 9);
  const harness = await harnessOf(positions);
  const box = (west: number, south: number, east: number, north: number): [number, number][] => [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  const region = { type: 'Polygon' as const, coordinates: [box(170, 0, -170, 20), box(-179, 9, -175, 11)] };
  const expected = [...positions].flatMap(([id, [lon, lat]]) => {
    const isInside = (lon >= 170 || lon <= -170) && lat >= 0 && lat <= 20;
    const isInHole = lon > -179 && lon < -175 && lat > 9 && lat < 11;
    return isInside && !isInHole ? [id] : [];
  });
  const { ids, slices } = searchAll(harness, 2, { ...ALL, region, most: 100_000 });
  assert.deepEqual(ids.toSorted(), expected.toSorted());
  assert.ok(slices >= 13, `1,000 objects are put into the index at a time, and then 5,000 evaluated: ${slices}`);
  const { ids: near } = searchAll(harness, 2, { ...ALL, region, near: [-170.5, 10], most: 3 });
  assert.equal(near.length, 3);
  assert.ok(near.every((id) => expected.includes(id)));
});

test('A search for the nearest objects of a rare kind is continued in slices', async () => {
  const positions = positionsAround(7.6, 51.9, 11_000, 3);
  const harness = await harnessOf(positions);
  harness.tell(2, locationAt(2, 7.7, 51.9, { provider_id: 'p77', floor: 9 }));
  const rare = { ...ALL, near: [7.6, 51.9], floor: 9, most: 5 } as const;
  searchAll(harness, 3, rare);
  const { ids, slices } = searchAll(harness, 3, rare);
  assert.deepEqual(ids, ['p77']);
  assert.ok(slices >= 3, String(slices));
});

test('A search selects by kind, floor, an expression and listed ids, at the time of the search', async () => {
  const harness = await ShardHarness.open();
  for (const i of [1, 2, 3]) harness.tell(0, provider(`tag-${i}`), trackable(`cart-${i}`, [`tag-${i}`]));
  const at = (second: number, i: number, more: object) =>
    locationAt(second, 7 + i / 1000, 50, { provider_id: `tag-${i}`, ...more });
  harness.tell(1, at(1, 1, { floor: 1, accuracy: 1 }), at(1, 2, { accuracy: 5 }), at(1, 3, { floor: 1 }));
  const ids = (query: Partial<SearchQuery>, second = 2) => searchAll(harness, second, { ...ALL, ...query }).ids;
  assert.deepEqual(ids({}), ['tag-1', 'tag-2', 'tag-3']);
  assert.deepEqual(ids({ kind: 'trackable', floor: 1 }), ['cart-1', 'cart-3']);
  assert.deepEqual(ids({ where: 'accuracy >= 5' }), ['tag-2']);
  assert.deepEqual(ids({ where: 'timestamp_diff > 5000' }), []);
  assert.deepEqual(ids({ where: 'timestamp_diff > 5000' }, 8), ['tag-1', 'tag-2', 'tag-3']);
  assert.deepEqual(ids({ only: ['tag-3', 'tag-9'] }, 8), ['tag-3']);
  assert.deepEqual(ids({ near: [7.002, 50], radius: 80 }, 8), ['tag-2', 'tag-1', 'tag-3'].slice(0, 3));
  harness.tell(9, { kind: 'forget', id: 'tag-1' }, { kind: 'provider', id: 'tag-2', entity: undefined });
  assert.deepEqual(ids({}, 9), ['tag-3']);
  assert.deepEqual(ids({ kind: 'trackable', near: [7, 50], most: 1 }, 9).length, 1);
});

test('No point of a rectangle is nearer than its bound', () => {
  const dice = diceOf(5);
  const random = (): number => dice(1_000_001) / 1_000_000;
  for (let round = 0; round < 5000; round++) {
    const size = 0.5 ** dice(24);
    const rectangle = { x: Math.floor(random() / size) * size, y: Math.floor(random() / size) * size, size };
    if (rectangle.x >= 1 || rectangle.y >= 1) continue;
    const [lon, lat] = [random() * 360 - 180, random() * 180 - 90];
    const inside = [(rectangle.x + random() * size) * 360 - 180, (rectangle.y + random() * size) * 180 - 90] as const;
    const meters = geodesicMeters(lon, lat, ...inside);
    const bound = distanceBound(lon, lat)(rectangle);
    assert.ok(bound <= meters, JSON.stringify({ rectangle, lon, lat, inside, bound, meters }));
  }
});
