import type { StoredFence } from '../model/fence.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { Trackable } from '../model/trackable.ts';
import { DeadlineHeap } from './deadline_heap.ts';
import type { Footprint, Nearby, Region } from './fence/fence_index.ts';
import type { Membership } from './fence/membership.ts';
import { type OwnTiming, type Timing, UNSET } from './fence/timing.ts';
import type { Vertical } from './fence/vertical.ts';
import type { Fix } from './location/fix.ts';
import { FixSlab } from './location/fix_slab.ts';
import type { NewRecordBuffer } from './location/record.ts';
import { type Ranking, UNRANKED } from './rules/evaluate.ts';
import { Followers } from './zone/following.ts';
import { ZoneTable } from './zone/zone_table.ts';

/** Everything that a shard knows. Plain values; the functions of core/ change it only within a step. */
export interface ShardState {
  readonly zones: ZoneTable;
  /** The zones that are taken along, by what takes them. */
  readonly followers: Followers;
  readonly fences: Map<string, FenceState>;
  /** Fences by slot, the small number that the fence index knows them by. */
  readonly slots: (FenceState | undefined)[];
  readonly freeSlots: number[];
  /** Per slot the number of the last observation that met it as a membership: see observe_fences.ts. */
  met: Int32Array;
  observations: number;
  /** The slots of the fences that the object touches perhaps that is being observed. */
  near: Int32Array;
  readonly providers: Map<string, ProviderState>;
  readonly trackables: Map<string, TrackableState>;
  /** What each provider is assigned to; also of providers that were never seen. */
  readonly assigned: Map<string, Assigned>;
  /** The trackables that each trackable carries, in id order. */
  readonly carried: Map<string, readonly TrackableState[]>;
  /** All fixes that an object holds: `fixes.put` alone puts it there. */
  readonly fixes: FixSlab;
  readonly deadlines: DeadlineHeap<Tracked>;
  /** Objects whose row in the store is out of date. */
  readonly dirty: Set<ProviderState | TrackableState>;
  /** Objects that have changed in the step in progress: see `touch`. */
  readonly changed: { readonly providers: ProviderState[]; readonly trackables: TrackableState[] };
  /** Those of them whose memberships have changed. */
  readonly urgent: Set<ProviderState | TrackableState>;
  /** Rows to be deleted from the store: kind and id. */
  readonly gone: Map<string, readonly [ObjectKind, string]>;
  /** Ranks locations of trackables that have no rules of their own. */
  rules: Ranking;
}

/** The trackables that a provider is assigned to, in id order, and their ids. */
export interface Assigned {
  readonly trackables: readonly TrackableState[];
  readonly ids: string[];
}

/** Some providers and trackables, or all. */
export interface Objects {
  readonly providers: Iterable<ProviderState>;
  readonly trackables: Iterable<TrackableState>;
}

/** All of a shard. */
export function allObjects({ providers, trackables }: ShardState): Objects {
  return { providers: providers.values(), trackables: trackables.values() };
}

/** What providers and trackables have in common: they are in fences. */
export interface Tracked {
  readonly kind: ObjectKind;
  readonly id: string;
  fix: Fix | undefined;
  /** Whether it has had a fix here since it came. */
  hasHadFix: boolean;
  /** The fences that it is in or entering. */
  members: Member[];
  nearby: Nearby | undefined;
  /** Deadlines do not fire before this time on their own: set at a restart, until the next observation. */
  suppressUntilMs: number;
  heapIndex: number;
  /** What of it has changed in the step in progress: CHANGED, CHANGED_MEMBERS. */
  changes: number;
}

/**
 * Flags: the object is among those that have changed; so have its memberships, by more than a restarted timeout; it is on its
 * way to another shard.
 */
export const [CHANGED, CHANGED_MEMBERS, CHANGED_SHARD] = [1, 2, 4] as const;

export interface Member {
  fence: FenceState;
  membership: Membership;
  /** Time of receipt of the last observation that the fence was shown. */
  seenMs: number;
}

export interface ProviderState extends Tracked {
  readonly kind: 'provider';
  entity: LocationProvider | undefined;
  timing: OwnTiming;
}

export interface TrackableState extends Tracked {
  readonly kind: 'trackable';
  entity: Trackable;
  timing: OwnTiming;
  /** Its own rules; undefined: those of the hub apply. */
  rules: Ranking | undefined;
  /** Extent at `fix`. */
  footprint: Footprint | undefined;
  /** Whether the collision stage knows of it. */
  colliding: boolean;
  /** What its motions have in common, as JSON text, made at first use. */
  texts: MotionTexts | undefined;
}

/** Parts of a motion's JSON text. */
export interface MotionTexts {
  /** `{"id":…,"name":…,"extrusion":…` without the members that are not set. */
  readonly head: string;
  /** `,"properties":…` or empty. */
  readonly properties: string;
}

export interface FenceState {
  readonly id: string;
  readonly slot: number;
  readonly entity: StoredFence;
  readonly timing: OwnTiming;
  /** Its effective timing for objects that set nothing themselves. */
  readonly plainTiming: Timing;
  readonly vertical: Vertical;
  /** Where it is on the earth: a local region without a placed zone is nowhere. */
  readonly region: Region | undefined;
  /** The objects that are in it or entering. */
  readonly occupants: Set<Tracked>;
  /** What its events have in common, as JSON text, made at first use. */
  texts: FenceTexts | undefined;
}

/** Parts of a fence event's JSON text. */
export interface FenceTexts {
  readonly id: string;
  /** `,"foreign_id":…` or empty. */
  readonly foreignId: string;
  /** `,"properties":…` or empty. */
  readonly properties: string;
}

export function emptyState(newBuffer: NewRecordBuffer): ShardState {
  return {
    zones: new ZoneTable(),
    followers: new Followers(),
    fences: new Map(),
    slots: [],
    freeSlots: [],
    met: new Int32Array(64),
    observations: 0,
    near: new Int32Array(64),
    providers: new Map(),
    trackables: new Map(),
    assigned: new Map(),
    carried: new Map(),
    fixes: new FixSlab(newBuffer),
    deadlines: new DeadlineHeap(),
    dirty: new Set(),
    changed: { providers: [], trackables: [] },
    urgent: new Set(),
    gone: new Map(),
    rules: UNRANKED,
  };
}

/** The state of a provider, made at first sight. */
export function providerState(state: ShardState, id: string): ProviderState {
  let provider = state.providers.get(id);
  if (provider === undefined) {
    provider = {
      kind: 'provider',
      id,
      entity: undefined,
      timing: UNSET,
      fix: undefined,
      hasHadFix: false,
      members: [],
      nearby: undefined,
      suppressUntilMs: 0,
      heapIndex: -1,
      changes: 0,
    };
    state.providers.set(id, provider);
  }
  return provider;
}

/** Notes that an object has changed: its row is out of date, and the effects of the step must include it. */
// hot
export function touch(state: ShardState, object: ProviderState | TrackableState): void {
  state.dirty.add(object);
  if ((object.changes & CHANGED) !== 0) return;
  object.changes |= CHANGED;
  if (object.kind === 'provider') state.changed.providers.push(object);
  else state.changed.trackables.push(object);
}
