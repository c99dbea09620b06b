import type { View } from '../model/topics.ts';
import type { ShardContext } from './context.ts';
import { providerSeen, trackableSeen } from './fence/seen.ts';
import { fitsVertically } from './fence/vertical.ts';
import type { Answer, Item, Query } from './item.ts';
import { locationIn } from './location/text.ts';
import { placesOf, significantPlace } from './motion/significant_place.ts';
import { motionIn } from './motion/text.ts';
import type { FenceState, Place, ProviderState, TrackableState } from './state.ts';

const ABSENT: Answer = { absent: true };

/** Answers a read from the state as it is between two items. */
export function onRead(context: ShardContext, item: Item & { kind: 'read' }): void {
  context.draft.answers.push([item.id, answer(context, item.query, item.receivedMs)]);
}

function answer(context: ShardContext, query: Query, nowMs: number): Answer {
  const { state } = context;
  switch (query.ask) {
    case 'provider_location':
      return one(context, providerPlace(context, state.providers.get(query.id)), query.view);
    case 'provider_locations':
      return many([...state.providers.values()], (provider) => {
        const place = providerPlace(context, provider);
        return place && locationIn(place, query.view, context.zones);
      });
    case 'trackable_location': {
      const trackable = state.trackables.get(query.id);
      return one(context, trackable && significantPlace(context, trackable, nowMs), query.view);
    }
    case 'trackable_locations': {
      const trackable = state.trackables.get(query.id);
      const places = trackable === undefined ? [] : placesOf(state, trackable);
      return many(places, (place) => locationIn(place, query.view, context.zones));
    }
    case 'trackable_motion': {
      const trackable = state.trackables.get(query.id);
      if (trackable?.place === undefined) return ABSENT;
      return shown(motionIn(trackable, query.view, context.zones), trackable.place);
    }
    case 'trackable_motions':
      return many([...state.trackables.values()], (trackable) => motionIn(trackable, query.view, context.zones));
    case 'fence_locations':
      return many(providersIn(context, query), (provider) => {
        return provider.place && locationIn(provider.place, query.view, context.zones);
      });
    case 'fence_motions':
      return many(trackablesIn(context, query), (trackable) => motionIn(trackable, query.view, context.zones));
    case 'fence_providers':
      return { ids: providersIn(context, query).map(({ id }) => id) };
    case 'fence_trackables':
      return { ids: trackablesIn(context, query).map(({ id }) => id) };
    case 'provider_fences':
      return { ids: fencesOf(context, state.providers.get(query.id), query.spatial) };
    case 'trackable_fences':
      return { ids: fencesOf(context, state.trackables.get(query.id), query.spatial) };
  }
}

function one(context: ShardContext, place: Place | undefined, view: View): Answer {
  if (place === undefined) return ABSENT;
  return shown(locationIn(place, view, context.zones), place);
}

function shown(text: string | undefined, place: Place): Answer {
  return text === undefined ? { unplaced: place.location.source } : { texts: [text] };
}

function many<T>(list: readonly T[], text: (element: T) => string | undefined): Answer {
  return { texts: list.map(text).filter((rendered) => rendered !== undefined) };
}

/** The place of a provider, naming the trackables that it is assigned to now. */
function providerPlace(context: ShardContext, provider: ProviderState | undefined): Place | undefined {
  const place = provider?.place;
  if (provider === undefined || place === undefined) return undefined;
  const trackables = (context.state.assigned.get(provider.id) ?? []).map(({ id }) => id);
  if (String(trackables) === String(place.location.trackables ?? [])) return place;
  return { ...place, location: { ...place.location, trackables }, text: undefined };
}

interface InFence {
  readonly id: string;
  readonly spatial: boolean;
}

function providersIn(context: ShardContext, query: InFence): ProviderState[] {
  const fence = context.state.fences.get(query.id);
  if (fence === undefined) return [];
  if (!query.spatial) return membersOf(fence).filter((object) => object.kind === 'provider') as ProviderState[];
  return [...context.state.providers.values()].filter((provider) => isWithin(context, provider, fence));
}

function trackablesIn(context: ShardContext, query: InFence): TrackableState[] {
  const fence = context.state.fences.get(query.id);
  if (fence === undefined) return [];
  if (!query.spatial) return membersOf(fence).filter((object) => object.kind === 'trackable') as TrackableState[];
  return [...context.state.trackables.values()].filter((trackable) => isWithin(context, trackable, fence));
}

/** Objects that have entered the fence and not yet left it. */
function membersOf(fence: FenceState): (ProviderState | TrackableState)[] {
  return [...fence.occupants].filter((object) => {
    return object.members.some((member) => member.fence === fence && member.membership.at === 'inside');
  }) as (ProviderState | TrackableState)[];
}

function fencesOf(
  context: ShardContext,
  object: ProviderState | TrackableState | undefined,
  spatial: boolean,
): string[] {
  if (object === undefined) return [];
  if (spatial)
    return [...context.state.fences.values()].filter((f) => isWithin(context, object, f)).map(({ id }) => id);
  return object.members.filter(({ membership }) => membership.at === 'inside').map(({ fence }) => fence.id);
}

/** Whether the object's last place touches the fence now, whatever its membership. */
function isWithin(context: ShardContext, object: ProviderState | TrackableState, fence: FenceState): boolean {
  const { state, index } = context;
  const { place } = object;
  if (place === undefined || !fence.placed) return false;
  const seen = object.kind === 'provider' ? providerSeen(state, object, place, 0) : trackableSeen(state, object, 0, 0);
  return fitsVertically(fence.vertical, seen) && index.touches(fence.slot, seen.footprint);
}
