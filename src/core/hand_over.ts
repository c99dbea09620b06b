import type { LocationProvider } from '../model/provider.ts';
import type { Trackable } from '../model/trackable.ts';
import { unlink } from './assignments.ts';
import { setTrackable } from './change/on_trackable.ts';
import type { ShardContext } from './context.ts';
import type { Membership } from './fence/membership.ts';
import { timingOfObject } from './fence/timing.ts';
import type { Item } from './item.ts';
import { rowOf } from './last_known.ts';
import { providerState } from './location/on_location.ts';
import type { Place, PlaceContext } from './location/place.ts';
import { settle } from './motion/move.ts';
import { schedule } from './schedule.ts';
import type { ProviderState, ShardState, TrackableState } from './state.ts';

/**
 * Objects move from shard to shard when their assignment changes. Their state goes along whole, with all timers
 * running, so nobody can tell from the events that they have moved.
 */

/** Each shard has its own zones. */
type PlaceOnTheWay = Omit<PlaceContext, 'zone'> & { readonly bytes: Uint8Array };

interface ObjectOnTheWay {
  readonly id: string;
  readonly place: PlaceOnTheWay | undefined;
  readonly members: readonly (readonly [fenceId: string, membership: Membership])[];
  readonly holdMs: number;
}

interface ProviderOnTheWay extends ObjectOnTheWay {
  readonly entity: LocationProvider | undefined;
}

interface TrackableOnTheWay extends ObjectOnTheWay {
  readonly entity: Trackable;
  readonly colliding: boolean;
}

/** Hands out the state of objects and forgets them, without events. */
export function onRelease(context: ShardContext, item: Item & { kind: 'release' }): void {
  const { state } = context;
  const providers: ProviderOnTheWay[] = [];
  const trackables: TrackableOnTheWay[] = [];
  for (const id of item.providers) {
    const provider = state.providers.get(id);
    if (provider === undefined) continue;
    providers.push({ ...packed(context, provider), entity: provider.entity });
    forget(context, provider);
    state.providers.delete(id);
  }
  for (const id of item.trackables) {
    const trackable = state.trackables.get(id);
    if (trackable === undefined) continue;
    const { entity, colliding } = trackable;
    trackables.push({ ...packed(context, trackable), entity, colliding });
    forget(context, trackable);
    unlink(state, trackable);
    state.trackables.delete(id);
  }
  context.draft.answers.push([item.id, { providers, trackables }]);
}

/**
 * Takes in the state of objects from another shard. Their rows are wanted at once: should this shard's worker die, they
 * must not be older than what has come along; and what is told of the objects here, once the rows are kept, then comes
 * after what was told of them there.
 */
export function onAdopt(context: ShardContext, item: Item & { kind: 'adopt' }): void {
  const { state } = context;
  for (const packedProvider of item.state.providers as readonly ProviderOnTheWay[]) {
    const provider = providerState(state, packedProvider.id);
    provider.entity ??= packedProvider.entity;
    provider.timing = timingOfObject(provider.entity);
    state.places.put(provider, unpackPlace(state, packedProvider.place));
    unpackInto(state, provider, packedProvider);
  }
  for (const packedTrackable of item.state.trackables as readonly TrackableOnTheWay[]) {
    // Its entity may be here already, in a newer version.
    const trackable = state.trackables.get(packedTrackable.id) ?? setTrackable(state, packedTrackable.entity);
    const place = unpackPlace(state, packedTrackable.place);
    if (place !== undefined) settle(state, trackable, place);
    trackable.colliding = packedTrackable.colliding;
    unpackInto(state, trackable, packedTrackable);
  }
}

function packed(context: ShardContext, object: ProviderState | TrackableState): ObjectOnTheWay {
  const { id, place, members, holdMs } = object;
  return {
    id,
    place: place && packedPlace(context, place),
    members: members.map(({ fence, membership }) => [fence.id, membership] as const),
    holdMs,
  };
}

/** The position as sent goes along while its zone is still the same. */
function packedPlace({ zones }: ShardContext, place: Place): PlaceOnTheWay {
  const { providerId, source, zone, timing, trackables } = place;
  const isLocal = place.isLocal && zones(source) === zone;
  // The room of the place may be used again before this is packed.
  return { providerId, source, timing, trackables, isLocal, bytes: Uint8Array.from(place.bytes) };
}

/** What must be kept before its events are published is kept by this shard, which publishes them. */
function forget({ state, draft }: ShardContext, object: ProviderState | TrackableState): void {
  if (state.urgent.has(object) && object.place !== undefined) draft.rows.push(rowOf(object, object.place));
  for (const { fence } of object.members) fence.occupants.delete(object);
  state.places.put(object, undefined);
  state.deadlines.remove(object);
  state.dirty.delete(object);
  state.urgent.delete(object);
}

function unpackInto(state: ShardState, object: ProviderState | TrackableState, from: ObjectOnTheWay): void {
  object.holdMs = from.holdMs;
  for (const [fenceId, membership] of from.members) {
    const fence = state.fences.get(fenceId);
    if (fence === undefined) continue;
    object.members.push({ fence, membership });
    fence.occupants.add(object);
  }
  state.dirty.add(object);
  state.urgent.add(object);
  schedule(state, object);
}

function unpackPlace(state: ShardState, from: PlaceOnTheWay | undefined): Place | undefined {
  return from && state.places.takeOver(from.bytes, { ...from, zone: state.zones.find(from.source) });
}
