import type { ShardContext } from '../context.ts';
import { overlapping } from '../fence/observe_fences.ts';
import { verticalGapMeters } from '../fence/vertical.ts';
import { footprintOf } from '../motion/shape.ts';
import type { FenceState, TrackableState } from '../state.ts';
import type { TrackableForecast } from '../item.ts';
import type { MovingBody } from '../tracking/approaches.ts';
import { type FenceForecast, type ForecastRegion, forecastFence, reachWithin } from '../tracking/fence_forecast.ts';
import { estimateOf, type MotionEstimate, positionAfter, varianceAfter } from '../tracking/prediction.ts';
import { emptyTrack } from '../tracking/track.ts';
import { providerFilter } from './filter_location.ts';
import { observeTrackable } from './fence_observation.ts';
import { isFused, fusion } from './fuse.ts';
import { ancestorsOf, collides } from './move.ts';

/** Maximum number of fences that a trackable is outside of in a forecast: the nearest ones. */
const FENCES_MAX = 32;
/** Distance in meters beyond which no fence is evaluated. */
const REACH_MAX = 10_000;

const track = emptyTrack();

/**
 * Returns the expected position of a trackable at the horizon, and its forecasts at the fences around it. Undefined if
 * no filter estimates its velocity. Positions decide, without the delays and tolerances of fences.
 */
export function forecastOf(
  context: ShardContext,
  trackable: TrackableState,
  { nowMs, horizonMs }: { readonly nowMs: number; readonly horizonMs: number },
): TrackableForecast | undefined {
  const estimate = estimateNow(context, trackable, nowMs);
  if (estimate === undefined) return undefined;
  const inside = trackable.members.flatMap(({ fence, membership }) => (membership.at === 'inside' ? [fence] : []));
  const insideOf = new Set(inside);
  const fences: (readonly [string, FenceForecast])[] = [];
  for (const fence of [
    ...inside,
    ...fencesAround(context, estimate, horizonMs).filter((each) => !insideOf.has(each)),
  ]) {
    const region = regionFor(context, trackable, fence);
    if (region === undefined) continue;
    const forecast = forecastFence(region, { estimate, isInside: insideOf.has(fence), horizonMs });
    if (forecast !== undefined) fences.push([fence.id, forecast]);
  }
  const seconds = horizonMs / 1000;
  const [lon, lat] = positionAfter(seconds, estimate);
  // A forecast must not reveal a position that the hub would not publish.
  if (context.state.untracked.cover({ ...observeTrackable(trackable, 0, 0), lon, lat })) return undefined;
  return { lon, lat, sigmaMeters: Math.sqrt(varianceAfter(seconds, estimate)), fences };
}

/** Returns the filtered trackables that take part in collisions, the fastest first, at most `most`. */
export function movingBodies(context: ShardContext, nowMs: number, most: number): readonly MovingBody[] {
  const bodies: MovingBody[] = [];
  for (const trackable of context.state.trackables.values()) {
    const { fix, footprint, entity, id } = trackable;
    if (fix?.hasTrack !== true || footprint === undefined || !collides(context, trackable)) continue;
    const estimate = estimateNow(context, trackable, nowMs);
    if (estimate === undefined) continue;
    const { location_providers: providers } = entity;
    const ancestors = ancestorsOf(context, trackable);
    const { reachMeters } = footprint;
    bodies.push({ id, floor: fix.filteredFloor, reachMeters, providers: providers ?? [], ancestors, estimate });
  }
  if (bodies.length <= most) return bodies;
  const speedOf = ({ estimate: { east, north } }: MovingBody): number => Math.hypot(east, north);
  return bodies.sort((one, other) => speedOf(other) - speedOf(one)).slice(0, most);
}

function estimateNow(context: ShardContext, trackable: TrackableState, nowMs: number): MotionEstimate | undefined {
  const { fix } = trackable;
  if (fix?.readTrack(track) !== true) return undefined;
  const provider = context.state.providers.get(fix.providerId);
  const settings = isFused(context, trackable)
    ? fusion(context, trackable)
    : provider && providerFilter(context, provider, fix.providerType);
  return settings && estimateOf(track, nowMs - fix.receivedMs, settings);
}

/** Returns the nearest fences that an object may reach within the horizon, without gates. */
function fencesAround({ state, index }: ShardContext, estimate: MotionEstimate, horizonMs: number): FenceState[] {
  const { lon, lat } = estimate;
  const reachMeters = Math.min(REACH_MAX, reachWithin(horizonMs, estimate));
  const around = { lon, lat, radiusMeters: reachMeters, ring: undefined, reachMeters };
  const point = { lon, lat, radiusMeters: 0, ring: undefined, reachMeters: 0 };
  const near: (readonly [meters: number, fence: FenceState])[] = [];
  const count = overlapping(state, index, index.near(undefined, around), around);
  for (let i = 0; i < count; i++) {
    const fence = state.slots[state.near[i] as number];
    if (fence?.region === undefined || fence.region.kind === 'line') continue;
    near.push([index.distanceMeters(fence.slot, point), fence]);
  }
  near.sort(([one, a], [other, b]) => one - other || (a.id < b.id ? -1 : 1));
  return near.slice(0, FENCES_MAX).map(([, fence]) => fence);
}

/** Returns the region of a fence for the trackable; undefined at another height or floor. */
function regionFor(
  { index }: ShardContext,
  trackable: TrackableState,
  { region, slot, vertical }: FenceState,
): ForecastRegion | undefined {
  if (region === undefined || verticalGapMeters(vertical, observeTrackable(trackable, 0, 0)) > 0) return undefined;
  const { entity, fix } = trackable;
  const course = fix?.filteredCourse;
  const at = (lon: number, lat: number) => footprintOf(entity, lon, lat, course);
  return {
    touches: (lon, lat) => index.touches(slot, at(lon, lat)),
    separation(lon, lat) {
      const footprint = at(lon, lat);
      if (!index.touches(slot, footprint)) return index.distanceMeters(slot, footprint);
      return -index.depthMeters(slot, footprint);
    },
  };
}
