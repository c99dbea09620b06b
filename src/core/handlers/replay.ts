import type { ShardContext } from '../context.ts';
import { type Effect, type EffectWriter, effectsIn } from '../effects.ts';
import type { Membership } from '../fence/membership.ts';
import { timingIn } from '../fence/observe_fences.ts';
import type { Item, PastStep } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import type { ReceivedLocation } from '../location/received.ts';
import {
  CHANGED_MEMBERS,
  CHANGED_SHARD,
  type ProviderState,
  providerState,
  type ShardState,
  type TrackableState,
  touch,
} from '../state.ts';
import { type Around, aroundOf } from './around.ts';
import { readEffects } from './foreign_times.ts';
import { settle } from './move.ts';
import { schedule } from './on_deadline.ts';
import { providerTiming, trackableTiming } from './seen.ts';

/**
 * The effects of steps are told, and applied where the state is needed again: in a worker that takes the place of a dead
 * one, or in another hub. Whoever applies them has the entities as they are by then.
 */

/**
 * Writes what the step has changed, and clears the marks of the changes. Providers come first, since trackables share their
 * places. If zones have changed during the step, its locations alone do not tell which zone they are in.
 */
// hot
export function writeEffects(state: ShardState, effects: EffectWriter, zonesHaveChanged: boolean): void {
  const { providers, trackables } = state.changed;
  const isKnown = state.zones.has;
  for (const provider of providers) {
    const { fix, changes } = provider;
    if (isSilent(provider)) continue;
    const isLocated = fix?.isLocated === true && !zonesHaveChanged;
    const withMembers = (changes & CHANGED_MEMBERS) !== 0;
    const at = effects.write(provider, { withMembers, shared: -1, isLocated, isKnown });
    provider.changes = 0;
    if (fix !== undefined) fix.effectAt = at;
  }
  for (const trackable of trackables) {
    if (isSilent(trackable)) continue;
    const shared = trackable.fix?.effectAt ?? -1;
    const withMembers = (trackable.changes & CHANGED_MEMBERS) !== 0;
    effects.write(trackable, { withMembers, shared, isLocated: false, isKnown });
    trackable.changes = 0;
  }
  for (const { fix } of providers) {
    if (fix === undefined) continue;
    fix.effectAt = -1;
    fix.isLocated = false;
  }
  providers.length = 0;
  trackables.length = 0;
}

/**
 * Clears the marks of an object of which there is nothing to say: it is nowhere, and has been nowhere else here. All hubs are
 * told of the entities of all objects, and what another one says of an object counts as long as this one says nothing.
 */
// hot
function isSilent(object: ProviderState | TrackableState): boolean {
  if (object.fix !== undefined || object.hasHadFix || (object.changes & CHANGED_SHARD) !== 0) return false;
  object.changes = 0;
  return true;
}

/** Applies what steps of another worker have changed, one after the other, without a word to anybody. */
export function onReplay(context: ShardContext, { steps }: Item & { kind: 'replay' }): void {
  replaySteps(context, steps, { around: aroundOf(context.state) });
}

/** How to read effects. */
export interface Replaying {
  readonly around: Around;
  /** Where the steps are of another hub: which objects are concerned, and until when their deadlines are held. */
  readonly takenOver?: {
    readonly only: Readonly<Record<Effect['kind'], ReadonlySet<string>>>;
    readonly heldUntilMs: number;
  };
}

/** The same of steps of whomever. */
export function replaySteps(context: ShardContext, steps: readonly PastStep[], how: Replaying): void {
  const { state } = context;
  for (const step of steps) {
    const read = readEffects(step, context.setBacks);
    const replay = new Replay(state, step, how);
    for (const effect of effectsIn(step.effects)) replay.apply(read(effect));
    state.fixes.endStep();
  }
}

/** The replay of one step. */
class Replay {
  readonly #state: ShardState;
  readonly #locations: ReadonlyMap<number, ReceivedLocation>;
  readonly #how: Replaying;
  readonly #except: ReadonlySet<string>;
  /** The fixes of providers, by the offsets of their effects. */
  readonly #fixes = new Map<number, Fix>();

  constructor(state: ShardState, { locations, except }: PastStep, how: Replaying) {
    this.#state = state;
    this.#how = how;
    this.#except = new Set(except);
    this.#locations = new Map(locations.map((location) => [location.seq, location]));
  }

  apply(effect: Effect): void {
    const state = this.#state;
    const { kind, at, place, colliding } = effect;
    const id = effect.id ?? this.#locationOf(effect).providerId;
    const { takenOver } = this.#how;
    const isConcerned = takenOver === undefined || (takenOver.only[kind].has(id) && !this.#isExcepted(kind, id));
    // For another hub it is where it was until a step says that it has arrived.
    if (place.at === 'elsewhere' && takenOver !== undefined) return;
    if (place.at === 'nowhere' || place.at === 'elsewhere') {
      if (!isConcerned) return;
      const object = kind === 'provider' ? state.providers.get(id) : state.trackables.get(id);
      if (object !== undefined) placeNowhere(state, object);
      // The row that it had is another hub's, of which that one may not have lived to say that it is gone.
      if (takenOver !== undefined) state.gone.set(`${kind} ${id}`, [kind, id]);
      return;
    }
    if (!isConcerned && kind === 'trackable') return;
    const fix = this.#fixOf(effect);
    // Trackables that are concerned may share its place.
    if (kind === 'provider') this.#fixes.set(at, fix);
    if (!isConcerned) return;
    state.gone.delete(`${kind} ${id}`);
    if (kind === 'provider') {
      const provider = providerState(state, id);
      state.fixes.put(provider, fix);
      this.#applyMembers(provider, effect);
      return;
    }
    const trackable = state.trackables.get(id);
    // It has been deleted since.
    if (trackable === undefined) return;
    settle(state, trackable, fix);
    trackable.colliding = colliding;
    this.#applyMembers(trackable, effect);
  }

  #isExcepted(kind: Effect['kind'], id: string): boolean {
    return this.#except.size > 0 && this.#except.has(`${kind} ${id}`);
  }

  #applyMembers(object: ProviderState | TrackableState, effect: Effect): void {
    const { around, takenOver } = this.#how;
    const suppressUntilMs = Math.max(effect.suppressUntilMs, takenOver?.heldUntilMs ?? 0);
    applyMembers(this.#state, object, effect, { around, suppressUntilMs });
  }

  #fixOf(effect: Effect): Fix {
    const { place } = effect;
    const { fixes } = this.#state;
    const { zone: find } = this.#how.around;
    switch (place.at) {
      case 'location': {
        const location = this.#locationOf(effect);
        const { providerId, source } = location;
        const zone = place.isInZone ? find(source) : undefined;
        return fixes.take(location, place.derived, { ...place, providerId, source, zone });
      }
      case 'fix': {
        const { zone: name } = place;
        const zone = typeof name === 'string' ? find(name) : name;
        return fixes.takeOver(place.bytes, { ...place, zone: place.isInZone ? zone : undefined });
      }
      case 'shared': {
        const fix = this.#fixes.get(place.effect);
        if (fix === undefined)
          throw new Error(
            `Cannot replay a step: there is no effect of a provider at ${place.effect} to share a place with`,
          );
        return fix;
      }
      case 'nowhere':
      case 'elsewhere':
        throw new Error('Cannot take a fix from an effect without a place');
    }
  }

  #locationOf({ place }: Effect): ReceivedLocation {
    const seq = place.at === 'location' ? place.seq : 0;
    const location = this.#locations.get(seq);
    if (location === undefined) throw new Error(`Cannot replay a step: it has no location ${seq}`);
    return location;
  }
}

/** Takes an object out of all fences, since it has no place; a provider that is not configured either is forgotten. */
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

function applyMembers(
  state: ShardState,
  object: ProviderState | TrackableState,
  { members, heardMs }: Effect,
  { around, suppressUntilMs }: { readonly around: Around; readonly suppressUntilMs: number },
): void {
  if (members !== undefined) {
    const found = members.flatMap(({ fenceId, ...member }) => {
      const fence = around.fence(fenceId);
      return fence === undefined ? [] : [{ fence, ...member }];
    });
    putMembers(object, found);
  } else if (heardMs !== undefined) {
    const timing = object.kind === 'provider' ? providerTiming(state, object) : trackableTiming(object);
    for (const member of object.members) {
      member.seenMs = heardMs;
      member.membership = heardOf(member.membership, heardMs + timingIn(member.fence, timing).fenceTimeoutMs);
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
