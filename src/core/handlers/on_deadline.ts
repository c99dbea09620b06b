import type { ShardContext } from '../context.ts';
import { expireFences, nextDeadlineMs } from '../fence/observe_fences.ts';
import type { ProviderState, ShardState, TrackableState, Tracked } from '../state.ts';
import { publishProviderCrossings, publishTrackableCrossings } from './publish.ts';
import { providerTiming, trackableTiming } from './seen.ts';

type Woken = ProviderState | TrackableState;

/**
 * Fires all deadlines up to `nowMs`, each at its time, in the order of time. Deadlines of one time fire for providers
 * before trackables, each in id order, so that the order is the same however often the shard was woken before.
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

/** Takes out the objects that have a deadline at the time. Entries of others are older than their deadlines. */
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

/** Held deadlines are longer due, and fire in their own order. */
function inOrder(a: Woken, b: Woken): number {
  const apartMs = nextDeadlineMs(a) - nextDeadlineMs(b);
  if (apartMs !== 0) return apartMs;
  if (a.kind !== b.kind) return a.kind === 'provider' ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/**
 * Fires the held deadlines of an object that is about to be observed. All others up to `nowMs` have fired by then: see
 * `advance`.
 */
// hot
export function fireHeld(context: ShardContext, object: Woken, nowMs: number): void {
  if (object.suppressUntilMs > nowMs) expireObject(context, object, nowMs);
}

function expireObject(context: ShardContext, object: Woken, nowMs: number): void {
  if (object.members.length === 0) return;
  const { setBacks } = context;
  if (object.kind === 'provider') {
    const crossings = expireFences(object, { nowMs, setBacks }, providerTiming(context.state, object));
    publishProviderCrossings(context, object, crossings);
    return;
  }
  publishTrackableCrossings(context, object, expireFences(object, { nowMs, setBacks }, trackableTiming(object)));
}

/** Wakes an object when its next timer fires, but not before its hold is over. */
export function schedule(state: ShardState, object: Tracked): void {
  const at = nextDeadlineMs(object);
  if (at === Number.POSITIVE_INFINITY) return;
  state.deadlines.push(Math.max(at, object.suppressUntilMs), object);
}
