import { nextDeadlineMs } from '../fence/observe_fences.ts';
import type { ShardState, Tracked } from '../state.ts';

/** Wakes an object when its next timer fires, but not before its hold is over. */
export function schedule(state: ShardState, object: Tracked): void {
  const at = nextDeadlineMs(object);
  if (at === Number.POSITIVE_INFINITY) return;
  state.deadlines.push(Math.max(at, object.holdMs), object);
}
