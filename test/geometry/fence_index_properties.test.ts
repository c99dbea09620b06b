import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FenceIndex, Footprint, Nearby, Region } from '../../src/core/fence/fence_index.ts';
import { openFenceIndex } from '../../wasm/fence_index.ts';
import { ReferenceFenceIndex } from '../support/reference_fence_index.ts';
import { anySpot, footprintAt, regionAt } from './places.ts';

const SEED = 20_260_408;

/** What happens to an index: fences come and go, objects move. */
type Step =
  | { readonly kind: 'set'; readonly slot: number; readonly region: Region }
  | { readonly kind: 'delete'; readonly slot: number }
  | { readonly kind: 'move'; readonly object: number; readonly footprint: Footprint };

/** Steps within a few spots, so that fences and objects meet; from spot to spot objects jump around the world. */
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
  it('never misses a fence that is touched, whatever was asked and changed before', async () => {
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

  it('never misses one of many fences while objects wander among them', async () => {
    const index = await openFenceIndex();
    const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { seed: SEED, numRuns: 40_000 });
    let drawn = 0;
    const next = (): number => random[drawn++ % random.length] as number;
    const slots = new Set<number>();
    for (let slot = 0; slot < 3000; slot++) {
      const [lon, lat] = [8 + next() * 0.02, 50 + next() * 0.02];
      index.set(slot, { kind: 'circle', lon, lat, radiusMetres: 0.5 + 100 * next() ** 4 });
      slots.add(slot);
    }
    let last: Nearby | undefined;
    const footprint = { lon: 8.01, lat: 50.01, radiusMetres: 0, ring: undefined, reachMetres: 0 };
    for (let step = 0; step < 3000; step++) {
      footprint.lon += (next() - 0.5) * 1e-4;
      footprint.lat += (next() - 0.5) * 1e-4;
      last = index.near(last, footprint);
      assertComplete(index, { nearby: last, slots, footprint });
      if (step % 10 !== 0) continue;
      const slot = Math.floor(next() * 3000);
      index.set(slot, { kind: 'circle', lon: 8 + next() * 0.02, lat: 50 + next() * 0.02, radiusMetres: 30 });
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
        const distance = index.distanceMetres(0, footprint);
        const depth = index.depthMetres(0, footprint);
        agree(distance, reference.distanceMetres(0, footprint), size);
        agree(depth, reference.depthMetres(0, footprint), size);
        assert.equal(index.touches(0, footprint), distance === 0);
        assert.equal(depth >= 0, distance === 0);
      }),
      { seed: SEED, numRuns: 700 },
    );
  });
});

/** Every fence that is touched, tested directly, is among the candidates, which are in ascending order. */
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

/** 1 mm per 100 m nearby, 1 % where hundreds of kilometres are at play. */
function agree(actual: number, expected: number, size: number): void {
  assert.ok(Number.isFinite(actual), `${actual} is not finite`);
  const share = size < 1000 && Math.abs(expected) < 2000 ? 1e-5 : 1e-2;
  const difference = Math.abs(actual - expected);
  assert.ok(difference <= 5e-6 + share * Math.abs(expected), `${actual} instead of ${expected} metres`);
}
