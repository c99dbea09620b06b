import { timeOfDay } from '../../model/set_back.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { ShardContext } from '../context.ts';
import type { Place } from '../location/fix.ts';
import { type Candidate, significant } from '../rules/evaluate.ts';
import type { ShardState, TrackableState } from '../state.ts';

/** Whose places a trackable may be at: those of its providers, and that of its parent. */
export type Sources = Pick<Trackable, 'location_providers' | 'parent'>;

interface Choice {
  /** The place that has just come; left out: the one that the trackable is at. */
  readonly arrived?: Place | undefined;
  /** All that its entity names when left out. */
  readonly sources?: Sources;
}

/**
 * The place of a trackable among the last places of its providers and the place of its parent: the one that its
 * locating rules rank highest, else the newest, among equals the one that has just come.
 */
export function significantPlace(
  context: ShardContext,
  trackable: TrackableState,
  nowMs: number,
  { arrived = trackable.place, sources = trackable.entity }: Choice = {},
): Place | undefined {
  const { state } = context;
  const { location_providers: providers, parent: parentId } = sources;
  // The most frequent case, without a list.
  if (parentId == null && providers?.length === 1) return state.providers.get(providers[0] as string)?.place;
  const places = placesOf(state, sources);
  const parent = parentId == null ? undefined : state.trackables.get(parentId);
  if (parent?.place !== undefined) places.push(parent.place);
  if (places.length < 2) return places[0];
  const preferred = places.findIndex((place) => place.providerId === arrived?.providerId);
  if (preferred >= 0) places.push(...places.splice(preferred, 1));
  const ranking = trackable.rules ?? state.rules;
  const candidates = places.map((place): Candidate<Place> => {
    return { facts: factsOf(context, place, nowMs), keyMs: place.keyMs, value: place };
  });
  return significant(candidates, ranking);
}

/** The last places of the providers, in the order in which they are named. */
export function placesOf(state: ShardState, { location_providers: providers }: Sources): Place[] {
  const places: Place[] = [];
  for (const id of providers ?? []) {
    const place = state.providers.get(id)?.place;
    if (place !== undefined) places.push(place);
  }
  return places;
}

function factsOf({ setBacks }: ShardContext, place: Place, nowMs: number): Candidate<Place>['facts'] {
  const { accuracy, providerId, providerType, source, floor, speed } = place;
  return {
    timestamp_diff: timeOfDay(nowMs, setBacks) - timeOfDay(place.keyMs, setBacks),
    accuracy,
    provider_id: providerId,
    type: providerType,
    source,
    floor,
    speed,
  };
}
