import { carriedBy } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import type { Footprint } from '../fence/fence_index.ts';
import { observeFences } from '../fence/observe_fences.ts';
import type { Item } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { positionOf } from '../location/text.ts';
import type { Moved } from '../motion/motion.ts';
import { footprintOf } from '../motion/shape.ts';
import { CHANGED_MEMBERS, type ShardState, type TrackableState, type Tracked, touch } from '../state.ts';
import { fireHeld, schedule } from './on_deadline.ts';
import { publishMotion, publishTrackableCrossings } from './publish.ts';
import { trackableSeen } from './seen.ts';
import { significantFix } from './significant_fix.ts';

/** Where a trackable goes, with the event time of the location that makes it go, and when that is. */
export interface Arrival {
  readonly fix: Fix;
  readonly eventTimeMs: number;
  readonly moment: Moment;
  /** Levels of parents over the trackable that are moved by the same; none when left out. */
  readonly above?: number;
}

/**
 * A provider or the parent of a trackable has a new fix: the trackable goes where its significant location is
 * now. That may be another one than the one that has come, where rules look at the age of locations. It stays without a
 * word where it is at that location already.
 */
export function follow(context: ShardContext, trackable: TrackableState, arrival: Arrival): void {
  const { moment } = arrival;
  const fix = significantFix(context, trackable, moment.nowMs, { arrived: arrival.fix });
  const at = trackable.fix;
  if (fix === undefined || (at !== undefined && isSame(fix, at))) return;
  if (fix !== arrival.fix && at?.providerId === fix.providerId && fix.eventTimeMs <= at.eventTimeMs) {
    return;
  }
  fireHeld(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { ...arrival, fix });
}

/** Whether two fixes are of one location: there are copies of fixes that were restored or handed over. */
export function isSame(a: Fix, b: Fix): boolean {
  if (a === b) return true;
  if (a.eventTimeMs !== b.eventTimeMs || a.providerId !== b.providerId) return false;
  if (a.seq === b.seq) return true;
  // A row does not tell the number.
  return (a.seq === 0 || b.seq === 0) && a.receivedMs === b.receivedMs && a.lon === b.lon && a.lat === b.lat;
}

/**
 * Moves a trackable to the fix of its significant location, and takes along what it carries: other trackables, and the
 * zones that follow it.
 */
export function moveTrackable(context: ShardContext, trackable: TrackableState, arrival: Arrival): void {
  const { fix, moment } = arrival;
  showAt(context, trackable, arrival);
  if (context.state.followers.any) moveFollowers(context, trackable, fix, moment.seq);
  const { above = 0 } = arrival;
  if (context.state.carried.size === 0 || above >= context.options.parentsMax) return;
  for (const child of carriedBy(context.state, trackable.id)) follow(context, child, { ...arrival, above: above + 1 });
}

/** Gives a trackable a fix: publishes its motion, shows it to the fences, and hands the motion on to the collision stage. */
export function showAt(context: ShardContext, trackable: TrackableState, { fix, eventTimeMs, moment }: Arrival): void {
  settle(context.state, trackable, fix);
  touch(context.state, trackable);
  context.draft.counts.motions++;
  publishMotion(context, trackable);
  const crossings = observeFences(context, trackable, trackableSeen(trackable, eventTimeMs, moment.nowMs));
  publishTrackableCrossings(context, trackable, crossings);
  schedule(context.state, trackable);
  reportMotion(context, trackable, eventTimeMs, moment);
}

/** Gives a trackable a fix without a word to anybody. */
export function settle(state: ShardState, trackable: TrackableState, fix: Fix): void {
  state.fixes.put(trackable, fix);
  trackable.footprint = extentAt(trackable, fix);
}

/** The extent that the trackable has, or would have, at a fix. */
export function extentAt({ entity }: TrackableState, fix: Fix): Footprint {
  return footprintOf(entity, fix.lon, fix.lat, fix.course);
}

/** Whether the trackable takes part in collisions. */
export function collides(context: ShardContext, trackable: TrackableState): boolean {
  return trackable.entity.calculate_collisions ?? context.options.collisionsByDefault;
}

/** The trackable has no fix any more, or takes no part any more: its collisions end. */
export function reportGone(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  if (!trackable.colliding) return;
  trackable.colliding = false;
  // Nobody has observed it.
  trackable.changes |= CHANGED_MEMBERS;
  touch(context.state, trackable);
  context.draft.motions.push({ kind: 'gone', seq: moment.seq, id: trackable.id, receivedMs: moment.nowMs });
}

/** Tells the collision stage where the trackable is, if it takes part. */
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

/** Tells a collision stage that may not know where the trackable has been for a while. */
export function reportStanding(context: ShardContext, trackable: TrackableState, seq: number): void {
  const { fix } = trackable;
  if (fix === undefined) return;
  const { receivedMs, eventTimeMs } = fix;
  const motion = motionOf(context, trackable, { kind: 'stands', seq, receivedMs, eventTimeMs });
  if (motion !== undefined) context.draft.motions.push(motion);
}

/** The trackable where it is; undefined when it is nowhere, or takes no part in collisions. */
function motionOf(
  context: ShardContext,
  trackable: TrackableState,
  { kind, seq, receivedMs, eventTimeMs }: Pick<Moved, 'kind' | 'seq' | 'receivedMs' | 'eventTimeMs'>,
): Moved | undefined {
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
    lon: fix.lon,
    lat: fix.lat,
    z: fix.z,
    elevationRef: fix.elevationRef,
    levelMetres: fix.zone?.wgs84_height ?? undefined,
    floor: fix.floor,
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
 * An object has been located: says so of the zones that follow it, the last fix of each step. A zone is never moved by
 * a location in its own coordinates or at its own position, which it would run away from.
 */
export function moveFollowers({ state, draft }: ShardContext, { kind, id }: Tracked, fix: Fix, seq: number): void {
  for (const zoneId of state.followers.of(kind, id) ?? []) {
    if (fix.zone?.id === zoneId) continue;
    draft.zoneMoves.set(zoneId, {
      id: zoneId,
      by: { kind, id },
      seq,
      position: positionOf(fix),
      floor: fix.floor,
    });
  }
}
