import type { Fix } from './location/fix.ts';
import type { Assigned, ShardState, TrackableState } from './state.ts';

/** Links between objects: the trackables that a provider moves, and the trackables that a trackable carries. */

const NOTHING: Assigned = { trackables: [], ids: [] };

/** Returns the trackables that the provider is assigned to. */
export function assignedTo(state: ShardState, providerId: string): Assigned {
  return state.assigned.get(providerId) ?? NOTHING;
}

/** Returns the trackables that the trackable carries, in id order. */
export function carriedBy(state: ShardState, id: string): readonly TrackableState[] {
  return state.carried.get(id) ?? NOTHING.trackables;
}

/**
 * Whether the trackable is detached: the provider or parent that brought it to its location is no longer assigned to
 * it.
 */
export function isDetached(state: ShardState, { entity, fix }: TrackableState): boolean {
  if (fix === undefined || entity.location_providers?.includes(fix.providerId) === true) return false;
  const parent = entity.parent == null ? undefined : state.trackables.get(entity.parent);
  return parent?.fix?.providerId !== fix.providerId;
}

/** Links the trackable to the providers and the parent that its entity names. */
export function link(state: ShardState, trackable: TrackableState): void {
  const { location_providers: providers, parent } = trackable.entity;
  state.filterVersion++;
  for (const id of providers ?? []) {
    state.assigned.set(id, assigned([...assignedTo(state, id).trackables, trackable]));
  }
  if (parent != null) state.carried.set(parent, inIdOrder([...carriedBy(state, parent), trackable]));
}

/** Removes the links of the trackable to the providers and the parent that its entity names. */
export function unlink(state: ShardState, trackable: TrackableState): void {
  const { location_providers: providers, parent } = trackable.entity;
  state.filterVersion++;
  for (const id of providers ?? []) {
    const rest = assignedTo(state, id).trackables.filter((other) => other !== trackable);
    if (rest.length === 0) state.assigned.delete(id);
    else state.assigned.set(id, assigned(rest));
  }
  if (parent == null) return;
  const rest = carriedBy(state, parent).filter((other) => other !== trackable);
  if (rest.length === 0) state.carried.delete(parent);
  else state.carried.set(parent, rest);
}

function assigned(unordered: TrackableState[]): Assigned {
  const trackables = inIdOrder(unordered);
  return { trackables, ids: trackables.map(({ id }) => id) };
}

function inIdOrder(trackables: TrackableState[]): TrackableState[] {
  return trackables.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Returns the fix with the trackables that its provider is assigned to now. A fix itself stores the trackables assigned
 * when its location was received. A fix from a provider that is not assigned to `at` stays as it is: that provider may
 * belong to another shard.
 */
export function namingTrackables(state: ShardState, fix: Fix, at?: TrackableState): Fix {
  if (at !== undefined && at.entity.location_providers?.includes(fix.providerId) !== true) return fix;
  const { ids } = assignedTo(state, fix.providerId);
  const named = fix.trackables;
  if (named === ids) return fix;
  if (named.length === ids.length && named.every((id, i) => id === ids[i])) return fix;
  return state.fixes.renamed(fix, ids);
}
