import { assignedTo, carriedBy } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import type { FenceIndex } from '../fence/fence_index.ts';
import { retimed } from '../fence/membership.ts';
import { areaOf, type FenceObservation, timingIn } from '../fence/observe_fences.ts';
import { type OwnTiming, sameTiming } from '../fence/timing.ts';
import type { Fix } from '../location/fix.ts';
import {
  CHANGED_MEMBERS,
  type FenceState,
  type ProviderState,
  type ShardState,
  type TrackableState,
  type Tracked,
  touch,
} from '../state.ts';
import { schedule } from './on_deadline.ts';
import { observeProvider, soleTrackableTiming, observeTrackable } from './fence_observation.ts';

/**
 * Applies changed timeouts, delays and tolerances immediately, even to silent objects: deadlines are recomputed from
 * the last observation, and deadlines already past fire at the moment of the change.
 */

/** Recomputes deadlines after the values of a fence have changed. */
export function retimeOccupants(context: ShardContext, fence: FenceState, nowMs: number): void {
  for (const object of fence.occupants) retime(context, object as ProviderState | TrackableState, nowMs, fence);
}

/**
 * Recomputes deadlines after the values of a provider have changed: its own, and those of the trackables at its
 * position.
 */
export function retimeProvider(context: ShardContext, provider: ProviderState, nowMs: number): void {
  const { state } = context;
  const { fix } = provider;
  if (fix !== undefined) {
    fix.timing = provider.timing;
    touch(state, provider);
    if (fix.holders > 1) touchHolders(state, fix);
  }
  retime(context, provider, nowMs);
  for (const trackable of assignedTo(state, provider.id).trackables) retimeAt(context, trackable, provider, nowMs);
}

/**
 * Marks all objects that hold a fix: its timing applies to each of them, even to a trackable left there by its former
 * carrier.
 */
function touchHolders(state: ShardState, fix: Fix): void {
  for (const trackable of state.trackables.values()) {
    if (trackable.fix !== fix) continue;
    // Not an observation.
    trackable.changes |= CHANGED_MEMBERS;
    touch(state, trackable);
  }
}

function retimeAt(context: ShardContext, trackable: TrackableState, provider: ProviderState, nowMs: number): void {
  const { fix } = trackable;
  if (fix?.providerId !== provider.id) return;
  fix.timing = provider.timing;
  touch(context.state, trackable);
  retime(context, trackable, nowMs);
  for (const child of carriedBy(context.state, trackable.id)) retimeAt(context, child, provider, nowMs);
}

/** Recomputes the deadlines of an object after its timing values have changed. */
export function retime(
  context: ShardContext,
  object: ProviderState | TrackableState,
  nowMs: number,
  only?: FenceState,
): void {
  const { state, index } = context;
  const { fix } = object;
  if (fix === undefined || object.members.length === 0) return;
  const seen =
    object.kind === 'provider'
      ? observeProvider(state, object, fix, nowMs)
      : observeTrackable(object, fix.eventTimeMs, nowMs);
  retimeFences(index, object, seen, only);
  touch(state, object);
  schedule(state, object);
}

/** Timing that providers inherit from their trackables, recorded before assignments or trackables change. */
export type InheritedTimings = ReadonlyMap<ProviderState, OwnTiming>;

/** Records the timing that the providers inherit now. */
export function inheritedTimings(state: ShardState, providerIds: Iterable<string>): InheritedTimings {
  const chains = new Map<ProviderState, OwnTiming>();
  for (const id of providerIds) {
    const provider = state.providers.get(id);
    if (provider !== undefined) chains.set(provider, soleTrackableTiming(state, id));
  }
  return chains;
}

/** Recomputes deadlines of the providers whose inherited timing has changed. */
export function retimeChanged(context: ShardContext, before: InheritedTimings, nowMs: number): void {
  for (const [provider, timing] of before) {
    if (!sameTiming(timing, soleTrackableTiming(context.state, provider.id))) retime(context, provider, nowMs);
  }
}

/**
 * Recomputes the deadlines of an object's memberships from the last observation in each fence, after timing values have
 * changed. `seen` is that observation with the current timing values. With `only`, just the values of that fence have
 * changed.
 */
function retimeFences(index: FenceIndex, object: Tracked, seen: FenceObservation, only: FenceState | undefined): void {
  object.changes |= CHANGED_MEMBERS;
  object.members = object.members.filter((member) => {
    const { fence, membership, seenMs } = member;
    if (only !== undefined && fence !== only) return true;
    const timing = timingIn(fence, seen.timing);
    const area = areaOf(index, fence, seen, timing);
    const next = retimed(membership, { area, timing, seenMs, nowMs: seen.nowMs });
    if (next === undefined) {
      fence.occupants.delete(object);
      return false;
    }
    member.membership = next;
    return true;
  });
}
