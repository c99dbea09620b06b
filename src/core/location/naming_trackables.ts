import { assignedTo } from '../assignments.ts';
import type { Place, ShardState } from '../state.ts';

/**
 * The place as it is to be shown now. Its location was kept with the trackables that the provider was on at that time;
 * assignments may have changed since.
 */
export function namingTrackables(state: ShardState, place: Place): Place {
  const { location } = place;
  const { ids } = assignedTo(state, location.provider_id);
  const named = location.trackables ?? [];
  if (named === ids) return place;
  if (named.length === ids.length && named.every((id, i) => id === ids[i])) return place;
  return { ...place, location: { ...location, trackables: ids }, text: undefined };
}
