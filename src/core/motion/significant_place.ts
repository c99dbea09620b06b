import type { ShardContext } from '../context.ts';
import type { Place } from '../location/place.ts';
import { type Candidate, significant } from '../rules/significant.ts';
import type { ShardState, TrackableState } from '../state.ts';

/**
 * The place of a trackable among the last places of its providers and the place of its parent: the one that its
 * locating rules rank highest, else the newest. Among equals the one of `arrived`, which has just come, or else the one
 * that the trackable is at.
 */
export function significantPlace(
  context: ShardContext,
  trackable: TrackableState,
  nowMs: number,
  arrived = trackable.place,
): Place | undefined {
  const { state } = context;
  const { location_providers: providers, parent: parentId } = trackable.entity;
  // The most frequent case, without a list.
  if (parentId == null && providers?.length === 1) return state.providers.get(providers[0] as string)?.place;
  const places = placesOf(state, trackable);
  const parent = parentId == null ? undefined : state.trackables.get(parentId);
  if (parent?.place !== undefined) places.push(parent.place);
  if (places.length < 2) return places[0];
  const preferred = places.findIndex((place) => place.providerId === arrived?.providerId);
  if (preferred >= 0) places.push(...places.splice(preferred, 1));
  const ranking = trackable.rules ?? state.rules;
  const candidates = places.map((place): Candidate<Place> => {
    return { facts: factsOf(place, nowMs), keyMs: place.keyMs, value: place };
  });
  return significant(candidates, ranking);
}

/** The last places of a trackable's providers, in the order in which it names them. */
export function placesOf(state: ShardState, trackable: TrackableState): Place[] {
  const places: Place[] = [];
  for (const id of trackable.entity.location_providers ?? []) {
    const place = state.providers.get(id)?.place;
    if (place !== undefined) places.push(place);
  }
  return places;
}

function factsOf(place: Place, nowMs: number): Candidate<Place>['facts'] {
  const { accuracy, providerId, providerType, source, floor, speed } = place;
  return {
    timestamp_diff: nowMs - place.keyMs,
    accuracy,
    provider_id: providerId,
    type: providerType,
    source,
    floor,
    speed,
  };
}
