import type { LastKnownRow, ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { ClusterContext } from '../context.ts';
import type { Checkpoints } from '../state/checkpoints.ts';
import type { ConfigBody, ObjectMove } from '../config/config_record.ts';
import {
  type Acquisitions,
  type Arrival,
  acquisitions,
  type ConfigState,
  mayHaveReleased,
  type RemovedMember,
  type TakeOver,
} from '../config/config_state.ts';
import type { FailedMembers } from './failed_members.ts';
import { objectsOf, type Releases } from './release.ts';
import { ShardAdoption, type ShardAdoptionOptions, without } from './shard_adoption.ts';
import { releasedState, RemovedSources, type SourceState } from './source_state.ts';
import { type JournaledRelease, locatedIn, type RecoveredJournal } from '../journal/journal_recovery.ts';

/**
 * Acquisition of the partitions and objects that are assigned to this hub:
 *
 *   assigned                      source                         what is read
 *   ----------------------------  -----------------------------  ----------------------------------------------------------
 *   partitions                    a member                       in its journal, the objects released because of the map
 *                                 a removed member               rows in the state, and the whole journal: the steps after
 *                                                                the rows, or released state
 *   objects that were reassigned  the owner of their old         in its journal, the objects released because of the record
 *                                 partition
 *                                 members removed since the      the same. Objects that one of them had acquired come with
 *                                 record                         its partitions
 *
 * State is read from journals and rows only. A member answers which part of its journal to read, once all of it is there and
 * each hub has delivered the events before. A journal remains until everything released in it has arrived, whatever happens to
 * its member. Reassigned objects that this hub has already do not move.
 *
 * The hub claims the partitions in the state, has the shards adopt everything, writes it to the state, and appends to the log
 * that it has it: from then on it serves these objects. If it fails before that, it is a source of them, too, since its shards
 * may have published events. Adopted state is not adopted again when a later step fails: it would fire overdue timers a second
 * time.
 */
export interface AcquisitionOptions extends Pick<ClusterContext, 'incarnation'>, ShardAdoptionOptions {
  readonly checkpoints: Checkpoints;
  /** State after the last applied record. */
  state(): ConfigState;
  /** Partition by the applied configuration. */
  partitionOf(kind: ObjectKind, id: string): number;
  readonly removed: Pick<FailedMembers, 'hadAtItsEnd' | 'leftBy'>;
  /**
   * All objects of some partitions, those migrating away from there, and those that records after `config` have deleted there.
   * `located`: providers that may be among them without being registered.
   */
  objectsIn(partitions: ReadonlySet<number>, config: number, located: Iterable<string>): ObjectIds;
  /**
   * Reads the objects that a member, possibly this one, has released because of a record, from its journal. Rejects if it is no
   * member any more.
   */
  released(from: string, sequence: number): Promise<readonly JournaledRelease[]>;
  readonly releases: Pick<Releases, 'isReleased' | 'noteReleased'>;
  /** The shards have objects that a record has reassigned: changes that it forces may act now. */
  arrived(sequence: number): void;
  /** Writes all flushed rows to the state. */
  write(): Promise<void>;
  /** Appends to the log what this hub has acquired. */
  append(body: ConfigBody<'took' | 'arrived'>): Promise<unknown>;
}

/** A migrating object. */
export interface MigratingObject {
  /** Whether the shards of this hub have it, or may have yet to release it. */
  readonly mayBeHere: boolean;
  /** Whether it migrates to this hub. */
  readonly isComing: boolean;
}

export class Acquisition {
  readonly #options: AcquisitionOptions;
  readonly #shards: ShardAdoption;
  /** Adopted state: sources and their partitions, records and their objects. */
  readonly #adopted = new Set<string>();
  /** Partitions whose state this hub writes. */
  #claimed: ReadonlySet<number> = new Set();
  #hasStage = false;
  #stage = '';

  constructor(options: AcquisitionOptions) {
    this.#options = options;
    this.#shards = new ShardAdoption(options, (stage) => {
      this.#stage = stage;
    });
  }

  /** Current phase, as a description for the log. */
  get stage(): string {
    return this.#stage;
  }

  /** Tests whether the shards of this hub have an object, or had it until others acquired it. */
  arrived(): (kind: ObjectKind, id: string) => boolean {
    const { partitionOf, incarnation, state } = this.#options;
    const { map, sources } = state();
    const open = this.unadopted();
    const left = new Set(sources.flatMap(({ of, partitions }) => (of === incarnation ? partitions : [])));
    const migrating = this.migrating();
    const isIn = (partition: number): boolean =>
      left.has(partition) || (map?.owners[partition] === incarnation && !open.has(partition));
    return (kind, id) => {
      const name = `${kind} ${id}`;
      return this.#shards.isHanded(name) || (migrating.get(name)?.mayBeHere ?? isIn(partitionOf(kind, id)));
    };
  }

  /** Migrating objects, by "kind id". */
  migrating(): ReadonlyMap<string, MigratingObject> {
    const { state, incarnation, releases } = this.#options;
    const { map, migrating } = state();
    const open = this.unadopted();
    const found = new Map<string, MigratingObject>();
    for (const { sequence, objects } of migrating) {
      for (const object of objects) {
        const [kind, id, from, to] = object;
        const isFromHere = map?.owners[from] === incarnation && !open.has(from);
        const isStillHere = isFromHere && !releases.isReleased(sequence, kind, id);
        const isHere = isStillHere || this.#adopted.has(nameOf({ sequence }, object));
        const isComing = !isHere && map?.owners[to] === incarnation;
        found.set(`${kind} ${id}`, { mayBeHere: isHere || isFromHere, isComing });
      }
    }
    return found;
  }

  /** Partitions of this hub whose objects its shards do not have yet. */
  unadopted(): ReadonlySet<number> {
    return new Set(this.#unadoptedOf(this.#wanted().partitions).flatMap(({ partitions }) => partitions));
  }

  /** Whether something can be acquired. */
  get isDue(): boolean {
    const { partitions, objects } = this.#wanted();
    return partitions.length > 0 || objects.length > 0 || this.#isStageDue || this.#unclaimed().length > 0;
  }

  /** Acquires everything available. Resolves with whether there was anything. Call it until there is not. */
  async acquire(): Promise<boolean> {
    const { partitions, objects } = this.#wanted();
    if (partitions.length > 0 || this.#isStageDue || this.#unclaimed().length > 0) await this.#takePartitions();
    else if (objects.length > 0) await this.#takeObjects(objects);
    else return false;
    return true;
  }

  get #isStageDue(): boolean {
    const { state, incarnation } = this.#options;
    return !this.#hasStage && state().map?.collisions === incarnation;
  }

  /** Partitions of this hub whose state it does not write yet. Partitions that it has lost and got back are claimed again. */
  #unclaimed(): readonly number[] {
    const { state, incarnation } = this.#options;
    const { owners = [] } = state().map ?? {};
    this.#claimed = new Set([...this.#claimed].filter((partition) => owners[partition] === incarnation));
    return owners.flatMap((owner, partition) => {
      return owner === incarnation && !this.#claimed.has(partition) ? [partition] : [];
    });
  }

  /** Objects are available when their old partition has an owner that has all of it. */
  #wanted(): Acquisitions {
    const { state, incarnation } = this.#options;
    const now = state();
    const { partitions, objects } = acquisitions(now, incarnation);
    const open = new Set(now.sources.flatMap((source) => source.partitions));
    const isReady = ({ from, objects: theirs }: Arrival): boolean =>
      from !== undefined && theirs.every(([, , partition]) => !open.has(partition));
    const unready = new Set(objects.flatMap((each) => (isReady(each) ? [] : [each.sequence])));
    return { partitions, objects: objects.filter(({ sequence }) => !unready.has(sequence)) };
  }

  async #takePartitions(): Promise<void> {
    const { incarnation } = this.#options;
    const released = new Map<string, readonly SourceState[]>();
    // Members that are removed one after the other are taken over at once.
    let sources = await this.#claim(released);
    while (sources === undefined) sources = await this.#claim(released);
    const fresh = this.#unadoptedOf(sources);
    const isStageDue = this.#isStageDue;
    if (fresh.length > 0 || isStageDue) await this.#adoptPartitions(fresh, released, isStageDue);
    this.#hasStage ||= isStageDue;
    await this.#finish(
      sources.map(({ of, partitions: taken }) => ({ kind: 'took', by: incarnation, of, partitions: taken })),
    );
  }

  /** Reads what members have released, and claims the state. Resolves with the sources; undefined if ownership has changed. */
  async #claim(released: Map<string, readonly SourceState[]>): Promise<readonly TakeOver[] | undefined> {
    const { checkpoints, state, released: releasedBy } = this.#options;
    const { version } = state();
    // A member that has released partitions writes nothing to their state any more.
    this.#stage = 'waiting for other hubs to release partitions';
    for (const source of this.#unadoptedOf(this.#wanted().partitions)) {
      if (!source.isMember || released.has(sourceKey(source))) continue;
      released.set(sourceKey(source), releasedState(await releasedBy(source.of, source.released), source.released));
    }
    const { epoch = 0 } = state().map ?? {};
    const partitions = this.#unclaimed();
    this.#stage = 'claiming the state';
    await checkpoints.claim({ partitions, collisions: this.#isStageDue, epoch });
    this.#claimed = new Set([...this.#claimed, ...partitions]);
    return state().version === version ? this.#wanted().partitions : undefined;
  }

  /** Sources with partitions that the shards do not have. */
  #unadoptedOf(sources: readonly TakeOver[]): readonly TakeOver[] {
    const isOpen = (source: TakeOver, each: number): boolean => !this.#adopted.has(keyOf(source, each));
    return sources
      .map((source) => ({ ...source, partitions: source.partitions.filter((each) => isOpen(source, each)) }))
      .filter(({ partitions }) => partitions.length > 0);
  }

  /** Writes the state of all objects that the shards have, then appends what this hub has acquired. */
  async #finish(acquired: readonly ConfigBody<'took' | 'arrived'>[]): Promise<void> {
    this.#stage = 'writing the state';
    await this.#options.write();
    this.#stage = 'appending to the log';
    for (const body of acquired) await this.#options.append(body);
  }

  /** `released`: by those of the sources that are members. */
  async #adoptPartitions(
    sources: readonly TakeOver[],
    released: ReadonlyMap<string, readonly SourceState[]>,
    isStageDue: boolean,
  ): Promise<void> {
    const { checkpoints, objectsIn } = this.#options;
    const gone = sources.filter(({ isMember }) => !isMember);
    this.#stage = 'reading journals';
    const removed = await this.#removed(gone);
    const leftBy = (those: readonly TakeOver[]): readonly SourceState[] => {
      // A member that has lost partitions several times has one journal.
      const unread = new Set(those.map(({ of }) => of));
      return those.flatMap((source) => {
        if (source.isMember) return released.get(sourceKey(source)) ?? [];
        return unread.delete(source.of) ? [removed.stateOf(source)] : [];
      });
    };
    const inTransit = new Set(removed.inTransit.map(({ object: [kind, id] }) => `${kind} ${id}`));
    this.#noteReleased(removed);
    this.#stage = 'reading the state';
    const rows: LastKnownRow[] = [];
    // The failed owner may have failed before deleting rows of objects that had already migrated. Delete them now; nothing else
    // will.
    const { releasedObjects, partitions: had } = removed;
    await checkpoints.deleteReleased(releasedObjects);
    if (had.length > 0) for await (const part of checkpoints.rowsIn(had, releasedObjects)) rows.push(...part);
    const pairs = isStageDue ? await checkpoints.pairs() : undefined;
    // A provider may have a location before the record that creates it: then only its owner knows it.
    const located = locatedIn(leftBy(sources).flatMap(({ steps }) => steps));
    for (const { kind, id } of rows) if (kind === 'provider') located.add(id);
    let undelivered = removed.fenceEvents;
    // Each source has evaluated another part of the log: records that one has evaluated must not be evaluated again for
    // another.
    const groups = alike(sources);
    for (const [i, { partitions, from }] of groups.entries()) {
      const isLast = i === groups.length - 1;
      const own = new Set(partitions);
      const those = removed.arrived.filter(({ object: [, , , to] }) => own.has(to));
      await this.#shards.adopt(leftBy(from), (config) => ({
        objects: joined(
          without(objectsIn(own, config, located), inTransit),
          those.map(({ object }) => object),
        ),
        // The collision stage resumes when all have arrived.
        ...{ rows, pairs: isLast ? pairs : undefined, undelivered, isLate: from.some(({ isMember }) => !isMember) },
      }));
      undelivered = [];
      for (const source of from) for (const each of partitions) this.#adopted.add(keyOf(source, each));
      for (const each of those) this.#adopted.add(nameOf(each, each.object));
    }
  }

  /** Journals of some removed members, in the order of their removal. */
  async #journalsOf(isMeant: (member: RemovedMember) => boolean): Promise<ReadonlyMap<string, RecoveredJournal>> {
    const { state, removed } = this.#options;
    const journals = new Map<string, RecoveredJournal>();
    for (const member of state().dead.values()) {
      if (isMeant(member)) journals.set(member.incarnation, await removed.leftBy(member.incarnation));
    }
    return journals;
  }

  /** Reads the journals of removed members, and of others that may have released objects which are migrating. */
  async #removed(sources: readonly TakeOver[]): Promise<RemovedSources> {
    const { state, removed, partitionOf } = this.#options;
    const isSource = (incarnation: string): boolean => sources.some(({ of }) => of === incarnation);
    const journals = await this.#journalsOf((member) => {
      return isSource(member.incarnation) || (sources.length > 0 && mayHaveReleased(state(), member));
    });
    return new RemovedSources({
      ...{ state: state(), sources, journals, partitionOf },
      hadAtItsEnd: (of) => removed.hadAtItsEnd(of),
      isAdopted: (moved) => this.#adopted.has(nameOf(moved, moved.object)),
    });
  }

  /** Notes migrating objects that removed members had released from partitions of this hub. */
  #noteReleased(removed: RemovedSources): void {
    const { state, incarnation, releases } = this.#options;
    const { map } = state();
    for (const moved of removed.inTransit) {
      const { sequence, object } = moved;
      const [kind, id, from] = object;
      const isFromHere = map?.owners[from] === incarnation && !releases.isReleased(sequence, kind, id);
      if (isFromHere && !removed.hasFound(moved) && !this.#adopted.has(nameOf(moved, object)))
        releases.noteReleased(sequence, kind, id);
    }
  }

  async #takeObjects(arrivals: readonly Arrival[]): Promise<void> {
    const { incarnation, releases, arrived } = this.#options;
    // Objects that this hub has as the successor of their owner, and has not released, are here already.
    const isToCome = ({ sequence, from }: Arrival, [kind, id]: ObjectMove): boolean =>
      from !== incarnation || releases.isReleased(sequence, kind, id);
    const fresh = arrivals
      .map((each) => ({
        ...each,
        objects: each.objects.filter((object) => {
          return isToCome(each, object) && !this.#adopted.has(nameOf(each, object));
        }),
      }))
      .filter((each) => each.objects.length > 0);
    if (fresh.length > 0) {
      this.#stage = 'waiting for other hubs to release objects';
      const left: SourceState[] = [];
      for (const [sequence, theirs] of Map.groupBy(fresh, (each) => each.sequence)) {
        const owners = theirs.map(({ from }) => from as string);
        left.push(...(await this.#releasedBy(owners, sequence)));
      }
      const objects = objectsOf(fresh.flatMap((each) => each.objects));
      await this.#shards.adopt(left, () => ({ objects, rows: [], pairs: undefined, isLate: false, undelivered: [] }));
      for (const each of fresh) for (const object of each.objects) this.#adopted.add(nameOf(each, object));
    }
    const bySequence = Map.groupBy(arrivals, ({ sequence }) => sequence);
    for (const sequence of bySequence.keys()) arrived(sequence);
    const acquired = Array.from(bySequence, ([sequence, theirs]) => {
      const partitions = new Set(theirs.flatMap(({ objects }) => objects.map(([, , , to]) => to)));
      return { kind: 'arrived' as const, by: incarnation, sequence, partitions: [...partitions] };
    });
    await this.#finish(acquired);
  }

  /** State of objects that a record has moved: of the removed owners of their old partitions, then of the current ones. */
  async #releasedBy(owners: readonly string[], sequence: number): Promise<readonly SourceState[]> {
    const last: JournaledRelease[] = [];
    for (const owner of owners) last.push(...(await this.#options.released(owner, sequence)));
    const journals = await this.#journalsOf(({ removed }) => removed > sequence);
    return releasedState([...journals.values().flatMap(({ released }) => released), ...last], sequence);
  }
}

function joined(objects: ObjectIds, more: readonly ObjectMove[]): ObjectIds {
  const those = objectsOf(more);
  return {
    providers: [...new Set([...objects.providers, ...those.providers])],
    trackables: [...new Set([...objects.trackables, ...those.trackables])],
  };
}

/** Partitions grouped by their sources; one empty group if only the stage is acquired. */
function alike(sources: readonly TakeOver[]) {
  const all = [...new Set(sources.flatMap(({ partitions }) => partitions))];
  const sourcesOf = (partition: number): readonly TakeOver[] => {
    return sources.filter(({ partitions }) => partitions.includes(partition));
  };
  const groups = Map.groupBy(all, (partition) =>
    sourcesOf(partition)
      .map((source) => sources.indexOf(source))
      .join(),
  );
  if (groups.size === 0) return [{ partitions: [], from: [] }];
  return [...groups.values()].map((partitions) => ({ partitions, from: sourcesOf(partitions[0] as number) }));
}

function sourceKey({ of, released }: TakeOver): string {
  return `${of} ${released}`;
}

function keyOf(source: TakeOver, partition: number): string {
  return `${sourceKey(source)} ${partition}`;
}

function nameOf({ sequence }: Pick<Arrival, 'sequence'>, [kind, id]: ObjectMove): string {
  return `${sequence} ${kind} ${id}`;
}
