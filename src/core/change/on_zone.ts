import type { ShardContext } from '../context.ts';
import { fencesIn, setFence } from '../fence/fences.ts';
import type { Item } from '../item.ts';
import { reevaluate } from './reevaluate.ts';

/** A zone is created, changed or deleted: fences given in its plane move with it, all in one observation. */
export function onZone(context: ShardContext, item: Item & { kind: 'zone' }): void {
  const { state, index } = context;
  const before = state.zones.set(item.id, item.entity);
  const changed = fencesIn(state, [before, item.entity])
    .map((entity) => setFence(state, index, entity))
    .filter((fence) => fence !== undefined);
  if (changed.length > 0) reevaluate(context, changed, item.receivedMs);
}
