import { unlink } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import { EffectWriter } from '../effects.ts';
import type { Item } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { CHANGED_SHARD, type ProviderState, type ShardState, type TrackableState, touch } from '../state.ts';
import { fireSuppressed } from './on_deadline.ts';

/**
 * Releases objects that migrate to another hub, together with all objects linked to them. Their state, including
 * running timers, is written as effects of a step. The hub that applies these effects (take_over.ts) continues exactly
 * as this shard would have.
 */

/**
 * Writes the state of objects as effects and removes it, without events and rows. The entities stay, but locations of
 * the objects are no longer processed here. An object without a position, or without any state, also gets an effect:
 * earlier steps may contain a position, or its deletion, and must not count after steps of the next owner.
 */
export function onRelease(context: ShardContext, item: Item & { kind: 'release' }): void {
  const { state, options } = context;
  const effects = new EffectWriter(options.newBuffer);
  const positions = new Map<Fix, number>();
  const leaving: (ProviderState | TrackableState)[] = [];
  // Providers come first, since trackables share their positions.
  for (const id of item.providers) {
    const provider = state.providers.get(id);
    if (provider === undefined) {
      effects.nowhere('provider', id);
      continue;
    }
    writeState(state, provider, { effects, positions });
    provider.hasHadFix = false;
    if (provider.fix !== undefined) leaving.push(provider);
  }
  for (const id of item.trackables) {
    const trackable = state.trackables.get(id);
    if (trackable === undefined) {
      effects.nowhere('trackable', id);
      continue;
    }
    unlink(state, trackable);
    const { fix } = trackable;
    // A trackable that was detached just before a restart only leaves its fences; the new owner need not repeat that.
    if (fix === undefined) fireSuppressed(context, trackable, item.receivedMs);
    else leaving.push(trackable);
    writeState(state, trackable, { effects, positions });
    trackable.hasHadFix = false;
  }
  // All effects are written before the first object is removed: trackables share the positions of providers.
  for (const object of leaving) removeState(context, object);
  const { id, sequence, config } = item;
  context.draft.released.push({ id, sequence, config, effects: effects.take() });
}

/**
 * Writes the full state of an object that leaves as an effect. `positions`: offsets of the effects of the providers that were
 * written before, whose positions trackables share.
 */
export function writeState(
  { zones }: ShardState,
  object: ProviderState | TrackableState,
  { effects, positions }: { readonly effects: EffectWriter; readonly positions: Map<Fix, number> },
): void {
  const { kind, fix } = object;
  const shared = (kind === 'trackable' && fix !== undefined ? positions.get(fix) : undefined) ?? -1;
  const at = effects.write(object, { withMembers: true, shared, isLocated: false, hasZone: zones.has });
  if (kind === 'provider' && fix !== undefined) positions.set(fix, at);
}

function removeState({ state }: ShardContext, object: ProviderState | TrackableState): void {
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
    return;
  }
  object.proximity = undefined;
  if (object.entity === undefined) state.providers.delete(object.id);
}
