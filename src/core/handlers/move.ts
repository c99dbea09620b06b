import { carriedBy } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import type { Footprint } from '../fence/fence_index.ts';
import type { Item } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { filteredPositionOf } from '../location/filtered_json.ts';
import type { TrackableMotion } from '../motion/motion.ts';
import { footprintOf } from '../motion/shape.ts';
import { CHANGED_MEMBERS, type ShardState, type TrackableState, type Tracked, touch } from '../state.ts';
import { fireSuppressed, schedule } from './on_deadline.ts';
import { publishMotion, publishTrackableCrossings } from './publish.ts';
import { departureOf, observeMove, observeTrackable } from './fence_observation.ts';
import { significantFix } from './significant_fix.ts';

/** A trackable's next fix, with the event time of the location that caused it and the time of receipt. */
export interface FixArrival {
  readonly fix: Fix;
  readonly eventTimeMs: number;
  readonly moment: Moment;
  /** Whether the trackable moves there, rather than being found there after another change; false if absent. */
  readonly isMove?: boolean;
  /** Levels of parents above the trackable that move with it; 0 if absent. */
  readonly above?: number;
}

/**
 * Handles a new fix of a provider or parent of a trackable: the trackable moves to its significant location. If rules
 * evaluate the age of locations, that may be another location than the new one. A trackable that is already there does
 * not move and publishes nothing.
 */
export function follow(context: ShardContext, trackable: TrackableState, arrival: FixArrival): void {
  const { moment } = arrival;
  const fix = significantFix(context, trackable, moment.nowMs, { arrived: arrival.fix });
  const at = trackable.fix;
  if (fix === undefined || (at !== undefined && (isSameLocation(fix, at) || isIgnored(fix, at)))) return;
  if (fix !== arrival.fix && at?.providerId === fix.providerId && fix.eventTimeMs <= at.eventTimeMs) {
    return;
  }
  fireSuppressed(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { ...arrival, fix });
}

/** Whether a fix is an outlier of the provider that brought the object to its fix: the object stays there. */
export function isIgnored(fix: Fix, at: Fix): boolean {
  return fix.isOutlier && fix.providerId === at.providerId;
}

/** Whether two fixes come from the same location. Restored and transferred fixes are copies. */
export function isSameLocation(a: Fix, b: Fix): boolean {
  if (a === b) return true;
  if (a.eventTimeMs !== b.eventTimeMs || a.providerId !== b.providerId) return false;
  if (a.seq === b.seq) return true;
  // Stored rows contain no item number.
  if ((a.seq !== 0 && b.seq !== 0) || a.receivedMs !== b.receivedMs) return false;
  return a.lon === b.lon && a.lat === b.lat && isSameEstimate(a, b);
}

/** Whether filters, which change with every location, have made the same of two fixes. */
function isSameEstimate(a: Fix, b: Fix): boolean {
  if (!a.hasTrack && !b.hasTrack) return true;
  return (
    a.filteredLon === b.filteredLon && a.filteredLat === b.filteredLat && a.filteredAccuracy === b.filteredAccuracy
  );
}

/**
 * Moves a trackable to the fix of its significant location, together with the trackables that it carries and the zones
 * that follow it.
 */
export function moveTrackable(context: ShardContext, trackable: TrackableState, arrival: FixArrival): void {
  const { fix, moment } = arrival;
  moveTo(context, trackable, arrival);
  if (context.state.followers.any) moveFollowers(context, trackable, fix, moment.seq);
  const { above = 0 } = arrival;
  if (context.state.carried.size === 0 || above >= context.options.parentsMax) return;
  for (const child of carriedBy(context.state, trackable.id)) follow(context, child, { ...arrival, above: above + 1 });
}

/**
 * Sets the fix of a trackable, publishes its motion, evaluates its fences, and passes the motion to the collision
 * stage.
 */
export function moveTo(
  context: ShardContext,
  trackable: TrackableState,
  { fix, eventTimeMs, moment, isMove }: FixArrival,
): void {
  const departure = isMove === true ? departureOf(context.state, trackable) : undefined;
  settle(context.state, trackable, fix);
  touch(context.state, trackable);
  context.draft.counts.motions++;
  publishMotion(context, trackable);
  const seen = observeTrackable(trackable, eventTimeMs, moment.nowMs);
  const crossings = observeMove(context, trackable, seen, departure);
  publishTrackableCrossings(context, trackable, crossings);
  schedule(context.state, trackable);
  reportMotion(context, trackable, eventTimeMs, moment);
}

/** Sets the fix of a trackable without publishing anything. */
export function settle(state: ShardState, trackable: TrackableState, fix: Fix): void {
  state.fixes.put(trackable, fix);
  trackable.footprint = extentAt(trackable, fix);
}

/** Returns the extent that the trackable has, or would have, at a fix. */
export function extentAt({ entity }: TrackableState, fix: Fix): Footprint {
  return footprintOf(entity, fix.filteredLon, fix.filteredLat, fix.filteredCourse);
}

/** Whether the trackable takes part in collisions. */
export function collides(context: ShardContext, trackable: TrackableState): boolean {
  return trackable.entity.calculate_collisions ?? context.options.collisionsByDefault;
}

/** Ends the collisions of a trackable that has lost its fix or no longer takes part. */
export function reportRemoved(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  if (!trackable.colliding) return;
  trackable.colliding = false;
  // Not an observation, so the effect must contain the memberships.
  trackable.changes |= CHANGED_MEMBERS;
  touch(context.state, trackable);
  context.draft.motions.push({ kind: 'gone', seq: moment.seq, id: trackable.id, receivedMs: moment.nowMs });
}

/** Reports a trackable that takes part in collisions to the collision stage. */
export function reportMotion(
  context: ShardContext,
  trackable: TrackableState,
  eventTimeMs: number,
  moment: Moment,
): void {
  const motion = motionOf(context, trackable, {
    kind: 'moved',
    seq: moment.seq,
    receivedMs: moment.nowMs,
    eventTimeMs,
  });
  if (motion === undefined) return;
  trackable.colliding = true;
  context.draft.motions.push(motion);
}

/** Reports a trackable to a collision stage that may not have its position. */
export function reportPosition(context: ShardContext, trackable: TrackableState, seq: number): void {
  const { fix } = trackable;
  if (fix === undefined) return;
  const { receivedMs, eventTimeMs } = fix;
  const motion = motionOf(context, trackable, { kind: 'stands', seq, receivedMs, eventTimeMs });
  if (motion !== undefined) context.draft.motions.push(motion);
}

/** Returns the motion of the trackable at its position; undefined if it has none or takes no part in collisions. */
function motionOf(
  context: ShardContext,
  trackable: TrackableState,
  { kind, seq, receivedMs, eventTimeMs }: Pick<TrackableMotion, 'kind' | 'seq' | 'receivedMs' | 'eventTimeMs'>,
): TrackableMotion | undefined {
  const { fix, footprint, entity } = trackable;
  if (fix === undefined || footprint === undefined || !collides(context, trackable)) return undefined;
  const { timing: provider } = fix;
  const { timing: own } = trackable;
  return {
    kind,
    seq,
    id: trackable.id,
    receivedMs,
    eventTimeMs,
    lon: fix.filteredLon,
    lat: fix.filteredLat,
    z: fix.filteredZ,
    elevationRef: fix.filteredElevationRef,
    levelMeters: fix.zone?.wgs84_height ?? undefined,
    floor: fix.filteredFloor,
    extrusion: entity.extrusion ?? undefined,
    collides: true,
    radiusMeters: footprint.radiusMeters,
    ring: footprint.ring,
    exitToleranceMeters: provider.exitTolerance ?? own.exitTolerance ?? 0,
    toleranceTimeoutMs: provider.toleranceTimeout ?? own.toleranceTimeout,
    exitDelayMs: provider.exitDelay ?? own.exitDelay,
    providers: entity.location_providers ?? [],
    ancestors: ancestorsOf(context, trackable),
  };
}

/** Returns the ids of the trackables that carry one, nearest first. */
export function ancestorsOf(context: ShardContext, trackable: TrackableState): string[] {
  const ancestors: string[] = [];
  let parent = trackable.entity.parent ?? undefined;
  const { parentsMax } = context.options;
  while (parent !== undefined && ancestors.length < parentsMax && !ancestors.includes(parent)) {
    ancestors.push(parent);
    parent = context.state.trackables.get(parent)?.entity.parent ?? undefined;
  }
  return ancestors;
}

/** Reports the positions of all colliding trackables to a new collision stage. */
export function onReportPositions(context: ShardContext, item: Item & { kind: 'stand' }): void {
  for (const trackable of context.state.trackables.values()) {
    if (trackable.colliding) reportPosition(context, trackable, item.seq);
  }
  context.draft.answers.push([item.id, { ids: [] }]);
}

/**
 * Records a move of the zones that follow a located object; the last fix of each step counts. A location in the zone's
 * own coordinates, or at the zone's own position, never moves the zone: each move would cause the next.
 */
export function moveFollowers({ state, draft }: ShardContext, { kind, id }: Tracked, fix: Fix, seq: number): void {
  for (const zoneId of state.followers.of(kind, id) ?? []) {
    if (fix.zone?.id === zoneId) continue;
    draft.zoneMoves.set(zoneId, {
      id: zoneId,
      by: { kind, id },
      seq,
      position: filteredPositionOf(fix),
      floor: fix.filteredFloor,
    });
  }
}
