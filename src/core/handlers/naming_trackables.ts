import { assignedTo } from '../assignments.ts';
import type { Place } from '../location/place.ts';
import type { ShardState, TrackableState } from '../state.ts';

/**
 * The place as it is to be shown now. Its location was kept with the trackables that the provider was on at that time;
 * assignments may have changed since. A place that a trackable has from elsewhere stays as it is: its provider may be
 * another shard's.
 */
export function namingTrackables(state: ShardState, place: Place, at?: TrackableState): Place {
  if (at !== undefined && at.entity.location_providers?.includes(place.providerId) !== true) return place;
  const { ids } = assignedTo(state, place.providerId);
  const named = place.trackables;
  if (named === ids) return place;
  if (named.length === ids.length && named.every((id, i) => id === ids[i])) return place;
  return state.places.renamed(place, ids);
}
