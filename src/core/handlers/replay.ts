import type { ShardContext } from '../context.ts';
import { type Effect, type EffectWriter, effectsIn } from '../effects.ts';
import type { FenceMembership } from '../fence/membership.ts';
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
import { type EntityLookup, currentEntities } from './entity_lookup.ts';
import { readEffects } from './remote_times.ts';
import { settle } from './move.ts';
import { schedule } from './on_deadline.ts';
import { providerTiming, trackableTiming } from './fence_observation.ts';

/**
 * Writes the effects of steps and replays them where the state is needed again: in a worker that replaces a failed one,
 * or on another hub.
 */

/**
 * Writes the state changes of the step and clears their marks. Providers come first, since trackables share their
 * positions. If zones have changed during the step, a location does not determine its zone.
 */
// hot
export function writeEffects(state: ShardState, effects: EffectWriter, zonesHaveChanged: boolean): void {
  const { providers, trackables } = state.changed;
  const hasZone = state.zones.has;
  for (const provider of providers) {
    const { fix, changes } = provider;
    if (needsNoEffect(provider)) continue;
    const isLocated = fix?.isLocated === true && !zonesHaveChanged;
    const withMembers = (changes & CHANGED_MEMBERS) !== 0;
    const at = effects.write(provider, { withMembers, shared: -1, isLocated, hasZone });
    provider.changes = 0;
    if (fix !== undefined) fix.effectAt = at;
  }
  for (const trackable of trackables) {
    if (needsNoEffect(trackable)) continue;
    const shared = trackable.fix?.effectAt ?? -1;
    const withMembers = (trackable.changes & CHANGED_MEMBERS) !== 0;
    effects.write(trackable, { withMembers, shared, isLocated: false, hasZone });
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
 * Returns whether a changed object needs no effect, because it has never had a position here, and clears its marks.
 * Every hub has the entities of all objects; the effects of another hub apply to the object as long as this hub writes
 * none.
 */
// hot
function needsNoEffect(object: ProviderState | TrackableState): boolean {
  if (object.fix !== undefined || object.hasHadFix || (object.changes & CHANGED_SHARD) !== 0) return false;
  object.changes = 0;
  return true;
}

/** Applies steps of another worker in order, without publishing anything. */
export function onReplay(context: ShardContext, { steps }: Item & { kind: 'replay' }): void {
  replaySteps(context, steps, { entities: currentEntities(context.state) });
}

/** Options of a replay. */
export interface ReplayOptions {
  readonly entities: EntityLookup;
  /** For steps of another hub: the objects to apply, and the time until which their deadlines are suppressed. */
  readonly takenOver?: {
    readonly only: Readonly<Record<Effect['kind'], ReadonlySet<string>>>;
    readonly heldUntilMs: number;
  };
}

/** Applies steps of a worker or of another hub. */
export function replaySteps(context: ShardContext, steps: readonly PastStep[], options: ReplayOptions): void {
  const { state } = context;
  for (const step of steps) {
    const read = readEffects(step, context.clockSteps);
    const replay = new Replay(state, step, options);
    for (const effect of effectsIn(step.effects)) replay.apply(read(effect));
    state.fixes.endStep();
  }
}

/** The replay of one step. */
class Replay {
  readonly #state: ShardState;
  readonly #locations: ReadonlyMap<number, ReceivedLocation>;
  readonly #options: ReplayOptions;
  readonly #except: ReadonlySet<string>;
  /** Fixes of providers, by the offsets of their effects. */
  readonly #fixes = new Map<number, Fix>();

  constructor(state: ShardState, { locations, except }: PastStep, options: ReplayOptions) {
    this.#state = state;
    this.#options = options;
    this.#except = new Set(except);
    this.#locations = new Map(locations.map((location) => [location.seq, location]));
  }

  apply(effect: Effect): void {
    const state = this.#state;
    const { kind, at, place, colliding } = effect;
    const id = effect.id ?? this.#locationOf(effect).providerId;
    const { takenOver } = this.#options;
    const isApplied = takenOver === undefined || (takenOver.only[kind].has(id) && !this.#isExcepted(kind, id));
    // An object in transit to another hub stays at its position until a step contains its arrival.
    if (place.at === 'elsewhere' && takenOver !== undefined) return;
    if (place.at === 'nowhere' || place.at === 'elsewhere') {
      if (!isApplied) return;
      const object = kind === 'provider' ? state.providers.get(id) : state.trackables.get(id);
      if (object !== undefined) removePosition(state, object);
      // The row belongs to another hub, which may have failed before deleting it.
      if (takenOver !== undefined) state.gone.set(`${kind} ${id}`, [kind, id]);
      return;
    }
    if (!isApplied && kind === 'trackable') return;
    const fix = this.#fixOf(effect);
    // Effects that are applied may share the position of a provider that is not.
    if (kind === 'provider') this.#fixes.set(at, fix);
    if (!isApplied) return;
    state.gone.delete(`${kind} ${id}`);
    if (kind === 'provider') {
      const provider = providerState(state, id);
      state.fixes.put(provider, fix);
      this.#applyMembers(provider, effect);
      return;
    }
    const trackable = state.trackables.get(id);
    // The trackable was deleted since.
    if (trackable === undefined) return;
    settle(state, trackable, fix);
    trackable.colliding = colliding;
    this.#applyMembers(trackable, effect);
  }

  #isExcepted(kind: Effect['kind'], id: string): boolean {
    return this.#except.size > 0 && this.#except.has(`${kind} ${id}`);
  }

  #applyMembers(object: ProviderState | TrackableState, effect: Effect): void {
    const { entities, takenOver } = this.#options;
    const suppressUntilMs = Math.max(effect.suppressUntilMs, takenOver?.heldUntilMs ?? 0);
    applyMembers(this.#state, object, effect, { entities, suppressUntilMs });
  }

  #fixOf(effect: Effect): Fix {
    const { place } = effect;
    const { fixes } = this.#state;
    const { zone: find } = this.#options.entities;
    switch (place.at) {
      case 'location': {
        const location = this.#locationOf(effect);
        const { providerId, source } = location;
        const zone = place.isInZone ? find(source) : undefined;
        return fixes.take(location, place.derived, { ...place, providerId, source, zone }, place.track);
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

/** Removes an object without a position from all fences; a provider without entity is deleted. */
function removePosition(state: ShardState, object: ProviderState | TrackableState): void {
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
  { members, lastSeenMs }: Effect,
  { entities, suppressUntilMs }: { readonly entities: EntityLookup; readonly suppressUntilMs: number },
): void {
  if (members !== undefined) {
    const found = members.flatMap(({ fenceId, ...member }) => {
      const fence = entities.fence(fenceId);
      return fence === undefined ? [] : [{ fence, ...member }];
    });
    putMembers(object, found);
  } else if (lastSeenMs !== undefined) {
    const timing = object.kind === 'provider' ? providerTiming(state, object) : trackableTiming(object);
    for (const member of object.members) {
      member.seenMs = lastSeenMs;
      member.membership = observedAt(member.membership, lastSeenMs + timingIn(member.fence, timing).fenceTimeoutMs);
    }
  }
  object.suppressUntilMs = suppressUntilMs;
  state.deadlines.remove(object);
  schedule(state, object);
  touch(state, object);
}

function observedAt(membership: FenceMembership, timeoutAtMs: number): FenceMembership {
  return membership.at === 'inside' ? { ...membership, timeoutAtMs } : membership;
}

function putMembers(object: ProviderState | TrackableState, members: ProviderState['members']): void {
  for (const { fence } of object.members) fence.occupants.delete(object);
  for (const { fence } of members) fence.occupants.add(object);
  object.members = members;
  object.changes |= CHANGED_MEMBERS;
}
