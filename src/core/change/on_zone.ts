import type { Zone } from '../../model/zone.ts';
import type { ShardContext } from '../context.ts';
import { fencesIn, setFence } from '../fence/fences.ts';
import type { Item } from '../item.ts';
import { keepsPlane } from '../zone/zone_transform.ts';
import { reevaluate } from './reevaluate.ts';

/** A zone is created, changed or deleted: fences given in its plane move with it, all in one observation. */
export function onZone(context: ShardContext, item: Item & { kind: 'zone' }): void {
  const { state, index } = context;
  const before = state.zones.set(item.id, item.entity);
  state.followers.change(before, item.entity);
  if (leavesFences(before, item.entity)) return;
  const changed = fencesIn(state, [before, item.entity])
    .map((entity) => setFence(state, index, entity))
    .filter((fence) => fence !== undefined);
  if (changed.length > 0) reevaluate(context, changed, item.receivedMs);
}

/** Whether fences that name the zone are where they were: all that has changed is its name, say, or its position. */
function leavesFences(before: Zone | undefined, after: Zone | undefined): boolean {
  if (before === undefined || after === undefined || before.foreign_id !== after.foreign_id) return false;
  return keepsPlane(before, after);
}
