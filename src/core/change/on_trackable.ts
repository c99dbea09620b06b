import type { Trackable } from '../../model/trackable.ts';
import type { Moment, ShardContext } from '../context.ts';
import { timingOfObject } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { footprintOf } from '../motion/footprint.ts';
import { collides, moveTrackable, reportGone } from '../motion/move.ts';
import { significantPlace } from '../motion/significant_place.ts';
import { motionIn } from '../motion/text.ts';
import { expireObject } from '../on_deadline.ts';
import { compileRules } from '../rules/evaluate.ts';
import type { ShardState, TrackableState } from '../state.ts';
import { loseMotion } from './on_provider.ts';

/**
 * A trackable is created, changed or deleted. What changes acts from its next location on; with `force` at once, and
 * then it moves if its motion would be another one.
 */
export function onTrackable(context: ShardContext, item: Item & { kind: 'trackable' }): void {
  const { state } = context;
  const moment: Moment = { nowMs: item.receivedMs, seq: item.seq };
  if (item.entity === undefined) {
    const trackable = state.trackables.get(item.id);
    if (trackable === undefined) return;
    loseMotion(context, trackable, moment);
    state.trackables.delete(item.id);
    assign(state, trackable, []);
    return;
  }
  const before = state.trackables.get(item.id);
  const shown = before === undefined || item.force !== true ? undefined : motionIn(before, WGS84, context.zones);
  const trackable = setTrackable(state, item.entity);
  if (!collides(context, trackable)) reportGone(context, trackable, moment);
  if (item.force === true) forceUpdate(context, trackable, shown, moment);
}

/** Adds or replaces a trackable in the state, with its assignments. */
export function setTrackable(state: ShardState, entity: Trackable): TrackableState {
  let trackable = state.trackables.get(entity.id);
  if (trackable === undefined) {
    trackable = newTrackable(entity);
    state.trackables.set(entity.id, trackable);
  }
  assign(state, trackable, entity.location_providers ?? []);
  trackable.entity = entity;
  trackable.timing = timingOfObject(entity);
  trackable.rules = entity.locating_rules?.length ? compileRules(entity.locating_rules) : undefined;
  trackable.texts = undefined;
  return trackable;
}

function newTrackable(entity: Trackable): TrackableState {
  return {
    kind: 'trackable',
    id: entity.id,
    entity: { id: entity.id, type: entity.type },
    timing: timingOfObject(undefined),
    rules: undefined,
    place: undefined,
    footprint: undefined,
    members: [],
    nearby: undefined,
    seenMs: 0,
    holdMs: 0,
    heapIndex: -1,
    colliding: false,
    texts: undefined,
  };
}

/** Assigns the trackable to exactly these providers. Each provider's trackables stay in id order. */
function assign(state: ShardState, trackable: TrackableState, providers: readonly string[]): void {
  for (const id of trackable.entity.location_providers ?? []) {
    const rest = (state.assigned.get(id) ?? []).filter((other) => other !== trackable);
    if (rest.length === 0) state.assigned.delete(id);
    else state.assigned.set(id, rest);
  }
  for (const id of providers) {
    const list = [...(state.assigned.get(id) ?? []), trackable];
    state.assigned.set(
      id,
      list.sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }
}

const WGS84 = { crs: 'EPSG:4326' };

/** `shown` is the text of the motion before the change: what would look the same is not sent again. */
function forceUpdate(
  context: ShardContext,
  trackable: TrackableState,
  shown: string | undefined,
  moment: Moment,
): void {
  const place = significantPlace(context, trackable, moment.nowMs);
  if (place === undefined) return;
  const footprint = footprintOf(trackable.entity, place.lon, place.lat, place.location.course ?? undefined);
  if (motionIn({ ...trackable, place, footprint }, WGS84, context.zones) === shown) return;
  expireObject(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { place, keyMs: moment.nowMs, moment });
}
