import { assignedTo, carriedBy } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import { retimeFences } from '../fence/retime_fences.ts';
import { providerSeen, soleTrackableTiming, trackableSeen } from '../fence/seen.ts';
import { type OwnTiming, sameTiming } from '../fence/timing.ts';
import type { FenceState, ProviderState, ShardState, TrackableState } from '../state.ts';
import { schedule } from './schedule.ts';

/**
 * A changed timeout, delay or tolerance acts at once, also on those that are silent: deadlines are counted anew from the
 * last observation, and those that are overdue by then fire at the moment of the change.
 */

/** The values of a fence have changed. */
export function retimeOccupants(context: ShardContext, fence: FenceState, nowMs: number): void {
  for (const object of fence.occupants) retime(context, object as ProviderState | TrackableState, nowMs, fence);
}

/** The values of a provider have changed: they time the provider, and the trackables that are where it is. */
export function retimeProvider(context: ShardContext, provider: ProviderState, nowMs: number): void {
  const { state } = context;
  if (provider.place !== undefined) provider.place.timing = provider.timing;
  retime(context, provider, nowMs);
  for (const trackable of assignedTo(state, provider.id).trackables) retimeAt(context, trackable, provider, nowMs);
}

function retimeAt(context: ShardContext, trackable: TrackableState, provider: ProviderState, nowMs: number): void {
  const { place } = trackable;
  if (place?.providerId !== provider.id) return;
  place.timing = provider.timing;
  retime(context, trackable, nowMs);
  for (const child of carriedBy(context.state, trackable.id)) retimeAt(context, child, provider, nowMs);
}

/** The values that an object is timed by have changed. */
export function retime(
  context: ShardContext,
  object: ProviderState | TrackableState,
  nowMs: number,
  only?: FenceState,
): void {
  const { state, index } = context;
  const { place } = object;
  if (place === undefined || object.members.length === 0) return;
  const seen =
    object.kind === 'provider' ? providerSeen(state, object, place, nowMs) : trackableSeen(object, nowMs, nowMs);
  retimeFences(index, object, seen, only);
  schedule(state, object);
}

/** What the trackables of some providers have these be timed by, before assignments or trackables change. */
export type Chains = ReadonlyMap<ProviderState, OwnTiming>;

/** Takes note of what times the providers now. */
export function chainsOf(state: ShardState, providerIds: Iterable<string>): Chains {
  const chains = new Map<ProviderState, OwnTiming>();
  for (const id of providerIds) {
    const provider = state.providers.get(id);
    if (provider !== undefined) chains.set(provider, soleTrackableTiming(state, id));
  }
  return chains;
}

/** Retimes the providers that are timed by something else than before. */
export function retimeChanged(context: ShardContext, before: Chains, nowMs: number): void {
  for (const [provider, timing] of before) {
    if (!sameTiming(timing, soleTrackableTiming(context.state, provider.id))) retime(context, provider, nowMs);
  }
}
