import type { Fence } from '../../model/fence.ts';
import type { ShardContext } from '../context.ts';
import { deleteFence, setFence } from '../fence/fences.ts';
import { observeOneFence } from '../fence/observe_fences.ts';
import { providerSeen, trackableSeen } from '../fence/seen.ts';
import type { Item } from '../item.ts';
import { publishProviderCrossings, publishTrackableCrossings } from '../publish.ts';
import { schedule } from '../schedule.ts';
import type { FenceState, ProviderState, TrackableState } from '../state.ts';

/**
 * A fence is created, changed or deleted. A new or changed one sees every object where it is now, as an observation
 * made at this moment; a deleted one takes its memberships and timers with it, without events.
 */
export function onFence(context: ShardContext, item: Item & { kind: 'fence' }): void {
  const { state, index } = context;
  if (item.entity !== undefined) {
    placeFence(context, item.entity, item.receivedMs);
    return;
  }
  for (const object of deleteFence(state, index, item.id)) {
    state.dirty.add(object as ProviderState | TrackableState);
    state.urgent.add(object as ProviderState | TrackableState);
  }
}

/** Adds or replaces a fence and shows it every object that has a place. */
export function placeFence(context: ShardContext, entity: Fence, nowMs: number): void {
  const { state, index } = context;
  const fence = setFence(state, index, entity);
  for (const provider of state.providers.values()) reevaluateProvider(context, fence, provider, nowMs);
  for (const trackable of state.trackables.values()) reevaluateTrackable(context, fence, trackable, nowMs);
}

function reevaluateProvider(context: ShardContext, fence: FenceState, provider: ProviderState, nowMs: number): void {
  if (provider.place === undefined) return;
  const seen = providerSeen(context.state, provider, provider.place, nowMs, nowMs);
  publishProviderCrossings(context, provider, observeOneFence(context, provider, fence, seen));
  schedule(context.state, provider);
}

function reevaluateTrackable(context: ShardContext, fence: FenceState, trackable: TrackableState, nowMs: number): void {
  if (trackable.place === undefined) return;
  const seen = trackableSeen(context.state, trackable, nowMs, nowMs);
  publishTrackableCrossings(context, trackable, observeOneFence(context, trackable, fence, seen));
  schedule(context.state, trackable);
}
