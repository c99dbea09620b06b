import { assignedTo } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import { crossFences, type Departure } from '../fence/cross_fences.ts';
import { type Crossing, type FenceObservation, observeFences, type TimingChain } from '../fence/observe_fences.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import type { Fix } from '../location/fix.ts';
import { footprintOf } from '../motion/shape.ts';
import type { ProviderState, ShardState, TrackableState } from '../state.ts';

const POINT = {};

/** Returns the fence observation of a provider with a fix. */
export function observeProvider(
  state: ShardState,
  provider: ProviderState,
  fix: Fix,
  nowMs: number,
  eventTimeMs = fix.eventTimeMs,
): FenceObservation {
  return {
    footprint: footprintOf(POINT, fix.filteredLon, fix.filteredLat, undefined),
    floor: fix.filteredFloor,
    z: fix.filteredZ,
    elevationRef: fix.filteredElevationRef,
    levelMeters: fix.zone?.wgs84_height ?? undefined,
    nowMs,
    eventTimeMs,
    timing: providerTiming(state, provider),
  };
}

/**
 * Returns a copy of the last observation of an object, before its next location replaces it. Undefined if it had none,
 * or if no fence evaluates the way to the next one.
 */
// hot
export function departureOf({ crossing }: ShardState, { fix }: ProviderState | TrackableState): Departure | undefined {
  if (crossing.fences === 0 || fix === undefined) return undefined;
  // An outlier is no observation: the object is still on its way from the one before.
  const { outlierMs } = fix;
  return {
    lon: fix.filteredLon,
    lat: fix.filteredLat,
    floor: fix.filteredFloor,
    z: fix.filteredZ,
    elevationRef: fix.filteredElevationRef,
    levelMeters: fix.zone?.wgs84_height ?? undefined,
    receivedMs: fix.receivedMs - outlierMs,
    eventTimeMs: fix.eventTimeMs - outlierMs,
  };
}

/**
 * Evaluates an observation in all fences that the object touches or is a member of and, if it comes from `departure`,
 * the way to it in the fences that evaluate ways. Returns the crossings in order; undefined for none.
 */
// hot
export function observeMove(
  context: ShardContext,
  object: ProviderState | TrackableState,
  seen: FenceObservation,
  departure: Departure | undefined,
): Crossing[] | undefined {
  const onWay = departure && crossFences(context, object, wayTo(context, object, seen, departure));
  const there = observeFences(context, object, seen);
  if (onWay === undefined) return there;
  return there === undefined ? onWay : [...onWay, ...there];
}

function wayTo(
  { clockSteps }: ShardContext,
  object: ProviderState | TrackableState,
  to: FenceObservation,
  from: Departure,
): Parameters<typeof crossFences>[2] {
  const shape = object.kind === 'provider' ? POINT : object.entity;
  const course = object.fix?.filteredCourse;
  return { from, to, clockSteps, extentAt: (lon, lat) => footprintOf(shape, lon, lat, course) };
}

/** Returns the timing of a provider: the values of its last location override those of its only trackable. */
export function providerTiming(state: ShardState, provider: ProviderState): TimingChain {
  return { provider: provider.fix?.timing ?? UNSET, trackable: soleTrackableTiming(state, provider.id) };
}

/** Returns the timing that the only trackable of a provider sets; UNSET if it has none or several. */
export function soleTrackableTiming(state: ShardState, providerId: string): OwnTiming {
  const { trackables } = assignedTo(state, providerId);
  return (trackables.length === 1 ? trackables[0]?.timing : undefined) ?? UNSET;
}

/** Returns the fence observation of a trackable with a fix. */
export function observeTrackable(trackable: TrackableState, eventTimeMs: number, nowMs: number): FenceObservation {
  const { fix, footprint } = trackable;
  if (fix === undefined || footprint === undefined) throw new Error('A trackable without fix is not seen by fences');
  return {
    footprint,
    floor: fix.filteredFloor,
    z: fix.filteredZ,
    elevationRef: fix.filteredElevationRef,
    levelMeters: fix.zone?.wgs84_height ?? undefined,
    nowMs,
    eventTimeMs,
    timing: trackableTiming(trackable),
  };
}

/** Returns the timing of a trackable: the values of the provider of its significant location override its own. */
export function trackableTiming({ fix, timing }: TrackableState): TimingChain {
  return { provider: fix?.timing ?? UNSET, trackable: timing };
}
