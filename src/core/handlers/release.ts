import { unlink } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import { EffectWriter } from '../effects.ts';
import type { Item } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { CHANGED_SHARD, type ProviderState, type TrackableState, touch } from '../state.ts';
import { fireHeld } from './on_deadline.ts';

/**
 * Objects leave for another hub, with all that they are connected with: their state, with all timers running, is written as
 * effects of a step that has placed them where they are. Who applies these (take_over.ts) goes on as this shard would have.
 */

/**
 * Writes the state of objects and forgets it, without events and rows. Their entities stay, but nothing that is here moves them
 * any more. Of those without a place it says that: what earlier steps have said of them is out of date as well.
 */
export function onRelease(context: ShardContext, item: Item & { kind: 'release' }): void {
  const { state, options } = context;
  const effects = new EffectWriter(options.newBuffer);
  const places = new Map<Fix, number>();
  const isKnown = state.zones.has;
  const how = { withMembers: true, isLocated: false, isKnown };
  const leaving: (ProviderState | TrackableState)[] = [];
  // Providers come first, since trackables share their places.
  for (const id of item.providers) {
    const provider = state.providers.get(id);
    if (provider === undefined) continue;
    const at = effects.write(provider, { ...how, shared: -1 });
    provider.hasHadFix = false;
    if (provider.fix === undefined) continue;
    places.set(provider.fix, at);
    leaving.push(provider);
  }
  for (const id of item.trackables) {
    const trackable = state.trackables.get(id);
    if (trackable === undefined) continue;
    unlink(state, trackable);
    const { fix } = trackable;
    // One that was taken off just before a restart only leaves its fences: it need not do that elsewhere.
    if (fix === undefined) fireHeld(context, trackable, item.receivedMs);
    else leaving.push(trackable);
    effects.write(trackable, { ...how, shared: (fix && places.get(fix)) ?? -1 });
    trackable.hasHadFix = false;
  }
  // They are written before the first is forgotten: trackables have the places of providers.
  for (const object of leaving) leave(context, object);
  const { id, sequence, config } = item;
  context.draft.released.push({ id, sequence, config, effects: effects.take() });
}

function leave({ state }: ShardContext, object: ProviderState | TrackableState): void {
  for (const { fence } of object.members) fence.occupants.delete(object);
  object.members = [];
  state.fixes.put(object, undefined);
  state.deadlines.remove(object);
  object.nearby = undefined;
  object.suppressUntilMs = 0;
  touch(state, object);
  object.changes |= CHANGED_SHARD;
  state.dirty.delete(object);
  state.urgent.delete(object);
  if (object.kind === 'trackable') {
    object.footprint = undefined;
    object.colliding = false;
  } else if (object.entity === undefined) state.providers.delete(object.id);
}
