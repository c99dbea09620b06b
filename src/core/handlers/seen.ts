import { assignedTo } from '../assignments.ts';
import type { Seen, TimingChain } from '../fence/observe_fences.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import type { Fix } from '../location/fix.ts';
import { footprintOf } from '../motion/shape.ts';
import type { ProviderState, ShardState, TrackableState } from '../state.ts';

const POINT = {};

/** A provider with a fix, as the fences see it. */
export function providerSeen(
  state: ShardState,
  provider: ProviderState,
  fix: Fix,
  nowMs: number,
  eventTimeMs = fix.eventTimeMs,
): Seen {
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

/** A provider's values, those of its last location, override those of its trackable, unless it is on several. */
export function providerTiming(state: ShardState, provider: ProviderState): TimingChain {
  return { provider: provider.fix?.timing ?? UNSET, trackable: soleTrackableTiming(state, provider.id) };
}

/** What the only trackable of a provider sets; nothing where it is on none, or on several. */
export function soleTrackableTiming(state: ShardState, providerId: string): OwnTiming {
  const { trackables } = assignedTo(state, providerId);
  return (trackables.length === 1 ? trackables[0]?.timing : undefined) ?? UNSET;
}

/** A trackable that has a fix, as the fences see it. */
export function trackableSeen(trackable: TrackableState, eventTimeMs: number, nowMs: number): Seen {
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

/** A trackable's values are overridden by those of the provider of its significant location. */
export function trackableTiming({ fix, timing }: TrackableState): TimingChain {
  return { provider: fix?.timing ?? UNSET, trackable: timing };
}
