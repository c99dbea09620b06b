import type { ShardContext } from '../context.ts';
import { type Effect, type EffectWriter, effectsIn, type Place } from '../effects.ts';
import type { Membership } from '../fence/membership.ts';
import { timingIn } from '../fence/observe_fences.ts';
import type { Item } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import {
  CHANGED_MEMBERS,
  type ProviderState,
  providerState,
  type ShardState,
  type TrackableState,
  touch,
} from '../state.ts';
import { settle } from './move.ts';
import { schedule } from './on_deadline.ts';
import { providerTiming, trackableTiming } from './seen.ts';

/**
 * The effects of steps are told, and applied where the state is needed again: in a worker that takes the place of a dead
 * one. Whoever applies them has the entities as they are by then.
 */

/** Writes what the step has changed, and forgets that it has: providers first, whose places trackables share. */
// hot
export function writeEffects(state: ShardState, effects: EffectWriter): void {
  const { providers, trackables } = state.changed;
  for (const provider of providers) {
    const at = writeEffect(state, effects, provider, undefined);
    if (provider.fix !== undefined) provider.fix.effectAt = at;
  }
  for (const trackable of trackables) {
    const at = trackable.fix?.effectAt;
    writeEffect(state, effects, trackable, at === -1 ? undefined : at);
  }
  for (const { fix } of providers) if (fix !== undefined) fix.effectAt = -1;
  providers.length = 0;
  trackables.length = 0;
}

function writeEffect(
  { zones }: ShardState,
  effects: EffectWriter,
  object: ProviderState | TrackableState,
  shared: number | undefined,
): number {
  const withMembers = (object.changes & CHANGED_MEMBERS) !== 0;
  object.changes = 0;
  return effects.write(object, { withMembers, shared, isKnown: zones.has });
}

/** Applies the effects of steps that another worker has made, one after the other, without a word to anybody. */
export function onReplay(context: ShardContext, { effects }: Item & { kind: 'replay' }): void {
  const { state } = context;
  for (const ofStep of effects) {
    const places = new Map<number, Fix>();
    for (const effect of effectsIn(ofStep)) apply(state, effect, places);
    state.fixes.endStep();
  }
}

function apply(state: ShardState, effect: Effect, places: Map<number, Fix>): void {
  const { kind, id, place } = effect;
  if (place === undefined) {
    const object = kind === 'provider' ? state.providers.get(id) : state.trackables.get(id);
    if (object !== undefined) placeNowhere(state, object);
    return;
  }
  const fix = typeof place === 'number' ? places.get(place) : fixAt(state, place);
  if (fix === undefined) throw new Error(`The place of ${kind} "${id}" is that of an effect that is not there`);
  if (kind === 'provider') {
    const provider = providerState(state, id);
    places.set(effect.at, fix);
    state.fixes.put(provider, fix);
    applyMembers(state, provider, effect);
    return;
  }
  const trackable = state.trackables.get(id);
  // It was deleted since.
  if (trackable === undefined) return;
  settle(state, trackable, fix);
  trackable.colliding = effect.colliding;
  applyMembers(state, trackable, effect);
}

/** An object without a place is in no fence; a provider that is not configured either is gone. */
function placeNowhere(state: ShardState, object: ProviderState | TrackableState): void {
  state.fixes.put(object, undefined);
  object.nearby = undefined;
  putMembers(object, []);
  state.deadlines.remove(object);
  state.dirty.delete(object);
  if (object.kind === 'provider') {
    if (object.entity === undefined) state.providers.delete(object.id);
    return;
  }
  object.footprint = undefined;
  object.colliding = false;
}

function applyMembers(state: ShardState, object: ProviderState | TrackableState, effect: Effect): void {
  const { members, seenMs, suppressUntilMs } = effect;
  if (members !== undefined) {
    const found = members.flatMap(({ fenceId, ...member }) => {
      const fence = state.fences.get(fenceId);
      return fence === undefined ? [] : [{ fence, ...member }];
    });
    putMembers(object, found);
  } else {
    const timing = object.kind === 'provider' ? providerTiming(state, object) : trackableTiming(object);
    for (const member of object.members) {
      member.seenMs = seenMs;
      member.membership = heardOf(member.membership, seenMs + timingIn(member.fence, timing).fenceTimeoutMs);
    }
  }
  object.suppressUntilMs = suppressUntilMs;
  state.deadlines.remove(object);
  schedule(state, object);
  touch(state, object);
}

function heardOf(membership: Membership, timeoutAtMs: number): Membership {
  return membership.at === 'inside' ? { ...membership, timeoutAtMs } : membership;
}

function putMembers(object: ProviderState | TrackableState, members: ProviderState['members']): void {
  for (const { fence } of object.members) fence.occupants.delete(object);
  for (const { fence } of members) fence.occupants.add(object);
  object.members = members;
  object.changes |= CHANGED_MEMBERS;
}

function fixAt({ zones, fixes }: ShardState, { bytes, zone, ...context }: Place): Fix {
  return fixes.takeOver(bytes, { ...context, zone: typeof zone === 'string' ? zones.find(zone) : zone });
}
