import { assignedTo } from '../assignments.ts';
import type { FenceObservation, TimingChain } from '../fence/observe_fences.ts';
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
    footprint: footprintOf(POINT, fix.lon, fix.lat, undefined),
    floor: fix.floor,
    z: fix.z,
    elevationRef: fix.elevationRef,
    levelMetres: fix.zone?.wgs84_height ?? undefined,
    nowMs,
    eventTimeMs,
    timing: providerTiming(state, provider),
  };
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
    floor: fix.floor,
    z: fix.z,
    elevationRef: fix.elevationRef,
    levelMetres: fix.zone?.wgs84_height ?? undefined,
    nowMs,
    eventTimeMs,
    timing: trackableTiming(trackable),
  };
}

/** Returns the timing of a trackable: the values of the provider of its significant location override its own. */
export function trackableTiming({ fix, timing }: TrackableState): TimingChain {
  return { provider: fix?.timing ?? UNSET, trackable: timing };
}
