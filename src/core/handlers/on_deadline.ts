import type { ShardContext } from '../context.ts';
import { expireFences, nextDeadlineMs } from '../fence/observe_fences.ts';
import type { ProviderState, ShardState, TrackableState, Tracked } from '../state.ts';
import { publishProviderCrossings, publishTrackableCrossings } from './publish.ts';
import { providerTiming, trackableTiming } from './fence_observation.ts';

type Woken = ProviderState | TrackableState;

/**
 * Fires all deadlines up to `nowMs`, each at its time, in time order. At equal times, providers come before trackables,
 * each in id order. So the order does not depend on how often the shard was woken.
 */
export function advance(context: ShardContext, nowMs: number): void {
  const { state } = context;
  while (state.deadlines.nextMs <= nowMs) {
    const atMs = state.deadlines.nextMs;
    for (const object of wake(state, atMs)) {
      expireObject(context, object, atMs);
      schedule(state, object);
    }
  }
}

/**
 * Pops the objects whose deadline is due. Other objects popped from the heap have a later deadline than their entry and
 * are scheduled again.
 */
function wake(state: ShardState, atMs: number): Woken[] {
  const woken: Woken[] = [];
  const early: Woken[] = [];
  for (;;) {
    const object = state.deadlines.popDue(atMs) as Woken | undefined;
    if (object === undefined) break;
    if (nextDeadlineMs(object) <= atMs) woken.push(object);
    else early.push(object);
  }
  for (const object of early) schedule(state, object);
  return woken.length > 1 ? woken.sort(inOrder) : woken;
}

/** Orders objects by their actual deadlines, which may be earlier than the time at which suppression ended. */
function inOrder(a: Woken, b: Woken): number {
  const apartMs = nextDeadlineMs(a) - nextDeadlineMs(b);
  if (apartMs !== 0) return apartMs;
  if (a.kind !== b.kind) return a.kind === 'provider' ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/**
 * Fires the suppressed deadlines of an object before an observation. All other deadlines up to `nowMs` have fired
 * already: see `advance`.
 */
// hot
export function fireSuppressed(context: ShardContext, object: Woken, nowMs: number): void {
  if (object.suppressUntilMs > nowMs) expireObject(context, object, nowMs);
}

function expireObject(context: ShardContext, object: Woken, nowMs: number): void {
  if (object.members.length === 0) return;
  const { clockSteps } = context;
  if (object.kind === 'provider') {
    const crossings = expireFences(object, { nowMs, clockSteps }, providerTiming(context.state, object));
    publishProviderCrossings(context, object, crossings);
    return;
  }
  publishTrackableCrossings(context, object, expireFences(object, { nowMs, clockSteps }, trackableTiming(object)));
}

/** Schedules an object for its next deadline, but not before its suppression ends. */
export function schedule(state: ShardState, object: Tracked): void {
  const at = nextDeadlineMs(object);
  if (at === Number.POSITIVE_INFINITY) return;
  state.deadlines.push(Math.max(at, object.suppressUntilMs), object);
}
