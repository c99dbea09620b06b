import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FenceIndex, Footprint, Nearby, Region } from '../../src/core/fence/fence_index.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { ReferenceFenceIndex } from '../support/reference_fence_index.ts';
import { anySpot, circle, degrees, footprintAt, point, regionAt } from './places.ts';

const SEED = 20_260_408;

/** Actions on an index: fences are set and deleted, objects move. */
type Step =
  | { readonly kind: 'set'; readonly slot: number; readonly region: Region }
  | { readonly kind: 'delete'; readonly slot: number }
  | { readonly kind: 'move'; readonly object: number; readonly footprint: Footprint };

/** Steps within a few spots, so that fences and objects meet. Between spots, objects jump around the world. */
const steps = fc.array(anySpot, { minLength: 1, maxLength: 3 }).chain((spots) => {
  const slot = fc.nat({ max: 60 });
  const spot = fc.constantFrom(...spots);
  const set = spot.chain((where) => fc.record({ kind: fc.constant('set' as const), slot, region: regionAt(where) }));
  const remove = fc.record({ kind: fc.constant('delete' as const), slot });
  const move = spot.chain((where) =>
    fc.record({
      kind: fc.constant('move' as const),
      object: fc.nat({ max: 2 }),
      footprint: fc.oneof(footprintAt(where), footprintAt(where, 0.01)),
    }),
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: set },
    { weight: 1, arbitrary: remove },
    { weight: 4, arbitrary: move },
  );
  return fc.array(step, { minLength: 5, maxLength: 120, size: 'max' });
});

describe('FenceIndex.near', () => {
  it('misses no touched fence, after any queries and changes', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const index = await openFenceIndex();
        const lasts: (Nearby | undefined)[] = [];
        const slots = new Set<number>();
        for (const step of taken) {
          if (step.kind === 'set') {
            index.set(step.slot, step.region);
            slots.add(step.slot);
          } else if (step.kind === 'delete') {
            index.delete(step.slot);
            slots.delete(step.slot);
          } else {
            const nearby = index.near(lasts[step.object], step.footprint);
            lasts[step.object] = nearby;
            assertComplete(index, { nearby, slots, footprint: step.footprint });
          }
        }
        for (const slot of slots) index.delete(slot);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('misses no fence within the extent of a large object', async () => {
    const index = await openFenceIndex();
    const slots = new Set<number>();
    for (let slot = 0; slot < 1000; slot++) {
      const [dx, dy] = degrees(2 * slot, 2 * slot, 60);
      index.set(slot, slot % 2 === 0 ? circle(8 + dx, 60, 0.5) : circle(8, 60 + dy, 0.5));
      slots.add(slot);
    }
    for (const [east, north] of [
      [1, 0],
      [0, 1],
    ] as const) {
      let last: Nearby | undefined;
      for (let meters = 0; meters < 500; meters++) {
        const [dx, dy] = degrees(meters * east, meters * north, 60);
        const footprint = point(8 + dx, 60 + dy, 30);
        last = index.near(last, footprint);
        assertComplete(index, { nearby: last, slots, footprint });
      }
    }
  });

  it('misses none of many fences while objects of all extents move among them', async () => {
    const index = await openFenceIndex();
    const draws = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { seed: SEED, numRuns: 40_000 });
    let drawn = 0;
    const next = (): number => draws[drawn++ % draws.length] as number;
    const anyFence = (): Region => {
      const [lon, lat] = [179.99 + next() * 0.02, 50 + next() * 0.02];
      return circle(lon > 180 ? lon - 360 : lon, lat, 0.5 + 100 * next() ** 12);
    };
    const slots = new Set<number>();
    for (let slot = 0; slot < 3000; slot++) {
      index.set(slot, anyFence());
      slots.add(slot);
    }
    const objects = [0, 0.5, 30, 700].map((radius) => ({ footprint: point(180, 50.01, radius), last: undefined }));
    for (let step = 0; step < 1500; step++) {
      for (const object of objects as { footprint: Footprint; last: Nearby | undefined }[]) {
        const { lon, lat, radiusMeters } = object.footprint;
        const moved = lon + (next() - 0.5) * 6e-4;
        object.footprint = point(moved > 180 ? moved - 360 : moved, lat + (next() - 0.5) * 2e-4, radiusMeters);
        object.last = index.near(object.last, object.footprint);
        assertComplete(index, { nearby: object.last, slots, footprint: object.footprint });
      }
      // Occasionally one fence changes, and occasionally more than an index can track individually.
      for (let change = step % 100 === 0 ? 200 : step % 10 === 0 ? 1 : 0; change > 0; change--) {
        index.set(Math.floor(next() * 3000), anyFence());
      }
    }
  });
});

describe('FenceIndex', () => {
  it('agrees with brute force on touches, distance and depth', async () => {
    const index = await openFenceIndex();
    const reference = new ReferenceFenceIndex();
    const both = anySpot.chain((spot) => fc.tuple(regionAt(spot), footprintAt(spot), fc.constant(spot.size)));
    fc.assert(
      fc.property(both, ([region, footprint, size]) => {
        index.set(0, region);
        reference.set(0, region);
        const distance = index.distanceMeters(0, footprint);
        const depth = index.depthMeters(0, footprint);
        agree(distance, reference.distanceMeters(0, footprint), size);
        agree(depth, reference.depthMeters(0, footprint), size);
        assert.equal(index.touches(0, footprint), distance === 0);
        assert.equal(depth >= 0, distance === 0);
      }),
      { seed: SEED, numRuns: 700 },
    );
  });

  it('agrees with brute force on distances around the poles and of hundreds of kilometers', async () => {
    const index = await openFenceIndex();
    const reference = new ReferenceFenceIndex();
    const arctic = fc.record({
      lon: fc.double({ min: -180, max: 180, noNaN: true }),
      lat: fc.double({ min: 60, max: 90, noNaN: true }),
      size: fc.double({ min: 1, max: 5.5, noNaN: true }).map((exponent) => 10 ** exponent),
    });
    const both = arctic.chain((spot) => fc.tuple(regionAt(spot), footprintAt(spot)));
    fc.assert(
      fc.property(both, ([region, footprint]) => {
        index.set(0, region);
        reference.set(0, region);
        const [actual, expected] = [index, reference].map((one) => one.distanceMeters(0, footprint)) as [
          number,
          number,
        ];
        assert.ok(Math.abs(actual - expected) <= 5e-6 + 2e-3 * expected, `${actual} instead of ${expected} meters`);
      }),
      { seed: SEED, numRuns: 600 },
    );
  });
});

/** Every touched fence, found by direct tests, is among the candidates, which are in ascending order. */
function assertComplete(
  index: FenceIndex,
  { nearby, slots, footprint }: { nearby: Nearby; slots: ReadonlySet<number>; footprint: Footprint },
): void {
  const candidates = new Set(nearby.slots);
  for (const slot of slots) {
    if (index.touches(slot, footprint)) assert.ok(candidates.has(slot), `fence ${slot} is missed`);
  }
  for (let i = 1; i < nearby.slots.length; i++) {
    assert.ok((nearby.slots[i - 1] as number) < (nearby.slots[i] as number), 'candidates are in order, each once');
  }
}

/** 1 mm per 100 m nearby, and 1 % at hundreds of kilometers. */
function agree(actual: number, expected: number, size: number): void {
  assert.ok(Number.isFinite(actual), `${actual} is not finite`);
  const share = size < 1000 && Math.abs(expected) < 2000 ? 1e-5 : 1e-2;
  const difference = Math.abs(actual - expected);
  assert.ok(difference <= 5e-6 + share * Math.abs(expected), `${actual} instead of ${expected} meters`);
}
