import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { openGeos } from '../../wasm/geos.ts';
import { box, point } from './places.ts';

describe('FenceIndex', () => {
  it('frees the memory of fences that are replaced or deleted', async () => {
    const geos = await openGeos();
    const index = await openFenceIndex();
    const alive = geos.preparedCount();
    const fill = (count: number, west: number): void => {
      for (let slot = 0; slot < count; slot++) {
        const lon = west + slot * 1e-4;
        index.set(slot, box(lon, 50, lon + 5e-5, 50.001));
        assert.equal(index.touches(slot, point(lon + 1e-5, 50.0005)), true);
      }
    };
    fill(300, 8);
    fill(300, 9);
    assert.equal(geos.preparedCount() - alive, 300);
    const bytes = geos.memoryBytes();
    for (let round = 0; round < 60; round++) fill(300, 8 + (round % 7));
    assert.equal(geos.preparedCount() - alive, 300);
    assert.equal(geos.memoryBytes(), bytes);
    for (let slot = 0; slot < 300; slot++) index.delete(slot);
    assert.equal(geos.preparedCount(), alive);
    assert.deepEqual([...index.near(undefined, point(8, 50)).slots], []);
  });
});

describe('Geos', () => {
  it('retains no memory of inputs that it explains, intersects or rejects', async () => {
    const geos = await openGeos();
    const bowtie = [Float64Array.from([0, 0, 1, 1, 1, 0, 0, 1, 0, 0])];
    const ring = Float64Array.from([0, 0, 2, 0, 2, 2, 0, 2, 0, 0]);
    const open = Float64Array.from([0, 0, 1, 0, 1, 1]);
    const square = geos.prepare([ring]);
    const once = (): void => {
      assert.deepEqual(geos.whyInvalid(bowtie), { reason: 'Self-intersection', x: 0.5, y: 0.5 });
      assert.equal(geos.whyInvalid([ring]), undefined);
      assert.equal(geos.intersects(square, ring, 1), true);
      assert.equal(geos.intersects(square, ring, 3), false);
      assert.throws(() => geos.prepare([ring, open]), /^Error: Cannot make a ring of 3 positions: /);
    };
    for (let round = 0; round < 100; round++) once();
    const bytes = geos.memoryBytes();
    for (let round = 0; round < 20_000; round++) once();
    assert.equal(geos.memoryBytes(), bytes);
    geos.destroy(square);
  });
});
