import { carriedBy, namingTrackables } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { type ProviderState, type TrackableState, touch } from '../state.ts';
import { isSame, moveTrackable, reportGone } from './move.ts';
import { fireHeld } from './on_deadline.ts';
import { publishTrackableCrossings } from './publish.ts';
import { type Sources, significantFix } from './significant_fix.ts';

/**
 * A trackable is where its providers' last locations and the rules put it, at every moment. When that changes otherwise
 * than by a location (a provider is unassigned, a location is deleted, a rule is changed) it is observed anew at that
 * moment: it moves, if its fix is another one, and what it carries with it. With no fix left it leaves everything.
 *
 * A trackable that is nowhere yet waits for the next location. So does a provider or parent that was newly named: `sources`
 * are those that count. And what was carried, and is carried no longer, stays where it was put down.
 */
export function observeAnew(
  context: ShardContext,
  trackable: TrackableState,
  moment: Moment,
  sources: Sources = trackable.entity,
): void {
  if (trackable.fix === undefined) return;
  const found = significantFix(context, trackable, moment.nowMs, { sources });
  if (found === undefined) {
    if (!isPutDown(trackable, sources)) loseMotion(context, trackable, moment);
    return;
  }
  if (isSame(found, trackable.fix)) return;
  fireHeld(context, trackable, moment.nowMs);
  // Should this worker die, the next one must not find it where it was.
  context.state.urgent.add(trackable);
  const fix = namingTrackables(context.state, found, trackable);
  moveTrackable(context, trackable, { fix, eventTimeMs: moment.nowMs, moment });
}

/** Whether a trackable without parent is where none of its own providers has brought it. */
function isPutDown({ id, fix }: TrackableState, { parent }: Sources): boolean {
  return parent == null && fix?.trackables.includes(id) !== true;
}

/** A trackable has no fix any more: it leaves its fences and collisions, and its motion is gone. */
export function loseMotion(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  // What is nowhere has no row, or it is another hub's.
  const hasRow = trackable.fix !== undefined || trackable.members.length > 0;
  publishTrackableCrossings(context, trackable, leaveAll(trackable, moment.nowMs));
  reportGone(context, trackable, moment);
  touch(context.state, trackable);
  context.state.fixes.put(trackable, undefined);
  trackable.footprint = undefined;
  trackable.nearby = undefined;
  if (hasRow) forgetRow(context, trackable);
  else context.state.dirty.delete(trackable);
  for (const child of carriedBy(context.state, trackable.id)) observeAnew(context, child, moment);
}

/** An object without a fix has no deadlines and nothing to keep. */
export function forgetRow({ state }: ShardContext, object: ProviderState | TrackableState): void {
  state.deadlines.remove(object);
  state.dirty.delete(object);
  state.urgent.delete(object);
  state.gone.set(`${object.kind} ${object.id}`, [object.kind, object.id]);
}
