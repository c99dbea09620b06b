import type { Zone } from '../../model/zone.ts';
import { placeInZone } from '../location/locate.ts';
import type { Place } from '../location/place.ts';
import type { ProviderState, ShardState, TrackableState } from '../state.ts';
import { isSame } from './move.ts';

/** Objects whose place has changed with its zone: where they are now. */
export type Relocated = ReadonlyMap<ProviderState | TrackableState, Place>;

/**
 * Finds where the objects are whose places belong to a zone that has changed: what was sent in its metres goes along with
 * its plane, the rest stays where it is, above a floor that may be on another height. Moves nobody yet.
 *
 * Zones that follow these objects wait for their next locations: two zones that carry one another would never rest.
 */
export function relocate(state: ShardState, zoneId: string, zone: Zone): Relocated {
  const relocated = new Map<ProviderState | TrackableState, Place>();
  for (const provider of state.providers.values()) {
    const { place } = provider;
    if (place?.zone?.id === zoneId) relocated.set(provider, placeInZone(state.places, place, zone));
  }
  for (const trackable of state.trackables.values()) {
    const { place } = trackable;
    if (place?.zone?.id !== zoneId) continue;
    // A trackable is at its provider's place, or at a copy of it.
    const provider = state.providers.get(place.providerId);
    const shared = provider && relocated.get(provider);
    const isShared = shared !== undefined && isSame(shared, place) && shared.trackables === place.trackables;
    relocated.set(trackable, isShared ? shared : placeInZone(state.places, place, zone));
  }
  return relocated;
}
