import assert from 'node:assert/strict';
import { DeadlineHeap } from '../../src/core/deadline_heap.ts';
import { UntrackedRegions } from '../../src/core/fence/untracked.ts';
import { FixSlab } from '../../src/core/location/fix_slab.ts';
import type { ShardState } from '../../src/core/state.ts';
import { Followers } from '../../src/core/zone/following.ts';
import { ZoneTable } from '../../src/core/zone/zone_table.ts';

/** Names and sizes of all non-empty collections in a shard's state. */
export function leftovers(state: ShardState): string[] {
  return Object.entries(state).flatMap(([name, value]) => {
    const size = sizeOf(name, value);
    return size === 0 ? [] : [`${name}: ${size}`];
  });
}

/** Members limited by the maximum number of fences at one time, or of fixed size. */
const BOUNDED = ['freeSlots', 'metInObservation', 'near', 'observations', 'isFiltering', 'filterVersion'];

function sizeOf(name: string, value: unknown): number {
  if (BOUNDED.includes(name) || typeof value === 'function') return 0;
  if (value instanceof Map || value instanceof Set) return value.size;
  if (value instanceof DeadlineHeap || value instanceof ZoneTable || value instanceof FixSlab) return value.size;
  if (value instanceof UntrackedRegions) return value.size;
  if (name === 'crossing') {
    const { fences, gates } = value as ShardState['crossing'];
    return fences + gates.size;
  }
  if (name === 'changed') return Object.values(value as ShardState['changed']).flat().length;
  if (value instanceof Followers) return value.any ? 1 : 0;
  if (Array.isArray(value)) return value.filter((element) => element !== undefined).length;
  assert.fail(`The state has a member "${name}" of unknown size`);
}
