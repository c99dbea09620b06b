import type { Zone } from '../../model/zone.ts';
import type { ShardContext } from '../context.ts';
import { fencesIn } from '../fence/fences.ts';
import type { Item } from '../item.ts';
import type { ShardState } from '../state.ts';
import { placeFence } from './on_fence.ts';

/** A zone is created, changed or deleted: fences given in its plane move with it. */
export function onZone(context: ShardContext, item: Item & { kind: 'zone' }): void {
  const { state } = context;
  const before = state.zones.get(item.id);
  setZone(state, item.id, item.entity);
  for (const fence of fencesIn(state, [before, item.entity])) placeFence(context, fence, item.receivedMs);
}

function setZone(state: ShardState, id: string, zone: Zone | undefined): void {
  const before = state.zones.get(id);
  if (before?.foreign_id != null && state.zonesByForeignId.get(before.foreign_id) === before) {
    state.zonesByForeignId.delete(before.foreign_id);
  }
  if (zone === undefined) {
    state.zones.delete(id);
    return;
  }
  state.zones.set(id, zone);
  if (zone.foreign_id != null) state.zonesByForeignId.set(zone.foreign_id, zone);
}
