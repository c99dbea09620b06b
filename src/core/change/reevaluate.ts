import type { ShardContext } from '../context.ts';
import { observeChangedFences } from '../fence/observe_fences.ts';
import { providerSeen, trackableSeen } from '../fence/seen.ts';
import { fireHeld } from '../on_deadline.ts';
import { publishProviderCrossings, publishTrackableCrossings } from '../publish.ts';
import { schedule } from '../schedule.ts';
import type { FenceState, Tracked } from '../state.ts';

/**
 * Shows fences that have changed to every object that has a place, as an observation of its last location made at this
 * moment. Other fences do not hear of it.
 */
export function reevaluate(context: ShardContext, fences: readonly FenceState[], nowMs: number): void {
  const { state } = context;
  for (const provider of state.providers.values()) {
    if (provider.place === undefined) continue;
    if (isMember(provider, fences)) fireHeld(context, provider, nowMs);
    const seen = providerSeen(state, provider, provider.place, nowMs, nowMs);
    publishProviderCrossings(context, provider, observeChangedFences(context.index, provider, fences, seen));
    schedule(state, provider);
  }
  for (const trackable of state.trackables.values()) {
    if (trackable.place === undefined) continue;
    if (isMember(trackable, fences)) fireHeld(context, trackable, nowMs);
    const seen = trackableSeen(trackable, nowMs, nowMs);
    publishTrackableCrossings(context, trackable, observeChangedFences(context.index, trackable, fences, seen));
    schedule(state, trackable);
  }
}

/** An exit that is held since a restart is not undone by another look at its fence. */
function isMember(object: Tracked, fences: readonly FenceState[]): boolean {
  return fences.some(({ occupants }) => occupants.has(object));
}
