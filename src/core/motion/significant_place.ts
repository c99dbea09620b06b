import type { ShardContext } from '../context.ts';
import { type Candidate, significant } from '../rules/significant.ts';
import type { Place, ShardState, TrackableState } from '../state.ts';

/**
 * The place of a trackable among the last places of its providers: the one that its locating rules rank highest, else
 * the newest. `arrived` is the place that has just come; it wins over equally old ones.
 */
export function significantPlace(
  context: ShardContext,
  trackable: TrackableState,
  nowMs: number,
  arrived?: Place,
): Place | undefined {
  if (arrived !== undefined && trackable.entity.location_providers?.length === 1) return arrived;
  const places = placesOf(context.state, trackable, arrived);
  if (places.length < 2) return places[0];
  const ranking = trackable.rules ?? context.state.rules;
  const candidates = places.map((place): Candidate<Place> => {
    return { facts: factsOf(place, nowMs), keyMs: place.keyMs, value: place };
  });
  return significant(candidates, ranking);
}

/** The last places of a trackable's providers, in the order in which it names them; `last` comes last. */
export function placesOf(state: ShardState, trackable: TrackableState, last?: Place): Place[] {
  const places: Place[] = [];
  for (const id of trackable.entity.location_providers ?? []) {
    const place = state.providers.get(id)?.place;
    if (place !== undefined && place !== last) places.push(place);
  }
  if (last !== undefined) places.push(last);
  return places;
}

function factsOf(place: Place, nowMs: number): Candidate<Place>['facts'] {
  const { accuracy, provider_id: providerId, provider_type: type, source, speed } = place.location;
  return {
    timestamp_diff: nowMs - place.keyMs,
    accuracy: accuracy ?? undefined,
    provider_id: providerId,
    type,
    source,
    floor: place.floor,
    speed: speed ?? undefined,
  };
}
