import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fence } from '../../src/model/fence.ts';
import type { Location } from '../../src/model/location.ts';
import { HALL, square } from '../support/hall.ts';
import { fence, inHall, ShardBench, zone } from '../support/shard_bench.ts';
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
    name: 'the floor of a location comes before its zone',
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
  { name: 'and ends above it', fence: { extrusion: 3, region: raised(10) }, z: 3, inside: false },
  {
    name: 'the lowest z of a sloped region counts',
    fence: { extrusion: 3, region: raised(4, 5, 6, 5) },
    z: 4,
    inside: true,
  },
  { name: 'an extrusion of 0 is a plane', fence: { extrusion: 0, region: raised(2) }, z: 2, inside: true },
  { name: 'and nothing beside it', fence: { extrusion: 0, region: raised(2) }, z: 2.001, inside: false },
  { name: 'a location without z fits any height', fence: { extrusion: 0, region: raised(2) }, inside: true },
  {
    name: 'heights from something else fit any',
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
  {
    name: 'a round fence has heights as well',
    fence: { region: { type: 'Point', coordinates: [5, 5, 10] }, radius: 2, extrusion: 1 },
    z: 9,
    inside: false,
  },
  {
    name: 'from the z of its centre',
    fence: { region: { type: 'Point', coordinates: [5, 5, 10] }, radius: 2, extrusion: 1 },
    z: 11,
    inside: true,
  },
];

describe('in a fence', () => {
  for (const { name, fence: more, zoneFloor = 0, z, location, inside } of CASES) {
    test(`${name}: ${inside ? 'inside' : 'outside'}`, async () => {
      const bench = await ShardBench.open();
      bench.tell(0, zone({ ...HALL, floor: zoneFloor }), fence(square({ id: 'dock', ...more })));
      bench.tell(1, inHall(1, z === undefined ? [5, 5] : [5, 5, z], location));
      assert.deepEqual(brief(bench.takeFenceEvents()), inside ? ['entry dock tag 1'] : []);
      const spatial = bench.ask(2, { ask: 'fence_providers', id: 'dock', spatial: true });
      assert.deepEqual(spatial, { ids: inside ? ['tag'] : [] });
    });
  }

  test('a member that changes floors is outside of everything: the exit tolerance does not hold it', async () => {
    const bench = await ShardBench.open();
    bench.tell(0, zone(), fence(square({ id: 'dock', floor: 0, exit_tolerance: 100 })));
    bench.tell(1, inHall(1, [5, 5]));
    bench.tell(2, inHall(2, [5, 5], { floor: 1 }));
    assert.deepEqual(brief(bench.takeFenceEvents()), ['entry dock tag 1', 'exit dock tag 1-2']);
  });
});
