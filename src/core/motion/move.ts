import type { Moment, ShardContext } from '../context.ts';
import { observeFences } from '../fence/observe_fences.ts';
import { trackableSeen, trackableTiming } from '../fence/seen.ts';
import { publishMotion, publishTrackableCrossings } from '../publish.ts';
import { schedule } from '../schedule.ts';
import type { Place, TrackableState } from '../state.ts';
import { footprintOf } from './footprint.ts';
import type { Motion } from './motion.ts';

/**
 * Moves a trackable to the place of its significant location: publishes its motion, shows it to the fences, and hands
 * the motion on to the collision stage.
 */
export function moveTrackable(
  context: ShardContext,
  trackable: TrackableState,
  to: { readonly place: Place; readonly keyMs: number; readonly moment: Moment },
): void {
  const { place, keyMs, moment } = to;
  settle(trackable, place);
  context.state.dirty.add(trackable);
  publishMotion(context, trackable);
  const crossings = observeFences(context, trackable, trackableSeen(context.state, trackable, keyMs, moment.nowMs));
  publishTrackableCrossings(context, trackable, crossings);
  schedule(context.state, trackable);
  reportMotion(context, trackable, keyMs, moment);
}

/** Puts a trackable to a place without a word to anybody. */
export function settle(trackable: TrackableState, place: Place): void {
  trackable.place = place;
  trackable.footprint = footprintOf(trackable.entity, place.lon, place.lat, place.location.course ?? undefined);
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
  const { place, footprint, entity } = trackable;
  if (place === undefined || footprint === undefined || !collides(context, trackable)) return;
  const { provider, trackable: own } = trackableTiming(context.state, trackable);
  trackable.colliding = true;
  const motion: Motion = {
    kind: 'moved',
    seq: moment.seq,
    id: trackable.id,
    receivedMs: moment.nowMs,
    keyMs,
    lon: place.lon,
    lat: place.lat,
    z: place.z,
    elevationRef: place.location.elevation_ref ?? 'floor',
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
  context.draft.motions.push(motion);
}

function ancestorsOf(context: ShardContext, trackable: TrackableState): string[] {
  const ancestors: string[] = [];
  let parent = trackable.entity.parent ?? undefined;
  while (parent !== undefined && !ancestors.includes(parent)) {
    ancestors.push(parent);
    parent = context.state.trackables.get(parent)?.entity.parent ?? undefined;
  }
  return ancestors;
}
