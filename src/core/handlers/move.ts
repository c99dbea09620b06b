import { carriedBy } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import type { Footprint } from '../fence/fence_index.ts';
import { observeFences } from '../fence/observe_fences.ts';
import { trackableSeen } from '../fence/seen.ts';
import type { Item } from '../item.ts';
import type { Place } from '../location/fix.ts';
import { positionOf } from '../location/text.ts';
import type { Moved } from '../motion/motion.ts';
import { footprintOf } from '../motion/shape.ts';
import type { ShardState, TrackableState, Tracked } from '../state.ts';
import { fireHeld, schedule } from './on_deadline.ts';
import { publishMotion, publishTrackableCrossings } from './publish.ts';
import { significantPlace } from './significant_fix.ts';

/** Where a trackable goes, with the order key of the location that makes it go, and when that is. */
export interface Arrival {
  readonly place: Place;
  readonly keyMs: number;
  readonly moment: Moment;
  /** Levels of parents over the trackable that are moved by the same; none when left out. */
  readonly above?: number;
}

/**
 * A provider or the parent of a trackable has come to a place: the trackable goes where its significant location is
 * now. That may be another one than the one that has come, where rules look at the age of locations. It stays without a
 * word where it is at that location already.
 */
export function follow(context: ShardContext, trackable: TrackableState, arrival: Arrival): void {
  const { moment } = arrival;
  const place = significantPlace(context, trackable, moment.nowMs, { arrived: arrival.place });
  const at = trackable.place;
  if (place === undefined || (at !== undefined && isSame(place, at))) return;
  if (place !== arrival.place && at?.providerId === place.providerId && place.keyMs <= at.keyMs) {
    return;
  }
  fireHeld(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { ...arrival, place });
}

/** Whether two places are of one location: there are copies of places that were restored or handed over. */
export function isSame(a: Place, b: Place): boolean {
  if (a === b) return true;
  return a.seq === b.seq && a.keyMs === b.keyMs && a.providerId === b.providerId;
}

/**
 * Moves a trackable to the place of its significant location, and takes along what it carries: other trackables, and the
 * zones that follow it.
 */
export function moveTrackable(context: ShardContext, trackable: TrackableState, arrival: Arrival): void {
  const { place, moment } = arrival;
  showAt(context, trackable, arrival);
  if (context.state.followers.any) takeAlong(context, trackable, place, moment.seq);
  const { above = 0 } = arrival;
  if (context.state.carried.size === 0 || above >= context.options.parentsMax) return;
  for (const child of carriedBy(context.state, trackable.id)) follow(context, child, { ...arrival, above: above + 1 });
}

/** Puts a trackable to a place: publishes its motion, shows it to the fences, and hands the motion on to the collision stage. */
export function showAt(context: ShardContext, trackable: TrackableState, { place, keyMs, moment }: Arrival): void {
  settle(context.state, trackable, place);
  context.state.dirty.add(trackable);
  context.draft.counts.motions++;
  publishMotion(context, trackable);
  const crossings = observeFences(context, trackable, trackableSeen(trackable, keyMs, moment.nowMs));
  publishTrackableCrossings(context, trackable, crossings);
  schedule(context.state, trackable);
  reportMotion(context, trackable, keyMs, moment);
}

/** Puts a trackable to a place without a word to anybody. */
export function settle(state: ShardState, trackable: TrackableState, place: Place): void {
  state.places.put(trackable, place);
  trackable.footprint = extentAt(trackable, place);
}

/** The extent that the trackable has, or would have, at a place. */
export function extentAt({ entity }: TrackableState, place: Place): Footprint {
  return footprintOf(entity, place.lon, place.lat, place.course);
}

/** Whether the trackable takes part in collisions. */
export function collides(context: ShardContext, trackable: TrackableState): boolean {
  return trackable.entity.calculate_collisions ?? context.options.collisionsByDefault;
}

/** The trackable has no place any more, or takes no part any more: its collisions end. */
export function reportGone(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  if (!trackable.colliding) return;
  trackable.colliding = false;
  context.draft.motions.push({ kind: 'gone', seq: moment.seq, id: trackable.id, receivedMs: moment.nowMs });
}

/** Tells the collision stage where the trackable is, if it takes part. */
export function reportMotion(context: ShardContext, trackable: TrackableState, keyMs: number, moment: Moment): void {
  const motion = motionOf(context, trackable, { kind: 'moved', seq: moment.seq, receivedMs: moment.nowMs, keyMs });
  if (motion === undefined) return;
  trackable.colliding = true;
  context.draft.motions.push(motion);
}

/** Tells a collision stage that may not know where the trackable has been for a while. */
export function reportStanding(context: ShardContext, trackable: TrackableState, seq: number): void {
  const { place } = trackable;
  if (place === undefined) return;
  const { receivedMs, keyMs } = place;
  const motion = motionOf(context, trackable, { kind: 'stands', seq, receivedMs, keyMs });
  if (motion !== undefined) context.draft.motions.push(motion);
}

/** The trackable where it is; undefined when it is nowhere, or takes no part in collisions. */
function motionOf(
  context: ShardContext,
  trackable: TrackableState,
  { kind, seq, receivedMs, keyMs }: Pick<Moved, 'kind' | 'seq' | 'receivedMs' | 'keyMs'>,
): Moved | undefined {
  const { place, footprint, entity } = trackable;
  if (place === undefined || footprint === undefined || !collides(context, trackable)) return undefined;
  const { timing: provider } = place;
  const { timing: own } = trackable;
  return {
    kind,
    seq,
    id: trackable.id,
    receivedMs,
    keyMs,
    lon: place.lon,
    lat: place.lat,
    z: place.z,
    elevationRef: place.elevationRef,
    levelMetres: place.zone?.wgs84_height ?? undefined,
    floor: place.floor,
    extrusion: entity.extrusion ?? undefined,
    collides: true,
    radiusMetres: footprint.radiusMetres,
    ring: footprint.ring,
    exitToleranceMetres: provider.exitTolerance ?? own.exitTolerance ?? 0,
    toleranceTimeoutMs: provider.toleranceTimeout ?? own.toleranceTimeout,
    exitDelayMs: provider.exitDelay ?? own.exitDelay,
    providers: entity.location_providers ?? [],
    ancestors: ancestorsOf(context, trackable),
  };
}

function ancestorsOf(context: ShardContext, trackable: TrackableState): string[] {
  const ancestors: string[] = [];
  let parent = trackable.entity.parent ?? undefined;
  const { parentsMax } = context.options;
  while (parent !== undefined && ancestors.length < parentsMax && !ancestors.includes(parent)) {
    ancestors.push(parent);
    parent = context.state.trackables.get(parent)?.entity.parent ?? undefined;
  }
  return ancestors;
}

/** Tells a new collision stage where the trackables are that the last one knew. */
export function onStand(context: ShardContext, item: Item & { kind: 'stand' }): void {
  for (const trackable of context.state.trackables.values()) {
    if (trackable.colliding) reportStanding(context, trackable, item.seq);
  }
  context.draft.answers.push([item.id, { ids: [] }]);
}

/**
 * An object has been located: says so of the zones that follow it, the last place of each step. A zone is never moved by
 * a location in its own coordinates or at its own position, which it would run away from.
 */
export function takeAlong({ state, draft }: ShardContext, { kind, id }: Tracked, place: Place, seq: number): void {
  for (const zoneId of state.followers.of(kind, id) ?? []) {
    if (place.zone?.id === zoneId) continue;
    draft.zoneMoves.set(zoneId, {
      id: zoneId,
      by: { kind, id },
      seq,
      position: positionOf(place),
      floor: place.floor,
    });
  }
}
