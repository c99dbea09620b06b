import { assignedTo, carriedBy } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import type { FenceIndex } from '../fence/fence_index.ts';
import { retimed } from '../fence/membership.ts';
import { areaOf, type Seen, timingIn } from '../fence/observe_fences.ts';
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
import { providerSeen, soleTrackableTiming, trackableSeen } from './seen.ts';

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
  const { fix } = provider;
  if (fix !== undefined) {
    fix.timing = provider.timing;
    touch(state, provider);
    if (fix.holders > 1) touchThoseAt(state, fix);
  }
  retime(context, provider, nowMs);
  for (const trackable of assignedTo(state, provider.id).trackables) retimeAt(context, trackable, provider, nowMs);
}

/** The timing of a fix applies to every object that has it, even one that was put down there by another carrier. */
function touchThoseAt(state: ShardState, fix: Fix): void {
  for (const trackable of state.trackables.values()) {
    if (trackable.fix !== fix) continue;
    // Nobody has observed it.
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

/** The values that an object is timed by have changed. */
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
      ? providerSeen(state, object, fix, nowMs)
      : trackableSeen(object, fix.eventTimeMs, nowMs);
  retimeFences(index, object, seen, only);
  touch(state, object);
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

/**
 * The values that time an object in fences have changed, without an observation: the deadlines of its memberships are
 * counted anew from when each fence saw it last. `seen` is the object as it was seen then, with the values that apply
 * now. With `only`, the values of that fence alone have changed.
 */
function retimeFences(index: FenceIndex, object: Tracked, seen: Seen, only: FenceState | undefined): void {
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
