import { carriedBy, namingTrackables } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { type ProviderState, type TrackableState, touch } from '../state.ts';
import { isFused } from './fuse.ts';
import { isIgnored, isSameLocation, moveTrackable, reportRemoved } from './move.ts';
import { fireSuppressed } from './on_deadline.ts';
import { publishTrackableCrossings } from './publish.ts';
import { type Sources, significantFix } from './significant_fix.ts';

/**
 * Re-evaluates the position of a trackable after its sources or the locating rules have changed without a new location:
 * a provider or a location was deleted, or a rule changed. If another location is now significant, the trackable moves
 * there with the trackables that it carries. Returns whether it has moved or left.
 *
 * Only `sources` count: a newly assigned provider or parent counts from its next location. A trackable without a fix
 * stays without one. If no source has a fix, the trackable leaves all fences and collisions, with two exceptions. A
 * carried trackable stays where its parent left it. A detached trackable stays at its last position, if the hub is
 * configured so, until that location is deleted (`isDeleted`).
 */
export function reevaluateTrackable(
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
  if (isSameLocation(found, trackable.fix) || isIgnored(found, trackable.fix)) return false;
  // Its next location, of any provider, continues its track.
  if (isFused(context, trackable)) return false;
  fireSuppressed(context, trackable, moment.nowMs);
  // If this worker dies, its replacement must not find the trackable at its old position.
  context.state.urgent.add(trackable);
  const fix = namingTrackables(context.state, found, trackable);
  moveTrackable(context, trackable, { fix, eventTimeMs: moment.eventNowMs, moment });
  return true;
}

/**
 * Whether a former parent left the trackable at its position: it has no parent, and none of its own providers brought
 * it there.
 */
function isPutDown({ id, fix }: TrackableState, { parent }: Sources): boolean {
  return parent == null && fix?.trackables.includes(id) !== true;
}

/** Removes the fix of a trackable: it leaves its fences and collisions, and its motion is deleted. */
export function loseMotion(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  const { fix: lost } = trackable;
  // An object without a position has no row, or its row belongs to another hub.
  const hasRow = lost !== undefined || trackable.members.length > 0;
  publishTrackableCrossings(context, trackable, leaveAll(trackable, moment.eventNowMs));
  reportRemoved(context, trackable, moment);
  touch(context.state, trackable);
  context.state.fixes.put(trackable, undefined);
  trackable.footprint = undefined;
  trackable.nearby = undefined;
  if (hasRow) forgetRow(context, trackable);
  else context.state.dirty.delete(trackable);
  if (lost === undefined) return;
  for (const child of carriedBy(context.state, trackable.id)) {
    if (child.fix !== undefined && isSameLocation(child.fix, lost))
      reevaluateTrackable(context, child, moment, { isDeleted: true });
  }
}

/** Cancels deadlines and rows of an object without a fix, and marks its row for deletion. */
export function forgetRow({ state }: ShardContext, object: ProviderState | TrackableState): void {
  state.deadlines.remove(object);
  state.dirty.delete(object);
  state.urgent.delete(object);
  state.gone.set(`${object.kind} ${object.id}`, [object.kind, object.id]);
}
