import type { Fence, StoredFence } from '../model/fence.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { Trackable } from '../model/trackable.ts';
import { DeadlineHeap } from './deadline_heap.ts';
import type { Footprint, Nearby, Region } from './fence/fence_index.ts';
import { GateCounts } from './fence/gate_counts.ts';
import type { FenceMembership } from './fence/membership.ts';
import { type OwnTiming, type Timing, UNSET } from './fence/timing.ts';
import { UntrackedRegions } from './fence/untracked.ts';
import type { Vertical } from './fence/vertical.ts';
import type { Fix } from './location/fix.ts';
import { FixSlab } from './location/fix_slab.ts';
import type { ProximityState } from './location/proximity_arbitration.ts';
import type { NewRecordBuffer } from './location/record.ts';
import { type Ranking, UNRANKED } from './rules/evaluate.ts';
import type { FilterSettings } from './tracking/filter_settings.ts';
import { Followers } from './zone/following.ts';
import { ZoneTable } from './zone/zone_table.ts';

/** State of a shard. Plain values; only the functions of core/ change them, within a step. */
export interface ShardState {
  readonly zones: ZoneTable;
  /** Zones that follow objects. */
  readonly followers: Followers;
  readonly fences: Map<string, FenceState>;
  readonly crossing: CrossingState;
  /** Regions in which objects have no location. */
  readonly untracked: UntrackedRegions;
  /** Fences by slot, their number in the fence index. */
  readonly slots: (FenceState | undefined)[];
  readonly freeSlots: number[];
  /**
   * Per slot, the number of the last observation in which the object had a membership of that fence: see
   * observe_fences.ts.
   */
  metInObservation: Int32Array;
  observations: number;
  /** Slots of the fences that the observed object may touch. */
  near: Int32Array;
  readonly providers: Map<string, ProviderState>;
  readonly trackables: Map<string, TrackableState>;
  /** Assignments of each provider, including providers that were never seen. */
  readonly assigned: Map<string, Assigned>;
  /** Trackables carried by each trackable, in id order. */
  readonly carried: Map<string, readonly TrackableState[]>;
  /** All fixes held by objects; only `fixes.put` assigns one to an object. */
  readonly fixes: FixSlab;
  readonly deadlines: DeadlineHeap<Tracked>;
  /** Objects whose stored row is out of date. */
  readonly dirty: Set<ProviderState | TrackableState>;
  /** Objects that have changed in the current step: see `touch`. */
  readonly changed: { readonly providers: ProviderState[]; readonly trackables: TrackableState[] };
  /** Changed objects whose memberships have changed. */
  readonly urgent: Set<ProviderState | TrackableState>;
  /** Kind and id of the objects whose row is to be deleted from the store. */
  readonly gone: Map<string, readonly [ObjectKind, string]>;
  /** Ranks locations of trackables that have no rules of their own. */
  rules: Ranking;
  /** Whether the configuration or any entity since the start sets a filter. */
  isFiltering: boolean;
  /** Number of changes of entities that settings of filters may depend on. */
  filterVersion: number;
}

/** Which fences evaluate the way between two observations: see cross_fences.ts. */
export interface CrossingState extends CrossingSettings {
  /** Number of these fences. */
  fences: number;
  /** Crossings of gates since the wall-clock time `countedSinceMs`; 0 before the first step. */
  readonly gates: GateCounts;
  countedSinceMs: number;
}

/** Settings of the crossings between two observations. */
export interface CrossingSettings {
  /** The mode of fences that set none. */
  readonly byDefault: NonNullable<Fence['crossing']>;
  /** Maximum time between two observations. */
  readonly maxGapMs: number;
}

const UNCROSSED: CrossingSettings = { byDefault: 'none', maxGapMs: 10_000 };

/** The trackables that a provider is assigned to, in id order, and their ids. */
export interface Assigned {
  readonly trackables: readonly TrackableState[];
  readonly ids: string[];
}

/** Some or all providers and trackables. */
export interface ObjectSets {
  readonly providers: Iterable<ProviderState>;
  readonly trackables: Iterable<TrackableState>;
}

/** Returns all objects of a shard. */
export function allObjects({ providers, trackables }: ShardState): ObjectSets {
  return { providers: providers.values(), trackables: trackables.values() };
}

/** Common state of providers and trackables, which both have fence memberships. */
export interface Tracked {
  readonly kind: ObjectKind;
  readonly id: string;
  fix: Fix | undefined;
  /** Whether the object has had a fix in this shard. */
  hasHadFix: boolean;
  /** Memberships of the fences that the object is in or entering. */
  members: FenceMember[];
  nearby: Nearby | undefined;
  /** Deadlines fire no earlier than this time, unless the object is observed before. Set at a restart. */
  suppressUntilMs: number;
  heapIndex: number;
  /** Changes of the object in the current step, as flags. */
  changes: number;
}

/** Flags of changes: any change; memberships other than a restarted timeout; transit to another shard. */
export const [CHANGED, CHANGED_MEMBERS, CHANGED_SHARD] = [1, 2, 4] as const;

export interface FenceMember {
  fence: FenceState;
  membership: FenceMembership;
  /** Time of receipt of the last observation in the fence. */
  seenMs: number;
}

export interface ProviderState extends Tracked {
  readonly kind: 'provider';
  entity: LocationProvider | undefined;
  timing: OwnTiming;
  /** Settings of the filter, found when needed (handlers/filter_location.ts). */
  filter: FoundFilter | undefined;
  /** Which of several readers holds the tag; undefined without `proximity_resolution` of a zone. */
  proximity: ProximityState | undefined;
}

export interface TrackableState extends Tracked {
  readonly kind: 'trackable';
  entity: Trackable;
  timing: OwnTiming;
  /** Ranking by the trackable's own rules; undefined if the hub's rules apply. */
  rules: Ranking | undefined;
  /** Extent at `fix`. */
  footprint: Footprint | undefined;
  /** Settings of the filter that all its providers feed, found when needed. */
  filter: FoundFilter | undefined;
  /** Whether the collision stage has the trackable. */
  colliding: boolean;
  /** JSON parts common to all motions, created on first use. */
  json: MotionJson | undefined;
}

/** Settings of a filter, with the version and, for a provider, the type of provider that they were found for. */
export interface FoundFilter {
  readonly version: number;
  readonly type: string;
  /** Undefined without a filter. */
  readonly settings: FilterSettings | undefined;
}

/** JSON parts of a motion. */
export interface MotionJson {
  /** `{"id":…,"name":…,"extrusion":…` without unset members. */
  readonly head: string;
  /** `,"properties":…` or empty. */
  readonly properties: string;
}

export interface FenceState {
  readonly id: string;
  readonly slot: number;
  readonly entity: StoredFence;
  readonly timing: OwnTiming;
  /** Effective timing for objects without timing of their own. */
  readonly plainTiming: Timing;
  readonly vertical: Vertical;
  /** Its region on the earth; undefined for a local region whose zone has no plane, and if it is untracked. */
  readonly region: Region | undefined;
  /** Its region on the earth if no object has a location there, so that it has no members: see untracked.ts. */
  readonly untracked: Region | undefined;
  /** Objects that are in the fence or entering it. */
  readonly occupants: Set<Tracked>;
  /** JSON parts common to all events, created on first use. */
  json: FenceJson | undefined;
}

/** JSON parts of a fence event. */
export interface FenceJson {
  readonly id: string;
  /** `,"foreign_id":…` or empty. */
  readonly foreignId: string;
  /** `,"properties":…` or empty. */
  readonly properties: string;
}

export function emptyState(newBuffer: NewRecordBuffer, crossing = UNCROSSED): ShardState {
  return {
    zones: new ZoneTable(),
    followers: new Followers(),
    fences: new Map(),
    untracked: new UntrackedRegions(),
    crossing: { ...crossing, fences: 0, gates: new GateCounts(), countedSinceMs: 0 },
    slots: [],
    freeSlots: [],
    metInObservation: new Int32Array(64),
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
    isFiltering: false,
    filterVersion: 0,
  };
}

/** Returns the state of a provider, creating it if necessary. */
export function providerState(state: ShardState, id: string): ProviderState {
  let provider = state.providers.get(id);
  if (provider === undefined) {
    provider = {
      kind: 'provider',
      id,
      entity: undefined,
      timing: UNSET,
      filter: undefined,
      proximity: undefined,
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

/** Marks an object as changed: its row is out of date, and the effects of the step must include it. */
// hot
export function touch(state: ShardState, object: ProviderState | TrackableState): void {
  state.dirty.add(object);
  if ((object.changes & CHANGED) !== 0) return;
  object.changes |= CHANGED;
  if (object.kind === 'provider') state.changed.providers.push(object);
  else state.changed.trackables.push(object);
}
