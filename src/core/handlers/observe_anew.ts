import { carriedBy, namingTrackables } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { type ProviderState, type TrackableState, touch } from '../state.ts';
import { isSame, moveTrackable, reportGone } from './move.ts';
import { fireHeld } from './on_deadline.ts';
import { publishTrackableCrossings } from './publish.ts';
import { type Sources, significantFix } from './significant_fix.ts';

/**
 * The locations of its sources and the locating rules decide where a trackable is. When these change without a new location
 * (a provider or a location is deleted, a rule changes) the trackable is observed at that moment. If its significant
 * location is another one, the trackable and all that it carries move there. Returns whether it has moved or left.
 *
 * A trackable without a fix waits for the next location. So does a newly assigned provider or parent: `sources` are those
 * that count. Without any fix among them the trackable leaves all fences and collisions, unless it was put down: a carried
 * trackable stays where its parent left it, and a detached one at its last position if the hub is set so, as long as nobody
 * deletes the location that it is at (`isDeleted`).
 */
export function observeAnew(
  context: ShardContext,
  trackable: TrackableState,
  moment: Moment,
  { sources = trackable.entity, isDeleted = false }: { readonly sources?: Sources; readonly isDeleted?: boolean } = {},
): boolean {
  if (trackable.fix === undefined) return false;
  const found = significantFix(context, trackable, moment.nowMs, { sources });
  if (found === undefined) {
    if ((context.options.detachedStay && !isDeleted) || isPutDown(trackable, sources)) return false;
    loseMotion(context, trackable, moment);
    return true;
  }
  if (isSame(found, trackable.fix)) return false;
  fireHeld(context, trackable, moment.nowMs);
  // Should this worker die, the next one must not find it where it was.
  context.state.urgent.add(trackable);
  const fix = namingTrackables(context.state, found, trackable);
  moveTrackable(context, trackable, { fix, eventTimeMs: moment.eventNowMs, moment });
  return true;
}

/** Whether a trackable without parent is where none of its own providers has brought it. */
function isPutDown({ id, fix }: TrackableState, { parent }: Sources): boolean {
  return parent == null && fix?.trackables.includes(id) !== true;
}

/** A trackable has no fix any more: it leaves its fences and collisions, and its motion is gone. */
export function loseMotion(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  const { fix: lost } = trackable;
  // What is nowhere has no row, or it is another hub's.
  const hasRow = lost !== undefined || trackable.members.length > 0;
  publishTrackableCrossings(context, trackable, leaveAll(trackable, moment.eventNowMs));
  reportGone(context, trackable, moment);
  touch(context.state, trackable);
  context.state.fixes.put(trackable, undefined);
  trackable.footprint = undefined;
  trackable.nearby = undefined;
  if (hasRow) forgetRow(context, trackable);
  else context.state.dirty.delete(trackable);
  if (lost === undefined) return;
  for (const child of carriedBy(context.state, trackable.id)) {
    if (child.fix !== undefined && isSame(child.fix, lost)) observeAnew(context, child, moment, { isDeleted: true });
  }
}

/** An object without a fix has no deadlines and nothing to keep. */
export function forgetRow({ state }: ShardContext, object: ProviderState | TrackableState): void {
  state.deadlines.remove(object);
  state.dirty.delete(object);
  state.urgent.delete(object);
  state.gone.set(`${object.kind} ${object.id}`, [object.kind, object.id]);
}
