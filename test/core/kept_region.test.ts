import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withCompactRegion } from '../../src/core/fence/compact_polygon.ts';
import { compileRegion } from '../../src/core/fence/region.ts';
import { verticalOf } from '../../src/core/fence/vertical.ts';
import type { StoredFence } from '../../src/model/fence.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';

function fenceOf(positions: number[][]): StoredFence {
  return { id: 'f', name: 'n', region: { type: 'Polygon', coordinates: [positions, positions.slice(0, 4)] } } as never;
}
const positionsOf = (count: number, size: number) =>
  Array.from({ length: count }, (_, i) => [i / 3, -i / 2 - 1, 1e-7 * i].slice(0, size));

for (const [name, positions, isKept] of [
  ['large', positionsOf(2000, 2), true],
  ['large, with heights', positionsOf(2000, 3), true],
  ['small', positionsOf(10, 2), false],
  ['large, with some heights', [...positionsOf(2000, 2), [1, 2, 3]], false],
] as const) {
  test(`A polygon that is ${name} is parsed and serialized unchanged`, () => {
    const fence = fenceOf(positions as number[][]);
    const kept = withCompactRegion(fence);
    assert.equal(kept !== fence, isKept);
    assert.equal(JSON.stringify(kept), JSON.stringify(fence));
    assert.deepEqual((kept.region as { coordinates: unknown }).coordinates, fence.region.coordinates);
    assert.equal(withCompactRegion(kept), kept);
    // A structured clone, as sent to a shard, compiles to the same region.
    const item = { kind: 'fence', seq: 1, receivedMs: 2, id: 'f', entity: kept } as const;
    const [crossed] = unpackBatch(packBatch({ nowMs: 2, flushBudget: 0, items: [item] })).items;
    assert.ok(crossed?.kind === 'fence' && crossed.entity !== undefined);
    assert.equal(JSON.stringify(crossed.entity), JSON.stringify(fence));
    assert.equal(crossed.entity.region.constructor, kept.region.constructor);
    assert.deepEqual(compileRegion(crossed.entity, undefined), compileRegion(fence, undefined));
    assert.deepEqual(verticalOf(crossed.entity, undefined), verticalOf(fence, undefined));
  });
}
