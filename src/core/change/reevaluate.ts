import type { ShardContext } from '../context.ts';
import { observeChangedFences } from '../fence/observe_fences.ts';
import { providerSeen, trackableSeen } from '../fence/seen.ts';
import { expireObject } from '../on_deadline.ts';
import { publishProviderCrossings, publishTrackableCrossings } from '../publish.ts';
import { schedule } from '../schedule.ts';
import type { FenceState, ProviderState, TrackableState } from '../state.ts';

/**
 * Shows fences that have changed to every object that has a place, as an observation of its last location made at this
 * moment. Other fences do not hear of it.
 */
export function reevaluate(context: ShardContext, fences: readonly FenceState[], nowMs: number): void {
  const { state } = context;
  for (const provider of state.providers.values()) {
    if (provider.place === undefined) continue;
    fireHeld(context, provider, fences, nowMs);
    const seen = providerSeen(state, provider, provider.place, nowMs, nowMs);
    publishProviderCrossings(context, provider, observeChangedFences(context.index, provider, fences, seen));
    schedule(state, provider);
  }
  for (const trackable of state.trackables.values()) {
    if (trackable.place === undefined) continue;
    fireHeld(context, trackable, fences, nowMs);
    const seen = trackableSeen(trackable, nowMs, nowMs);
    publishTrackableCrossings(context, trackable, observeChangedFences(context.index, trackable, fences, seen));
    schedule(state, trackable);
  }
}

/** An exit that is held since a restart is not undone by another look at its fence. */
function fireHeld(
  context: ShardContext,
  object: ProviderState | TrackableState,
  fences: readonly FenceState[],
  nowMs: number,
): void {
  if (object.holdMs <= nowMs) return;
  if (object.members.some(({ fence }) => fences.includes(fence))) expireObject(context, object, nowMs);
}
