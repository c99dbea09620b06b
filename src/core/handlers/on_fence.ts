import { momentOf, type ShardContext } from '../context.ts';
import { deleteFence, setFence } from '../fence/fences.ts';
import type { Item } from '../item.ts';
import { allObjects, type ProviderState, type TrackableState, touch } from '../state.ts';
import { type Relocated, reevaluate } from './reevaluate.ts';
import { retimeOccupants } from './retime.ts';

const NONE: Relocated = new Map();

/**
 * Handles a fence that was created, changed or deleted. If it covers a new region, every object is observed in it at
 * its current position. If its timeouts, delays or tolerances changed, deadlines are recomputed. A deleted fence loses
 * its memberships and timers, without events.
 */
export function onFence(context: ShardContext, item: Item & { kind: 'fence' }): void {
  const { state, index } = context;
  if (item.entity !== undefined) {
    const { fence, isMoved, isRetimed } = setFence(state, index, item.entity);
    if (isMoved) {
      reevaluate(context, { fences: [fence], relocated: NONE }, momentOf(context, item), allObjects(state));
    }
    if (!isMoved && isRetimed) retimeOccupants(context, fence, item.receivedMs);
    return;
  }
  for (const object of deleteFence(state, index, item.id)) {
    touch(state, object as ProviderState | TrackableState);
    state.urgent.add(object as ProviderState | TrackableState);
  }
}
