import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FenceIndex } from '../../src/core/fence/fence_index.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { ReferenceFenceIndex } from '../support/reference_fence_index.ts';
import { at, boxAt, CASES, ten } from './fence_cases.ts';
import { circle, degrees, point } from './places.ts';

const IMPLEMENTATIONS: readonly [name: string, open: () => Promise<FenceIndex>][] = [
  ['FenceIndex', openFenceIndex],
  ['ReferenceFenceIndex', async () => new ReferenceFenceIndex()],
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
        close(index.distanceMeters(3, footprint), distance);
        if (distance === 0) assert.deepEqual([...index.near(undefined, footprint).slots], [3]);
        if (depth !== undefined) close(index.depthMeters(3, footprint), depth);
      });
    }

    it('counts the edge of a circle as inside, to the micrometer', async () => {
      const index = await open();
      const [lon, lat] = at(400, 300);
      index.set(0, circle(8, 50, 1));
      const meters = index.distanceMeters(0, point(lon, lat)) + 1;
      index.set(0, circle(8, 50, meters - 3e-7));
      assert.equal(index.touches(0, point(lon, lat)), true);
      index.set(0, circle(8, 50, meters - 3e-6));
      assert.equal(index.touches(0, point(lon, lat)), false);
    });

    it('drops deleted fences and updates replaced ones', async () => {
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

    it('finds a new fence after many distant changes', async () => {
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

    it('is empty at slots that were never set', async () => {
      const index = await open();
      assert.equal(index.touches(5, point(8, 50)), false);
      assert.equal(index.distanceMeters(5, point(8, 50)), Number.POSITIVE_INFINITY);
      assert.equal(index.depthMeters(5, point(8, 50)), Number.NEGATIVE_INFINITY);
      assert.deepEqual([...index.near(undefined, point(8, 50)).slots], []);
    });
  });
}

describe('FenceIndex', () => {
  it('returns the cached result while an object stays nearby and no fence nearby changes', async () => {
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
    const meters = reference.distanceMeters(0, far) + 1;
    for (const [more, touches] of [
      [1e-5, true],
      [-1e-5, false],
    ] as const) {
      index.set(0, circle(8, 50, meters + more));
      assert.equal(index.touches(0, far), touches);
    }
  });
});

function close(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= 1e-3 + Math.abs(expected) * 1e-4, `${actual} instead of ${expected} meters`);
}
