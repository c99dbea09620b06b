import { assignedTo } from '../assignments.ts';
import type { Place } from '../location/fix.ts';
import { footprintOf } from '../motion/shape.ts';
import type { ProviderState, ShardState, TrackableState } from '../state.ts';
import type { Seen, TimingChain } from './observe_fences.ts';
import { type OwnTiming, UNSET } from './timing.ts';

const POINT = {};

/** A provider at a place, as the fences see it. */
export function providerSeen(
  state: ShardState,
  provider: ProviderState,
  place: Place,
  nowMs: number,
  keyMs = place.keyMs,
): Seen {
  return {
    footprint: footprintOf(POINT, place.lon, place.lat, undefined),
    floor: place.floor,
    z: place.z,
    elevationRef: place.elevationRef,
    levelMetres: place.zone?.wgs84_height ?? undefined,
    nowMs,
    keyMs,
    timing: providerTiming(state, provider),
  };
}

/** A provider's values, those of its last location, override those of its trackable, unless it is on several. */
export function providerTiming(state: ShardState, provider: ProviderState): TimingChain {
  return { provider: provider.place?.timing ?? UNSET, trackable: soleTrackableTiming(state, provider.id) };
}

/** What the only trackable of a provider sets; nothing where it is on none, or on several. */
export function soleTrackableTiming(state: ShardState, providerId: string): OwnTiming {
  const { trackables } = assignedTo(state, providerId);
  return (trackables.length === 1 ? trackables[0]?.timing : undefined) ?? UNSET;
}

/** A trackable that has a place, as the fences see it. */
export function trackableSeen(trackable: TrackableState, keyMs: number, nowMs: number): Seen {
  const { place, footprint } = trackable;
  if (place === undefined || footprint === undefined)
    throw new Error('A trackable without place is not seen by fences');
  return {
    footprint,
    floor: place.floor,
    z: place.z,
    elevationRef: place.elevationRef,
    levelMetres: place.zone?.wgs84_height ?? undefined,
    nowMs,
    keyMs,
    timing: trackableTiming(trackable),
  };
}

/** A trackable's values are overridden by those of the provider of its significant location. */
export function trackableTiming({ place, timing }: TrackableState): TimingChain {
  return { provider: place?.timing ?? UNSET, trackable: timing };
}
