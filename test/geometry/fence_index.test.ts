import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FenceIndex, Footprint, Region } from '../../src/core/fence/fence_index.ts';
import { openFenceIndex } from '../../wasm/fence_index.ts';
import { ReferenceFenceIndex } from '../support/reference_fence_index.ts';
import { box, circle, corners, degrees, point, polygon, shaped, square } from './places.ts';

const IMPLEMENTATIONS: readonly [name: string, open: () => Promise<FenceIndex>][] = [
  ['FenceIndex', openFenceIndex],
  ['ReferenceFenceIndex', async () => new ReferenceFenceIndex()],
];

interface Case {
  readonly name: string;
  readonly region: Region;
  readonly footprint: Footprint;
  /** Metres, to 1 mm; 0 means that they touch. */
  readonly distance: number;
  readonly depth?: number;
}

const HERE = { lon: 8, lat: 50 };

/** A place some metres east and north of HERE, and a box around such metres. */
function at(x: number, y: number): [number, number] {
  const [dx, dy] = degrees(x, y, HERE.lat);
  return [HERE.lon + dx, HERE.lat + dy];
}
function boxAt(west: number, south: number, east: number, north: number, slackMetres = 0): Region {
  return box(...at(west, south), ...at(east, north), slackMetres);
}

const ten = boxAt(-5, -5, 5, 5);
const holed = polygon([corners(...at(-50, -50), ...at(50, 50)), corners(...at(-10, -10), ...at(10, 10)).reverse()]);
const narrow = 1e-7;

const CASES: readonly Case[] = [
  { name: 'a point inside', region: ten, footprint: point(...at(0, 3)), distance: 0, depth: 2 },
  { name: 'a point outside', region: ten, footprint: point(...at(8, 0)), distance: 3, depth: -3 },
  { name: 'a point off a corner', region: ten, footprint: point(...at(8, 9)), distance: 5, depth: -5 },
  { name: 'a point on an edge', region: box(8, 50, 9, 51), footprint: point(8, 50.25), distance: 0, depth: 0 },
  { name: 'a point on a corner', region: box(8, 50, 9, 51), footprint: point(9, 51), distance: 0, depth: 0 },
  {
    name: 'a point within the slack',
    region: boxAt(-5, -5, 5, 5, 0.01),
    footprint: point(...at(5.009, 0)),
    distance: 0,
    depth: 0,
  },
  {
    name: 'a point beyond the slack',
    region: boxAt(-5, -5, 5, 5, 0.01),
    footprint: point(...at(5.02, 0)),
    distance: 0.02,
    depth: -0.02,
  },
  { name: 'a point in a hole', region: holed, footprint: point(...at(0, 4)), distance: 6, depth: -6 },
  { name: 'a point beside a hole', region: holed, footprint: point(...at(13, 0)), distance: 0, depth: 3 },
  {
    name: 'a point on the edge of a hole',
    region: polygon([corners(0, 0, 4, 4), corners(1, 1, 2, 2)]),
    footprint: point(1, 1.5),
    distance: 0,
    depth: 0,
  },
  { name: 'a circle that overlaps', region: ten, footprint: point(...at(8, 0), 4), distance: 0, depth: 1 },
  { name: 'a circle that does not reach', region: ten, footprint: point(...at(8, 0), 1), distance: 2, depth: -2 },
  { name: 'a circle around the fence', region: ten, footprint: point(...at(1, 0), 500), distance: 0, depth: 504 },
  { name: 'a circle in a hole', region: holed, footprint: point(...at(0, 0), 9), distance: 1, depth: -1 },
  { name: 'a square that overlaps', region: ten, footprint: square(...at(7, 0), 4), distance: 0, depth: 1 },
  { name: 'a square apart', region: ten, footprint: square(...at(10, 0), 3), distance: 2, depth: -2 },
  { name: 'a square off a corner', region: ten, footprint: square(...at(11, 12), 3), distance: 5, depth: -5 },
  { name: 'a square around the fence', region: ten, footprint: square(...at(0, 0), 40), distance: 0, depth: 5 },
  {
    name: 'a bar across the fence',
    region: ten,
    footprint: shaped(...at(20, 0), [
      [-40, -1],
      [40, -1],
      [40, 1],
      [-40, 1],
    ]),
    distance: 0,
    depth: 0,
  },
  { name: 'a square in a hole', region: holed, footprint: square(...at(0, 0), 8), distance: 2, depth: -2 },
  { name: 'a point in a circle', region: circle(8, 50, 30), footprint: point(...at(20, 0)), distance: 0, depth: 10 },
  {
    name: 'a point outside a circle',
    region: circle(8, 50, 30),
    footprint: point(...at(0, -42)),
    distance: 12,
    depth: -12,
  },
  {
    name: 'circles that touch',
    region: circle(8, 50, 30),
    footprint: point(...at(37, 0), 7.001),
    distance: 0,
    depth: 0.001,
  },
  { name: 'circles that do not', region: circle(8, 50, 30), footprint: point(...at(40, 0), 7), distance: 3, depth: -3 },
  {
    name: 'a square at a circle',
    region: circle(8, 50, 30),
    footprint: square(...at(36, 0), 4),
    distance: 2,
    depth: -2.249,
  },
  {
    name: 'a square around a circle',
    region: circle(8, 50, 3),
    footprint: square(...at(5, 0), 40),
    distance: 0,
    depth: 0,
  },
  {
    name: 'a region over 180°, from the east',
    region: box(179.9, 10, 180.1, 11),
    footprint: point(-179.95, 10.5),
    distance: 0,
  },
  {
    name: 'a region over 180°, from the west',
    region: box(179.9, 10, 180.1, 11),
    footprint: point(179.95, 10.5),
    distance: 0,
  },
  { name: 'a region over -180°', region: box(-180.1, 10, -179.9, 11), footprint: point(179.95, 10.5), distance: 0 },
  {
    name: 'a region that ends at 180°',
    region: box(179.9, 10, 180, 11),
    footprint: point(-180, 10.5),
    distance: 0,
    depth: 0,
  },
  {
    name: 'a place across 180°',
    region: box(179.9, -0.5, 180, 0.5),
    footprint: point(-179.999, 0),
    distance: 111.3195,
  },
  {
    name: 'a circle over 180°',
    region: circle(180, 0, 500),
    footprint: point(-179.999, 0),
    distance: 0,
    depth: 388.6805,
  },
  {
    name: 'a circle footprint over 180°',
    region: box(179.9, -0.5, 180, 0.5),
    footprint: point(-179.999, 0, 112),
    distance: 0,
    depth: 0.6805,
  },
  { name: 'a square over 180°', region: box(179.9, -0.5, 180, 0.5), footprint: square(-179.9999, 0, 20), distance: 0 },
  { name: 'the world', region: box(-180, -90, 180, 90), footprint: point(-180, 12), distance: 0 },
  { name: 'the world at a pole', region: box(-180, -90, 180, 90), footprint: point(77, 90), distance: 0, depth: 0 },
  {
    name: 'a region that laps over itself',
    region: polygon([
      [
        [-200, 0],
        [0, -40],
        [200, 0],
        [0, 40],
        [-200, 0],
      ],
    ]),
    footprint: point(170, 3),
    distance: 0,
  },
  { name: 'the world written from 0 to 360', region: box(0, -90, 360, 90), footprint: point(-90, 12), distance: 0 },
  { name: 'a polar cap at the pole', region: box(-180, 89, 180, 90), footprint: point(0, 90), distance: 0 },
  {
    name: 'a circle around the pole',
    region: circle(10, 89.999, 200),
    footprint: point(-170, 89.9995),
    distance: 0,
    depth: 200 - 167.541,
  },
  {
    name: 'a place behind the pole',
    region: box(-10, 89.9, 10, 89.999),
    footprint: point(180, 89.999),
    distance: 222.538,
  },
  {
    name: 'a wedge at the pole, from elsewhere',
    region: box(0, 89, 10, 90),
    footprint: point(180, 89.999),
    distance: 111.694,
  },
  {
    name: 'a circle over the pole',
    region: box(-10, 89.9, 10, 89.9995),
    footprint: point(180, 89.9995, 120),
    distance: 0,
    depth: 120 - 111.269,
  },
  {
    name: 'a square within the slack',
    region: boxAt(-5, -5, 5, 5, 0.05),
    footprint: square(...at(8.02, 0), 3),
    distance: 0,
    depth: 0,
  },
  { name: 'the pole itself', region: box(0, 89, 10, 90), footprint: point(123, 90), distance: 0, depth: 0 },
  {
    name: 'a tiny fence',
    region: box(8, 50, 8 + narrow, 50 + narrow),
    footprint: point(8 + narrow / 2, 50 + narrow / 2),
    distance: 0,
  },
];

for (const [name, open] of IMPLEMENTATIONS) {
  describe(name, () => {
    for (const { name: what, region, footprint, distance, depth } of CASES) {
      it(`sees ${what}`, async () => {
        const index = await open();
        index.set(3, region);
        assert.deepEqual(
          [...index.near(undefined, footprint).slots].filter((slot) => slot !== 3),
          [],
        );
        assert.equal(index.touches(3, footprint), distance === 0);
        close(index.distanceMetres(3, footprint), distance);
        if (distance === 0) assert.deepEqual([...index.near(undefined, footprint).slots], [3]);
        if (depth !== undefined) close(index.depthMetres(3, footprint), depth);
      });
    }

    it('counts the edge of a circle as inside, to the micrometre', async () => {
      const index = await open();
      const [lon, lat] = at(400, 300);
      index.set(0, circle(8, 50, 1));
      const metres = index.distanceMetres(0, point(lon, lat)) + 1;
      index.set(0, circle(8, 50, metres - 3e-7));
      assert.equal(index.touches(0, point(lon, lat)), true);
      index.set(0, circle(8, 50, metres - 3e-6));
      assert.equal(index.touches(0, point(lon, lat)), false);
    });

    it('forgets what was deleted and takes over what was replaced', async () => {
      const index = await open();
      const here = point(...at(0, 0));
      index.set(0, ten);
      index.set(1, circle(8, 50, 3));
      index.set(200, boxAt(-1, -1, 1, 1));
      const before = index.near(undefined, here);
      assert.deepEqual([...before.slots], [0, 1, 200]);
      index.delete(1);
      index.delete(17);
      index.set(0, boxAt(1000, 1000, 1001, 1001));
      const after = index.near(before, here);
      assert.equal(after.slots.includes(1), false);
      assert.equal(after.slots.includes(200), true);
      assert.equal(index.touches(0, here), false);
      assert.equal(index.touches(1, here), false);
      assert.equal(index.near(after, point(...at(1000.5, 1000.5))).slots.includes(0), true);
    });

    it('knows a new fence after many changes elsewhere', async () => {
      const index = await open();
      const here = point(...at(0, 0));
      const fillElsewhere = (y: number): void => {
        for (let slot = 1; slot < 300; slot++) index.set(slot, boxAt(slot * 1e3, y, slot * 1e3 + 1, y + 1));
      };
      fillElsewhere(1e5);
      const before = index.near(undefined, here);
      index.set(0, ten);
      fillElsewhere(2e5);
      assert.equal(index.near(before, here).slots.includes(0), true);
    });

    it('has nothing at slots that were never set', async () => {
      const index = await open();
      assert.equal(index.touches(5, point(8, 50)), false);
      assert.equal(index.distanceMetres(5, point(8, 50)), Number.POSITIVE_INFINITY);
      assert.equal(index.depthMetres(5, point(8, 50)), Number.NEGATIVE_INFINITY);
      assert.deepEqual([...index.near(undefined, point(8, 50)).slots], []);
    });
  });
}

describe('FenceIndex', () => {
  it('returns the last answer while an object stays nearby and no fence nearby changes', async () => {
    const index = await openFenceIndex();
    for (let i = 0; i < 100; i++) index.set(i, boxAt(i * 100, 0, i * 100 + 50, 50));
    const first = index.near(undefined, point(...at(3025, 20)));
    assert.ok(first.slots.length < 60, `${first.slots.length} candidates of 100`);
    assert.equal(index.near(first, point(...at(3026, 21))), first);
    index.set(100, boxAt(-400_000, 0, -399_000, 50));
    assert.equal(index.near(first, point(...at(3026, 21))), first);
    index.set(101, boxAt(3020, 0, 3030, 50));
    const changed = index.near(first, point(...at(3026, 21)));
    assert.equal(changed.slots.includes(101), true);
    assert.equal(index.near(undefined, point(...at(3026, 21))), changed);
  });

  it('keeps the exact geodesic at the edge of a circle of 100 km', async () => {
    const index = await openFenceIndex();
    const reference = new ReferenceFenceIndex();
    const [dx, dy] = degrees(70_000, 70_000, 50);
    const far = point(8 + dx, 50 + dy);
    for (const target of [index, reference]) target.set(0, circle(8, 50, 1));
    const metres = reference.distanceMetres(0, far) + 1;
    for (const [more, touches] of [
      [1e-5, true],
      [-1e-5, false],
    ] as const) {
      index.set(0, circle(8, 50, metres + more));
      assert.equal(index.touches(0, far), touches);
    }
  });
});

function close(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= 1e-3 + Math.abs(expected) * 1e-4, `${actual} instead of ${expected} metres`);
}
