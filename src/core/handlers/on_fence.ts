import { momentOf, type ShardContext } from '../context.ts';
import { deleteFence, setFence } from '../fence/fences.ts';
import type { Item } from '../item.ts';
import { allObjects, type ProviderState, type TrackableState, touch } from '../state.ts';
import { type Relocated, reevaluate } from './reevaluate.ts';
import { retimeOccupants } from './retime.ts';

const NOBODY: Relocated = new Map();

/**
 * A fence is created, changed or deleted. One that covers something new sees every object where it is now, one with
 * other timeouts, delays or tolerances counts them anew; a deleted one takes its memberships and timers with it, without
 * events.
 */
export function onFence(context: ShardContext, item: Item & { kind: 'fence' }): void {
  const { state, index } = context;
  if (item.entity !== undefined) {
    const { fence, isMoved, isRetimed } = setFence(state, index, item.entity);
    if (isMoved) {
      reevaluate(context, { fences: [fence], relocated: NOBODY }, momentOf(context, item), allObjects(state));
    }
    if (!isMoved && isRetimed) retimeOccupants(context, fence, item.receivedMs);
    return;
  }
  for (const object of deleteFence(state, index, item.id)) {
    touch(state, object as ProviderState | TrackableState);
    state.urgent.add(object as ProviderState | TrackableState);
  }
}
