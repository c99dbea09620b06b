import type { Trackable } from '../../model/trackable.ts';
import { link, unlink } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import { timingOfObject, UNSET } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { namingTrackables } from '../location/naming_trackables.ts';
import { collides, extentAt, moveTrackable, reportGone } from '../motion/move.ts';
import { significantPlace } from '../motion/significant_place.ts';
import { motionIn } from '../motion/text.ts';
import { fireHeld } from '../on_deadline.ts';
import { compileRules } from '../rules/evaluate.ts';
import type { ShardState, TrackableState } from '../state.ts';
import { loseMotion } from './lose_motion.ts';

const WGS84 = { crs: 'EPSG:4326' };

/**
 * A trackable is created, changed or deleted. What changes acts from its next location on; with `force` at once, and
 * then it moves if its motion would be another one.
 */
export function onTrackable(context: ShardContext, item: Item & { kind: 'trackable' }): void {
  const { state } = context;
  const moment: Moment = { nowMs: item.receivedMs, seq: item.seq };
  const before = state.trackables.get(item.id);
  if (item.entity === undefined) {
    if (before === undefined) return;
    loseMotion(context, before, moment);
    unlink(state, before);
    state.trackables.delete(item.id);
    return;
  }
  const shown = before === undefined || item.force !== true ? undefined : motionIn(before, WGS84, context.zones);
  const trackable = setTrackable(state, item.entity);
  if (!collides(context, trackable)) reportGone(context, trackable, moment);
  if (item.force === true) forceUpdate(context, trackable, shown, moment);
}

/** Adds or replaces a trackable in the state. One that has a place gets its new extent there, without a word. */
export function setTrackable(state: ShardState, entity: Trackable): TrackableState {
  let trackable = state.trackables.get(entity.id);
  if (trackable === undefined) {
    trackable = newTrackable(entity);
    state.trackables.set(entity.id, trackable);
  } else unlink(state, trackable);
  trackable.entity = entity;
  trackable.timing = timingOfObject(entity);
  trackable.rules = entity.locating_rules?.length ? compileRules(entity.locating_rules) : undefined;
  trackable.texts = undefined;
  link(state, trackable);
  if (trackable.place !== undefined) trackable.footprint = extentAt(trackable, trackable.place);
  return trackable;
}

function newTrackable(entity: Trackable): TrackableState {
  return {
    kind: 'trackable',
    id: entity.id,
    entity,
    timing: UNSET,
    rules: undefined,
    place: undefined,
    footprint: undefined,
    members: [],
    nearby: undefined,
    holdMs: 0,
    heapIndex: -1,
    colliding: false,
    texts: undefined,
  };
}

/** `shown` is the text of the motion before the change: what would look the same is not sent again. */
function forceUpdate(
  context: ShardContext,
  trackable: TrackableState,
  shown: string | undefined,
  moment: Moment,
): void {
  const found = significantPlace(context, trackable, moment.nowMs);
  if (found === undefined) return;
  const place = namingTrackables(context.state, found, trackable);
  if (motionIn({ ...trackable, place, footprint: extentAt(trackable, place) }, WGS84, context.zones) === shown) return;
  fireHeld(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { place, keyMs: moment.nowMs, moment });
}
