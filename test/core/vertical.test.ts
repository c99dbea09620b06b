import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fence } from '../../src/model/fence.ts';
import type { Location } from '../../src/model/location.ts';
import { HALL, square } from '../support/hall.ts';
import { fence, inHall, ShardHarness, zone } from '../support/shard_harness.ts';
import { brief } from './brief.ts';

const RING = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
];

/** The square with heights. */
function raised(...heights: readonly number[]): Fence['region'] {
  const ring = RING.map(([x = 0, y = 0], i) => [x, y, heights[i % heights.length] as number]);
  return { type: 'Polygon', coordinates: [ring] };
}

interface Case {
  readonly name: string;
  readonly fence: Partial<Fence>;
  readonly zoneFloor?: number | null;
  /** wgs84_height of the zone. */
  readonly level?: number;
  readonly z?: number;
  readonly location?: Partial<Location>;
  readonly inside: boolean;
}

const CASES: readonly Case[] = [
  { name: 'a fence without floor is on all floors', fence: {}, location: { floor: 7 }, inside: true },
  { name: 'a fence with a floor is on that floor', fence: { floor: 7 }, location: { floor: 7 }, inside: true },
  { name: 'a fence with a floor is on no other', fence: { floor: 7 }, location: { floor: 8 }, inside: false },
  {
    name: 'floors may be negative and between others',
    fence: { floor: -1.5 },
    location: { floor: -1.5 },
    inside: true,
  },
  { name: "the floor of a location is its zone's", fence: { floor: 3 }, zoneFloor: 3, inside: true },
  { name: 'without floors it is 0', fence: { floor: 0 }, zoneFloor: null, inside: true },
  {
    name: 'the floor of a location takes precedence over that of its zone',
    fence: { floor: 3 },
    zoneFloor: 3,
    location: { floor: 0 },
    inside: false,
  },
  { name: 'without extrusion all heights are inside', fence: {}, z: 1000, inside: true },
  { name: 'without extrusion all depths are inside', fence: { region: raised(5) }, z: -1000, inside: true },
  { name: 'without extrusion a floor bounds it', fence: { floor: 0 }, z: 1000, location: { floor: 1 }, inside: false },
  { name: 'an extrusion starts at 0', fence: { extrusion: 3 }, z: 0, inside: true },
  { name: 'below that is outside', fence: { extrusion: 3 }, z: -0.01, inside: false },
  { name: 'its upper end is inside', fence: { extrusion: 3 }, z: 3, inside: true },
  { name: 'above that is outside', fence: { extrusion: 3 }, z: 3.01, inside: false },
  {
    name: 'an extrusion starts at the z of the region',
    fence: { extrusion: 3, region: raised(10) },
    z: 12,
    inside: true,
  },
  { name: 'and outside above it', fence: { extrusion: 3, region: raised(10) }, z: 3, inside: false },
  {
    name: 'the lowest z of a sloped region counts',
    fence: { extrusion: 3, region: raised(4, 5, 6, 5) },
    z: 4,
    inside: true,
  },
  { name: 'an extrusion of 0 is a plane', fence: { extrusion: 0, region: raised(2) }, z: 2, inside: true },
  { name: 'and outside above it', fence: { extrusion: 0, region: raised(2) }, z: 2.001, inside: false },
  { name: 'a location without z fits any height', fence: { extrusion: 0, region: raised(2) }, inside: true },
  {
    name: 'heights with another reference match any',
    fence: { extrusion: 3 },
    z: 400,
    location: { elevation_ref: 'wgs84' },
    inside: true,
  },
  {
    name: 'heights from the same fit or not',
    fence: { extrusion: 3, elevation_ref: 'wgs84' },
    z: 400,
    location: { elevation_ref: 'wgs84' },
    inside: false,
  },
  ...(
    [
      ['a location above the ellipsoid, in a fence above the floor', { extrusion: 3 }, 402, 'wgs84', true],
      ['and above that fence', { extrusion: 3 }, 404, 'wgs84', false],
      ['a location above the floor, in a fence above the ellipsoid', { region: raised(400) }, 2, 'floor', true],
      ['and below that fence', { region: raised(403) }, 2, 'floor', false],
    ] as const
  ).map(([name, more, z, ref, inside]): Case => {
    const elevation_ref = ref === 'floor' ? 'wgs84' : 'floor';
    const location: Partial<Location> = { elevation_ref: ref };
    return { name, fence: { extrusion: 3, ...more, elevation_ref }, z, location, level: 400, inside };
  }),
  {
    name: 'a round fence has heights as well',
    fence: { region: { type: 'Point', coordinates: [5, 5, 10] }, radius: 2, extrusion: 1 },
    z: 9,
    inside: false,
  },
  {
    name: 'from the z of its center',
    fence: { region: { type: 'Point', coordinates: [5, 5, 10] }, radius: 2, extrusion: 1 },
    z: 11,
    inside: true,
  },
];

describe('in a fence', () => {
  for (const { name, fence: more, zoneFloor = 0, level, z, location, inside } of CASES) {
    test(`${name}: ${inside ? 'inside' : 'outside'}`, async () => {
      const harness = await ShardHarness.open();
      harness.tell(
        0,
        zone({ ...HALL, floor: zoneFloor, wgs84_height: level ?? null }),
        fence(square({ id: 'dock', ...more })),
      );
      harness.tell(1, inHall(1, z === undefined ? [5, 5] : [5, 5, z], location));
      assert.deepEqual(brief(harness.takeFenceEvents()), inside ? ['entry dock tag 1'] : []);
      const spatial = harness.ask(2, { ask: 'fence_providers', id: 'dock', spatial: true });
      assert.deepEqual(spatial, { ids: inside ? ['tag'] : [] });
    });
  }

  test('A member that changes floors is outside of every tolerance: the exit tolerance does not hold it', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'dock', floor: 0, exit_tolerance: 100 })));
    harness.tell(1, inHall(1, [5, 5]));
    harness.tell(2, inHall(2, [5, 5], { floor: 1 }));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 1', 'exit dock tag 1-2']);
  });

  describe('The exit tolerance is a distance in space', () => {
    for (const [name, [x, y, z], more, holds] of [
      ['above', [5, 5, 4.9], {}, true],
      ['too far above', [5, 5, 5.1], {}, false],
      ['below', [5, 5, -1.9], {}, true],
      ['diagonally above, within', [11.2, 5, 4.2], {}, true],
      ['diagonally above, beyond', [11.5, 5, 4.5], {}, false],
      ['above a fence without height', [5, 5, 400], { extrusion: null }, true],
      ['next to a fence without height', [11.5, 5, 400], { extrusion: null }, true],
      ['above a plane', [5, 5, 1.5], { extrusion: 0 }, true],
    ] as const) {
      test(`${name}: ${holds ? 'held' : 'not held'}`, async () => {
        const harness = await ShardHarness.open();
        harness.tell(0, zone(), fence(square({ id: 'dock', extrusion: 3, exit_tolerance: 2, ...more })));
        harness.tell(1, inHall(1, [5, 5, 0]));
        harness.tell(2, inHall(2, [x, y, z]));
        assert.deepEqual(brief(harness.takeFenceEvents()).slice(1), holds ? [] : ['exit dock tag 1-2']);
      });
    }

    test('A tag that jitters at the top of a fence does not flap', async () => {
      const harness = await ShardHarness.open();
      harness.tell(0, zone(), fence(square({ id: 'dock', extrusion: 3, exit_tolerance: 2 })));
      for (const [i, z] of [1, 3.1, 2.9, 3.1, 2.9].entries()) harness.tell(i + 1, inHall(i + 1, [5, 5, z]));
      assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 1']);
    });
  });

  describe('The entry tolerance is a distance in space', () => {
    for (const [z, enters] of [
      [0.5, false],
      [1, true],
      [2, true],
      [2.5, false],
    ] as const) {
      test(`${z} m high, in a fence of 3 m: ${enters ? 'deep enough' : 'not deep enough'}`, async () => {
        const harness = await ShardHarness.open();
        harness.tell(0, zone(), fence(square({ id: 'dock', extrusion: 3, entry_tolerance: 1 })));
        harness.tell(1, inHall(1, [5, 5, z]));
        assert.deepEqual(brief(harness.takeFenceEvents()), enters ? ['entry dock tag 1'] : []);
      });
    }
  });

  test('A raised floor moves its fences and the objects above it, but not those above the ellipsoid', async () => {
    const harness = await ShardHarness.open();
    const level = (meters: number) => zone({ ...HALL, wgs84_height: meters });
    harness.tell(0, level(400), fence(square({ id: 'dock', extrusion: 3 })));
    harness.tell(1, inHall(1, [5, 5, 401], { elevation_ref: 'wgs84' }), inHall(1, [5, 5, 1], { provider_id: 'other' }));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 1', 'entry dock other 1']);
    harness.tell(2, level(500));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit dock tag 1-2']);
    harness.tell(3, level(399));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 3']);
  });
});
