import { settingsIn } from './config_changes.ts';
import type { ConfigBody, ConfigRecord, MAP, ObjectMove } from './config_record.ts';
import { malformed, type Valued } from '../messages/codec.ts';
import { type PartitionMap, replaces } from '../membership/partition_map.ts';
import type { Serving } from '../routing/ownership.ts';

/**
 * State that all hubs derive from the configuration log, besides entities. It depends on the records alone, so it is the
 * same on all hubs after the same record.
 *
 *   record          changes
 *   --------------  ----------------------------------------------------------------------------------------------
 *   change          the settings
 *   regroup         the settings; its objects migrate to the owners of their new partitions
 *   arrived         the objects of that `regroup` stop migrating if the record names their new partitions and the sender
 *                   owns these by the map
 *   join            the member is added as the last one
 *   map             the map, unless it was made from an outdated one: see `replaces`. The first one fixes the number of
 *                   partitions. Members that lose a partition become a source of it
 *   expel, leave    the member is removed, and becomes a source of the partitions that it owned; the map, as above
 *   took            the partitions that were acquired, and that the acquirer owns by the map, are removed from the source
 *   took (nothing)  a removed member that is no source is deleted
 *   protocol        the version that all members write: it never decreases
 *
 * A *source* of a partition may hold the state of its objects. A member has released them when it applied the record; the
 * journal of a removed member holds them. The owner acquires the partition from its sources in the order in which they lost
 * it, and appends `took` for each. The partition is open as soon as it has no source:
 *
 *   the owner of a partition        previous owner                sources of the partition
 *   ------------------------------  ----------------------------  ---------------------------------------------------------
 *   gets it by a map                a member                      that member
 *   gets it by a removal            removed                       the removed member
 *   is removed before its `took`    removed, and a source now     the sources that it had yet to acquire from, then itself
 *   is a source itself              a member that was removed     itself, for the state that it released, then
 *                                   before its `took`             the other
 *
 * A source remains one after its removal: its journal holds the released state. A `took` of a hub that no longer owned the
 * partition at that record has no effect, because the current owner is still acquiring. When a removed member is no source any
 * more, and no objects migrate because of a record that it may have applied, no hub reads its journal, and a hub deletes the
 * streams. That hub then appends a `took` of nothing, which deletes the removed member. So no stream is left behind by a hub
 * that fails between the two steps.
 *
 * A migrating object moves from the owner of its old partition to the owner of its new one. If a partition changes hands in
 * the meantime, its new owner takes that role.
 */
export interface ConfigState {
  /** JSON by name. */
  readonly settings: ReadonlyMap<string, string>;
  /** By member id, in the order of their joins. */
  readonly members: ReadonlyMap<string, ConfigMember>;
  readonly map: PartitionMap | undefined;
  /** By member id, in the order of their removal. */
  readonly dead: ReadonlyMap<string, RemovedMember>;
  /** In the order in which they lost the partitions. */
  readonly sources: readonly Source[];
  /** In the order of the records. */
  readonly migrating: readonly MigratingObjects[];
  /** Protocol version that all members write. */
  readonly protocol: number;
  /** Sequence of the last record that changed ownership. */
  readonly version: number;
}

export interface ConfigMember {
  readonly incarnation: string;
  readonly name: string;
  /** Protocol versions that it reads and writes. */
  readonly protocols: readonly number[];
  /** Digest of the settings that must be equal. */
  readonly digest: string;
  /** Sequence of its `join`. */
  readonly index: number;
}

/** A member that was expelled or has left. */
export interface RemovedMember extends Pick<ConfigMember, 'incarnation'> {
  /** Sequence of the record that has removed it. */
  readonly removed: number;
}

/** Partitions that a hub has lost and that their new owners have not acquired from it yet. */
export interface Source {
  /** Its member id. */
  readonly of: string;
  /** Sequence of the record at which it released them; 0 if it held them when it was removed. */
  readonly released: number;
  /** In ascending order, each in only one of the sources of a member. */
  readonly partitions: readonly number[];
}

/** Objects of a `regroup` that are still migrating. */
export interface MigratingObjects {
  readonly sequence: number;
  readonly objects: readonly ObjectMove[];
}

/** Partitions and objects that a member must acquire now. */
export interface Acquisitions {
  /** To be acquired in this order. */
  readonly partitions: readonly TakeOver[];
  readonly objects: readonly Arrival[];
}

/** Partitions that it owns, and one source of them: possibly itself, for partitions that it has released and got back. */
export interface TakeOver extends Source {
  /** Whether the source is a member, which has released the state; otherwise its whole journal is read. */
  readonly isMember: boolean;
}

/** Objects that migrate to it. */
export interface Arrival extends MigratingObjects {
  /** Member that owns their old partitions, possibly itself, or undefined. */
  readonly from: string | undefined;
}

export const EMPTY_STATE: ConfigState = {
  settings: new Map(),
  members: new Map(),
  map: undefined,
  dead: new Map(),
  sources: [],
  migrating: [],
  protocol: 1,
  version: 0,
};

/** State after a record. Throws a MessageError if the record contradicts itself. */
export function applied(state: ConfigState, record: ConfigRecord): ConfigState {
  const next = after(state, record);
  return servesAlike(state, next) ? next : { ...next, version: record.sequence };
}

/** Ownership that follows from the state. */
export function serving(state: ConfigState): Serving {
  const objects = state.migrating.flatMap((each) => each.objects);
  return {
    version: state.version,
    map: state.map,
    // Objects connected with migrating ones wait for them, and have the same partition.
    open: new Set([...openPartitions(state), ...objects.map(([, , , to]) => to)]),
    migrating: new Set(objects.map(([kind, id]) => `${kind} ${id}`)),
  };
}

/** Whether nothing is migrating, so that the next move may begin. */
export function isSettled({ members, map, sources, migrating }: ConfigState): boolean {
  if (sources.length > 0 || migrating.length > 0) return false;
  return map?.owners.every((owner) => members.has(owner)) ?? false;
}

/** Partitions and objects that a member must acquire. Those without an owner among the members wait for a map. */
export function acquisitions({ members, map, sources, migrating }: ConfigState, self: string): Acquisitions {
  const owns = (partition: number): boolean => members.has(self) && map?.owners[partition] === self;
  const fromOwner = ([, , partition]: ObjectMove): string | undefined => {
    const owner = map?.owners[partition] ?? NOBODY;
    return members.has(owner) ? owner : undefined;
  };
  return {
    partitions: sources
      .map((source) => ({ ...source, partitions: source.partitions.filter(owns), isMember: members.has(source.of) }))
      .filter(({ partitions }) => partitions.length > 0),
    objects: migrating.flatMap(({ sequence, objects }) => {
      const own = objects.filter(([, , , to]) => owns(to));
      return [...Map.groupBy(own, fromOwner)].map(([from, theirs]) => ({ sequence, from, objects: theirs }));
    }),
  };
}

/**
 * Removed members whose journals no member needs any more: they are no sources, and have released no objects that are migrating.
 * Their streams are to be deleted, and then the members are forgotten. Once this holds for one, it does so forever.
 */
export function toDelete(state: ConfigState): readonly RemovedMember[] {
  const read = new Set(state.sources.map(({ of }) => of));
  return [...state.dead.values()].filter((member) => !read.has(member.incarnation) && !mayHaveReleased(state, member));
}

/** Whether a removed member may have released objects that are still migrating: it was a member at their record. */
export function mayHaveReleased({ migrating }: ConfigState, { removed }: RemovedMember): boolean {
  return migrating.some(({ sequence }) => sequence < removed);
}

/** Partitions whose state a hub may have, in ascending order. */
export function leftOf({ sources }: ConfigState, incarnation: string): readonly number[] {
  const own = sources.filter(({ of }) => of === incarnation);
  return own.flatMap(({ partitions }) => partitions).toSorted((one, other) => one - other);
}

/** Partition map as in records. Without a map nothing is owned. */
export type MapFields = Valued<typeof MAP>;

export function mapFields(map: PartitionMap | undefined): MapFields {
  const { epoch, owners, collisions } = map ?? NO_MAP;
  const members = [...new Set([...owners, collisions])].filter((owner) => owner !== NOBODY);
  const places = new Map(members.map((member, place) => [member, place]));
  const placeOf = (owner: string): number => places.get(owner) ?? -1;
  return { epoch, members, owners: owners.map(placeOf), collisionOwner: placeOf(collisions) };
}

/** Partition map of a record; undefined for none. Throws a MessageError if an owner is not one of its members. */
export function partitionMap({ epoch, members, owners, collisionOwner }: MapFields): PartitionMap | undefined {
  if (epoch === NO_MAP.epoch) return undefined;
  const ownerAt = (place: number, field: string): string => {
    const owner = place === -1 ? NOBODY : members[place];
    if (owner === undefined)
      throw malformed('Cannot read a partition map', field, place, `-1 or below ${members.length}`);
    return owner;
  };
  return {
    epoch,
    owners: owners.map((place, partition) => ownerAt(place, `owners[${partition}]`)),
    collisions: ownerAt(collisionOwner, 'collisionOwner'),
  };
}

const NOBODY = '';
const NO_MAP: PartitionMap = { epoch: 0, owners: [], collisions: NOBODY };

function after(state: ConfigState, { sequence, body }: ConfigRecord): ConfigState {
  switch (body.kind) {
    case 'change':
      return withSettings(state, body);
    case 'regroup':
      return onRegroup(withSettings(state, body), body, sequence);
    case 'arrived':
      return onArrived(state, body);
    case 'ensure':
      return state;
    case 'join':
      return onJoin(state, body, sequence);
    case 'map':
      return mapped(state, body, sequence);
    case 'expel':
    case 'leave':
      return mapped(onEnd(state, body.incarnation, sequence), body, sequence);
    case 'took':
      return onTook(state, body);
    case 'protocol':
      return { ...state, protocol: Math.max(state.protocol, body.version) };
  }
}

function withSettings(state: ConfigState, body: ConfigBody): ConfigState {
  const changed = settingsIn(body);
  if (changed.length === 0) return state;
  const settings = new Map(state.settings);
  for (const [name, text] of changed) {
    if (text === null) settings.delete(name);
    else settings.set(name, text);
  }
  return { ...state, settings };
}

function onRegroup(state: ConfigState, { objects }: ConfigBody<'regroup'>, sequence: number): ConfigState {
  if (objects.length === 0) return state;
  return { ...state, migrating: [...state.migrating, { sequence, objects }] };
}

/** Leaves out partitions that it was assigned since and not acquired yet, such as those of a member removed in the meantime. */
function onArrived(state: ConfigState, { by, sequence, partitions }: ConfigBody<'arrived'>): ConfigState {
  if (!state.members.has(by)) return state;
  const isStillAway = ([, , , to]: ObjectMove): boolean => !partitions.includes(to) || state.map?.owners[to] !== by;
  const found = state.migrating.find((each) => each.sequence === sequence);
  if (found === undefined || found.objects.every(isStillAway)) return state;
  const migrating = state.migrating
    .map((each) => (each === found ? { sequence, objects: each.objects.filter(isStillAway) } : each))
    .filter(({ objects }) => objects.length > 0);
  return { ...state, migrating };
}

/** A member id joins once, and does not come back. */
function onJoin(state: ConfigState, { kind: _join, ...joined }: ConfigBody<'join'>, index: number): ConfigState {
  if (state.members.has(joined.incarnation) || state.dead.has(joined.incarnation)) return state;
  return { ...state, members: new Map(state.members).set(joined.incarnation, { ...joined, index }) };
}

function onEnd(state: ConfigState, incarnation: string, removed: number): ConfigState {
  if (!state.members.has(incarnation)) return state;
  const members = new Map(state.members);
  members.delete(incarnation);
  const dead = new Map(state.dead).set(incarnation, { incarnation, removed });
  const owned = partitionsIn(state.map, (owner) => owner === incarnation);
  return { ...withSource(state, { of: incarnation, released: 0, partitions: owned }), members, dead };
}

function mapped(state: ConfigState, fields: MapFields, sequence: number): ConfigState {
  const map = partitionMap(fields);
  if (!replaces(map, state.map)) return state;
  const next: ConfigState = { ...state, map };
  const lost = partitionsIn(state.map, (owner, partition) => owner !== map.owners[partition]);
  const byLoser = Map.groupBy(lost, (partition) => state.map?.owners[partition] ?? NOBODY);
  return [...byLoser]
    .filter(([loser]) => state.members.has(loser))
    .reduce((before, [of, partitions]) => withSource(before, { of, released: sequence, partitions }), next);
}

/** Adds a source, except for partitions that it is a source of already. */
function withSource(state: ConfigState, source: Source): ConfigState {
  const already = new Set(leftOf(state, source.of));
  const partitions = source.partitions.filter((partition) => !already.has(partition));
  if (partitions.length === 0) return state;
  return { ...state, sources: [...state.sources, { ...source, partitions }] };
}

function onTook(state: ConfigState, { by, of, partitions }: ConfigBody<'took'>): ConfigState {
  if (partitions.length === 0) return forgotten(state, of);
  if (!state.members.has(by)) return state;
  const taken = new Set(partitions.filter((partition) => state.map?.owners[partition] === by));
  const isTaken = (source: Source): boolean => source.of === of && source.partitions.some((each) => taken.has(each));
  if (!state.sources.some(isTaken)) return state;
  const sources = state.sources
    .map((source) => {
      return isTaken(source) ? { ...source, partitions: source.partitions.filter((each) => !taken.has(each)) } : source;
    })
    .filter((source) => source.partitions.length > 0);
  return { ...state, sources };
}

function forgotten(state: ConfigState, incarnation: string): ConfigState {
  if (!toDelete(state).some((member) => member.incarnation === incarnation)) return state;
  const dead = new Map(state.dead);
  dead.delete(incarnation);
  return { ...state, dead };
}

/** Unserved partitions, in ascending order. */
function openPartitions({ members, map, sources }: ConfigState): ReadonlySet<number> {
  const unowned = partitionsIn(map, (owner) => !members.has(owner));
  const all = [...unowned, ...sources.flatMap(({ partitions }) => partitions)];
  return new Set(all.toSorted((one, other) => one - other));
}

function servesAlike(state: ConfigState, next: ConfigState): boolean {
  if (state.map !== next.map || state.migrating !== next.migrating) return false;
  if (state.sources === next.sources && state.members === next.members) return true;
  const { open } = serving(state);
  const { open: nextOpen } = serving(next);
  return open.size === nextOpen.size && open.isSubsetOf(nextOpen);
}

function partitionsIn(
  map: PartitionMap | undefined,
  isMeant: (owner: string, partition: number) => boolean,
): readonly number[] {
  return (map?.owners ?? []).flatMap((owner, partition) => (isMeant(owner, partition) ? [partition] : []));
}
