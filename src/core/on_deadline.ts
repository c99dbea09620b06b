import type { ShardContext } from './context.ts';
import { expireFences, nextDeadlineMs } from './fence/observe_fences.ts';
import { providerTiming, trackableTiming } from './fence/seen.ts';
import { publishProviderCrossings, publishTrackableCrossings } from './publish.ts';
import { schedule } from './schedule.ts';
import type { ProviderState, TrackableState } from './state.ts';

/** Fires all deadlines up to `nowMs`, each at its time and in the order of time. */
export function advance(context: ShardContext, nowMs: number): void {
  const { state } = context;
  for (;;) {
    const atMs = state.deadlines.nextMs;
    const object = state.deadlines.popDue(nowMs) as ProviderState | TrackableState | undefined;
    if (object === undefined) return;
    // The entry may be older than the object's deadlines, which have moved on since: then it only waits again.
    const dueMs = nextDeadlineMs(object);
    if (Math.max(dueMs, object.holdMs) <= atMs) expireObject(context, object, dueMs);
    schedule(state, object);
  }
}

/** Fires the deadlines of one object up to `nowMs`: before it is observed, held ones too. */
export function expireObject(context: ShardContext, object: ProviderState | TrackableState, nowMs: number): void {
  if (object.members.length === 0) return;
  if (object.kind === 'provider') {
    const crossings = expireFences(object, nowMs, providerTiming(context.state, object));
    publishProviderCrossings(context, object, crossings);
    return;
  }
  publishTrackableCrossings(context, object, expireFences(object, nowMs, trackableTiming(context.state, object)));
}
