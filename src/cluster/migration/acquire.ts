import type { CollisionRow } from '../../core/collision/row.ts';
import type { LastKnownRow, ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { PackedStep } from '../../wire/journal_record.ts';
import type { Checkpoints, ReleasedObjects } from '../state/checkpoints.ts';
import type { ObjectMove } from '../config/config_record.ts';
import {
  type Acquisitions,
  type Arrival,
  acquisitions,
  type ConfigState,
  type TakeOver,
} from '../config/config_state.ts';
import type { FailedFenceEvent } from '../../wire/fence_events.ts';
import type { Notice } from '../notice.ts';
import { namedBy, namesOf, objectsOf, type Released } from './release.ts';
import { type RecoveredJournal, journaledFenceEvents, statedIn } from '../journal/journal_recovery.ts';

/**
 * Acquisition of the partitions and objects that are assigned to this hub:
 *
 *   assigned                        previous owner               source of the state
 *   ------------------------------  ---------------------------  ---------------------------------------------------
 *   partitions                      a member                     what it has released, on request
 *   partitions                      a removed member             rows in the state, and the steps in its journal
 *   objects that were reassigned    the owner of their old       what it has released, on request. It may be this
 *                                   partition                    hub: then nothing moves
 *                                   a removed member that had    its rows and steps, with the partitions that it had
 *                                   acquired them
 *
 * The hub claims the partitions in the state, has the shards adopt everything, writes it to the state, and appends to the log
 * that it has it: from then on it serves these objects. If it fails before that, it is a source of them, too, since its shards
 * may have published events. Adopted state is not adopted again when a later step fails: it would fire overdue timers a second
 * time.
 */
export interface AcquisitionOptions {
  /** Member id of this hub. */
  readonly incarnation: string;
  readonly checkpoints: Checkpoints;
  /** State after the last applied record. */
  state(): ConfigState;
  /** Partition by the applied configuration. */
  partitionOf(kind: ObjectKind, id: string): number;
  /** Last record that the shards were notified of. */
  configured(): number;
  /** Partitions that a removed member had. */
  hadAtItsEnd(incarnation: string): readonly number[];
  /**
   * All objects of some partitions, those migrating away from there, and those that records after `config` have deleted there.
   * `located`: providers that may be among them without being registered.
   */
  objectsIn(partitions: ReadonlySet<number>, config: number, located: Iterable<string>): ObjectIds;
  /** State that a member, possibly this one, has released because of a record. Rejects if it is no member any more. */
  released(from: string, sequence: number): Promise<Released>;
  /** Whether this hub has released an object because of a record. */
  isReleased(sequence: number, kind: ObjectKind, id: string): boolean;
  /**
   * Offers state that a removed member had released, and that has not arrived, to its receivers. Resolves when it is journaled.
   */
  relay(sequence: number, released: RecoveredJournal['released'], objects: readonly string[]): Promise<void>;
  /** Orders the events of this hub after those of the member whose released state it is about to adopt. */
  follow(from: string, released: Released): Promise<void>;
  /** Resolves when all hubs have sent their interest. */
  allInterestReceived(): Promise<void>;
  /**
   * Records the last fence events of failed owners in the journal of this hub, then announces them, in order, to the
   * subscribers that have not received them.
   */
  announceAgain(events: readonly FailedFenceEvent[]): Promise<void>;
  /** Has the shards adopt state. Resolves when they have it, and have flushed its rows. */
  adopt(left: RecoveredState): Promise<void>;
  /** The shards have objects that a record has reassigned: changes that it forces may act now. */
  arrived(sequence: number): void;
  /** Reads the journal of a removed member. */
  leftBy(incarnation: string): Promise<RecoveredJournal>;
  /** Writes all flushed rows to the state. */
  write(): Promise<void>;
  /** Appends to the log that this hub has acquired partitions. */
  took(of: string, partitions: readonly number[]): Promise<void>;
  /** Appends to the log that the objects of a record with these new partitions have arrived. */
  tookObjects(sequence: number, partitions: readonly number[]): Promise<void>;
  /** Wall-clock time in milliseconds. */
  now(): number;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly notice: Notice;
}

/** State of previous owners. */
export interface RecoveredState {
  readonly objects: ObjectIds;
  readonly rows: readonly LastKnownRow[];
  /** All colliding pairs, if this hub has just acquired the stage; undefined otherwise. */
  readonly pairs: readonly CollisionRow[] | undefined;
  /** Changes since the rows, in order. */
  readonly steps: readonly PackedStep[];
  /** Last record of the configuration log that the owners have evaluated in it. */
  readonly config: number;
  /** Whether part of it is of a removed member, so that its objects were unserved for a while. */
  readonly isLate: boolean;
}

/** Largest difference of clocks that a takeover waits for. */
const AHEAD_MS_MAX = 1000;

/** A migrating object. */
export interface MigratingObject {
  /** Whether the shards of this hub have it, or may have yet to release it. */
  readonly mayBeHere: boolean;
  /** Whether it migrates to this hub. */
  readonly isComing: boolean;
}

/** A migrating object that a removed member had. */
interface FoundObject {
  /** Of the record that has reassigned it. */
  readonly sequence: number;
  readonly object: ObjectMove;
  readonly isAtOldPartition: boolean;
}

/** State of the objects at one source. */
interface SourceState {
  readonly steps: readonly PackedStep[];
  /** Objects, as "kind id", that it had released and that have arrived elsewhere: its state of them is outdated. */
  readonly departed: readonly string[];
  /** Objects that it has relayed, and that have arrived. */
  readonly relayed: readonly string[];
  readonly endMs: number;
  /** 0 if it does not say. */
  readonly config: number;
}

const NOTHING_LEFT: SourceState = { steps: [], departed: [], relayed: [], endMs: 0, config: 0 };

export class Acquisition {
  readonly #options: AcquisitionOptions;
  /** Adopted state: sources and their partitions, records and their objects. */
  readonly #adopted = new Set<string>();
  /** Objects, as "kind id", that the shards have of an adoption in several parts. */
  readonly #handed = new Set<string>();
  /** Partitions whose state this hub writes. */
  #claimed: ReadonlySet<number> = new Set();
  #hasStage = false;
  #stage = '';

  constructor(options: AcquisitionOptions) {
    this.#options = options;
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
      return this.#handed.has(name) || (migrating.get(name)?.mayBeHere ?? isIn(partitionOf(kind, id)));
    };
  }

  /** Migrating objects, by "kind id". */
  migrating(): ReadonlyMap<string, MigratingObject> {
    const { state, incarnation, isReleased } = this.#options;
    const { map, migrating } = state();
    const open = this.unadopted();
    const found = new Map<string, MigratingObject>();
    for (const { sequence, objects } of migrating) {
      for (const object of objects) {
        const [kind, id, from, to] = object;
        const isFromHere = map?.owners[from] === incarnation && !open.has(from);
        const isStillHere = isFromHere && !isReleased(sequence, kind, id);
        const isHere = isStillHere || this.#adopted.has(nameOf({ sequence }, object));
        const isComing = !isHere && map?.owners[to] === incarnation;
        found.set(`${kind} ${id}`, { mayBeHere: isHere || isFromHere, isComing });
      }
    }
    return found;
  }

  /** Partitions of this hub whose objects its shards do not have yet. */
  unadopted(): ReadonlySet<number> {
    const { partitions } = this.#wanted();
    return new Set(
      partitions.flatMap((source) => source.partitions.filter((each) => !this.#adopted.has(keyOf(source, each)))),
    );
  }

  /** Whether something can be acquired. */
  get isDue(): boolean {
    const { partitions, objects } = this.#wanted();
    return partitions.length > 0 || objects.length > 0 || this.#isStageDue || this.#unclaimed().length > 0;
  }

  /** Acquires everything available. Resolves with whether there was anything. Call it until there is not. */
  async acquire(): Promise<boolean> {
    const { partitions, objects } = this.#wanted();
    if (partitions.length > 0 || this.#isStageDue || this.#unclaimed().length > 0)
      await this.#takePartitions(partitions);
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

  async #takePartitions(sources: readonly TakeOver[]): Promise<void> {
    const { checkpoints, state, write, took } = this.#options;
    const fresh = sources
      .map((source) => ({
        ...source,
        partitions: source.partitions.filter((each) => !this.#adopted.has(keyOf(source, each))),
      }))
      .filter((source) => source.partitions.length > 0);
    // A member that has released partitions writes nothing to their state any more.
    this.#stage = 'waiting for other hubs to release partitions';
    const released = new Map<TakeOver, readonly SourceState[]>();
    for (const source of fresh) {
      if (source.isMember) released.set(source, await this.#releasedBy(source.of, source.released));
    }
    const { epoch = 0 } = state().map ?? {};
    const partitions = this.#unclaimed();
    const isStageDue = this.#isStageDue;
    this.#stage = 'claiming the state';
    await checkpoints.claim({ partitions, collisions: isStageDue, epoch });
    this.#claimed = new Set([...this.#claimed, ...partitions]);
    if (fresh.length > 0 || isStageDue) await this.#adoptPartitions(fresh, released, isStageDue);
    this.#hasStage ||= isStageDue;
    this.#stage = 'writing the state';
    await write();
    this.#stage = 'appending to the log';
    for (const { of, partitions: taken } of sources) await took(of, taken);
  }

  /** `released`: by those of the sources that are members. */
  async #adoptPartitions(
    sources: readonly TakeOver[],
    released: ReadonlyMap<TakeOver, readonly SourceState[]>,
    isStageDue: boolean,
  ): Promise<void> {
    const { checkpoints, hadAtItsEnd, objectsIn, state } = this.#options;
    const gone = sources.filter(({ isMember }) => !isMember);
    this.#stage = 'reading journals';
    const journals = new Map<string, RecoveredJournal>();
    const left = new Map(released);
    for (const source of gone) left.set(source, [await this.#leftBy(source, journals)]);
    const found = gone.flatMap((source) => this.#migratingAt(source, journals.get(source.of) as RecoveredJournal));
    for (const source of gone) {
      // A later owner has acquired what this one had released.
      const { departed, relayed } = journals.get(source.of) as RecoveredJournal;
      const names = found.map(({ object }) => objectName(object));
      const outdated = names.filter((name) => departed.has(name) || relayed.has(name));
      const its = left.get(source) as readonly SourceState[];
      left.set(
        source,
        its.map((each) => ({ ...each, departed: [...each.departed, ...outdated] })),
      );
    }
    const leftBy = (those: readonly TakeOver[]): readonly SourceState[] => {
      // A member that has lost partitions several times has one journal.
      const isFirst = ({ of, isMember }: TakeOver, i: number): boolean =>
        isMember || those.findIndex((other) => other.of === of) === i;
      return those.flatMap((source, i) => (isFirst(source, i) ? (left.get(source) as readonly SourceState[]) : []));
    };
    const dead = Map.groupBy(gone, ({ of }) => of);
    const releasedObjects: ReleasedObjects[] = [];
    for (const [of, theirs] of dead) {
      const its = left.get(theirs[0] as TakeOver) as readonly SourceState[];
      const all = new Set([...hadAtItsEnd(of), ...theirs.flatMap(({ partitions }) => partitions)]);
      releasedObjects.push({
        partitions: writtenBy(of, state()),
        objects: its.flatMap((each) => this.#releasedObjectsOf(each, all)),
      });
    }
    const arrived = found.filter(({ isAtOldPartition }) => !isAtOldPartition);
    const relayed = await this.#relay([...journals.values()], found);
    this.#stage = 'reading the state';
    const rows: LastKnownRow[] = [];
    const had = new Set(gone.flatMap(({ of, partitions }) => [...hadAtItsEnd(of), ...partitions]));
    // The failed owner may have failed before deleting rows of objects that had already migrated. Delete them now; nothing else
    // will.
    await checkpoints.deleteReleased(releasedObjects);
    if (had.size > 0) for await (const part of checkpoints.rowsIn([...had], releasedObjects)) rows.push(...part);
    const pairs = isStageDue ? await checkpoints.pairs() : undefined;
    // A provider may have a location before the record that creates it: then only its owner knows it.
    const located = new Set(statedIn(leftBy(sources).flatMap(({ steps }) => steps)).provider);
    for (const { kind, id } of rows) if (kind === 'provider') located.add(id);
    let undelivered: readonly FailedFenceEvent[] = [...journals]
      .flatMap(([of, journal]) => journaledFenceEvents(of, journal, this.#pending()))
      .sort((one, other) => one.recordedMs - other.recordedMs);
    // Each source has evaluated another part of the log: records that one has evaluated must not be evaluated again for
    // another.
    const groups = alike(sources);
    for (const [i, { partitions, from }] of groups.entries()) {
      const isLast = i === groups.length - 1;
      const own = new Set(partitions);
      const those = arrived.filter(({ object: [, , , to] }) => own.has(to));
      await this.#adopt(leftBy(from), (config) => ({
        objects: joined(
          without(objectsIn(own, config, located), relayed),
          those.map(({ object }) => object),
        ),
        // The collision stage resumes when all have arrived.
        ...{ rows, pairs: isLast ? pairs : undefined, undelivered, isLate: from.some(({ isMember }) => !isMember) },
      }));
      undelivered = [];
      for (const source of from) for (const each of partitions) this.#adopted.add(keyOf(source, each));
      for (const { sequence, object } of those) this.#adopted.add(nameOf({ sequence }, object));
    }
  }

  /** Objects that a member had released. Those that it has relayed may have come back to it. */
  #releasedObjectsOf({ departed, relayed }: SourceState, partitions: ReadonlySet<number>): ReleasedObjects['objects'] {
    const { partitionOf } = this.#options;
    const elsewhere = relayed.map(namedBy).filter((name) => !partitions.has(partitionOf(...name)));
    return [...departed.map(namedBy), ...elsewhere];
  }

  /**
   * Migrating objects that a removed member had: its journal has their state, which its successors take over with its partitions.
   * It had acquired them although the log does not say so, or had their old partition as well; then they count as with that.
   */
  #migratingAt(
    { of, partitions }: TakeOver,
    { earlier, steps, departed, relayed }: RecoveredJournal,
  ): readonly FoundObject[] {
    const stated = statedIn([...earlier, ...steps].map(({ step }) => step));
    const own = new Set(partitions);
    const all = new Set([...this.#options.hadAtItsEnd(of), ...partitions]);
    return this.#options.state().migrating.flatMap(({ sequence, objects }) =>
      objects.flatMap((object) => {
        const [kind, id, from, to] = object;
        const name = objectName(object);
        const isHere = stated[kind].has(id) && !departed.has(name) && !relayed.has(name);
        const isAtOldPartition = all.has(from);
        const isOwn = own.has(isAtOldPartition ? from : to);
        const isNew = !this.#adopted.has(nameOf({ sequence }, object));
        return isHere && isOwn && isNew ? [{ sequence, object, isAtOldPartition }] : [];
      }),
    );
  }

  /**
   * Relays migrating state that removed members had released: it is not adopted, since its receiver may have it already.
   * `found`: objects that a later owner had. Returns the objects, as "kind id", that are not adopted with their old partition.
   */
  async #relay(journals: readonly RecoveredJournal[], found: readonly FoundObject[]): Promise<ReadonlySet<string>> {
    const { state, relay } = this.#options;
    const isAtOldPartition = new Map(found.map((each) => [objectName(each.object), each.isAtOldPartition]));
    const relayed = new Set<string>();
    for (const { sequence, objects } of state().migrating) {
      for (const { departed, relayed: again, released } of journals) {
        const left = objects.filter((object) => {
          const name = objectName(object);
          const hasLeft = departed.get(name) === sequence || again.get(name) === sequence;
          return hasLeft && isAtOldPartition.get(name) !== true;
        });
        for (const object of left) relayed.add(objectName(object));
        const waiting = left.filter((object) => {
          return !isAtOldPartition.has(objectName(object)) && !this.#adopted.has(nameOf({ sequence }, object));
        });
        if (waiting.length === 0) continue;
        await relay(
          sequence,
          released.filter((record) => record.sequence === sequence),
          waiting.map(objectName),
        );
      }
    }
    return relayed;
  }

  async #takeObjects(arrivals: readonly Arrival[]): Promise<void> {
    const { incarnation, isReleased, arrived, write, tookObjects } = this.#options;
    // Objects that this hub has as the successor of their owner, and has not released, are here already.
    const isToCome = ({ sequence, from }: Arrival, [kind, id]: ObjectMove): boolean =>
      from !== incarnation || isReleased(sequence, kind, id);
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
      for (const { from, sequence } of fresh) left.push(...(await this.#releasedBy(from as string, sequence)));
      const objects = objectsOf(fresh.flatMap((each) => each.objects));
      await this.#adopt(left, () => ({ objects, rows: [], pairs: undefined, isLate: false, undelivered: [] }));
      for (const each of fresh) for (const object of each.objects) this.#adopted.add(nameOf(each, object));
    }
    const bySequence = Map.groupBy(arrivals, ({ sequence }) => sequence);
    for (const sequence of bySequence.keys()) arrived(sequence);
    this.#stage = 'writing the state';
    await write();
    this.#stage = 'appending to the log';
    for (const [sequence, theirs] of bySequence) {
      const partitions = new Set(theirs.flatMap(({ objects }) => objects.map(([, , , to]) => to)));
      await tookObjects(sequence, [...partitions]);
    }
  }

  async #adopt(
    left: readonly SourceState[],
    what: (config: number) => Pick<RecoveredState, 'objects' | 'rows' | 'pairs' | 'isLate'> & {
      readonly undelivered: readonly FailedFenceEvent[];
    },
  ): Promise<void> {
    const { allInterestReceived, announceAgain, adopt, configured } = this.#options;
    await this.#until(Math.max(0, ...left.map(({ endMs }) => endMs)));
    // From the first event on, all hubs must get the events that they want.
    this.#stage = 'waiting for the interest of other hubs';
    await allInterestReceived();
    this.#stage = 'passing the state to the shards';
    // If no source states a record, nothing is evaluated again.
    const first = left.find((each) => each.config > 0)?.config ?? configured();
    const { undelivered, objects, pairs, ...rest } = what(first);
    const wanted = new Set(namesOf(objects).map((name) => name.join(' ')));
    const steps = left.flatMap((each) => {
      const except = each.departed.filter((name) => wanted.has(name));
      return except.length === 0 ? each.steps : each.steps.map((step) => ({ ...step, except }));
    });
    await announceAgain(undelivered);
    const parts = byEvaluated(without(objects, this.#handed), left, first);
    for (const [i, [config, theirs]] of parts.entries()) {
      const isLast = i === parts.length - 1;
      await adopt({ ...rest, objects: theirs, pairs: isLast ? pairs : undefined, steps, config });
      for (const name of namesOf(theirs)) this.#handed.add(name.join(' '));
    }
    this.#handed.clear();
  }

  /** State of a removed member. */
  async #leftBy({ of, released }: TakeOver, journals: Map<string, RecoveredJournal>): Promise<SourceState> {
    const journal = journals.get(of) ?? (await this.#options.leftBy(of));
    const { steps, config } = journal;
    journals.set(of, journal);
    const isPending = this.#pending();
    const arrived = (names: ReadonlyMap<string, number>): readonly string[] => {
      return [...names].flatMap(([name, sequence]) => (isPending(name, sequence) ? [] : [name]));
    };
    const [departed, relayed] = [arrived(journal.departed), arrived(journal.relayed)];
    const endMs = steps.reduce((latest, step) => Math.max(latest, step.endMs), 0);
    const isReleased = released > 0 && released <= config;
    const evaluated = isReleased ? released - 1 : config;
    return { steps: steps.map(({ step }) => step), departed, relayed, endMs, config: evaluated };
  }

  /**
   * State that a member has released because of a record. Later owners have released and evaluated more since.
   */
  async #releasedBy(from: string, sequence: number): Promise<readonly SourceState[]> {
    const { released, follow, incarnation } = this.#options;
    const found = await released(from, sequence);
    if (from !== incarnation) await follow(from, found);
    const { endMs } = found;
    // If nothing was released, only the record itself has to be evaluated.
    if (found.steps.length === 0) return [{ ...NOTHING_LEFT, endMs, config: sequence - 1 }];
    const parts = Map.groupBy(found.steps, ({ config }) => config);
    return Array.from(parts, ([config, steps]) => ({ ...NOTHING_LEFT, steps, endMs, config }));
  }

  /**
   * Tests whether an object, as "kind id", that was released because of a record has not arrived: it still counts as with its
   * old owner.
   */
  #pending(): (name: string, sequence: number) => boolean {
    const { state, partitionOf } = this.#options;
    const { sources, migrating } = state();
    const moved = new Set(migrating.flatMap((each) => each.objects.map((object) => nameOf(each, object))));
    return (name, sequence) => {
      if (moved.has(`${sequence} ${name}`)) return true;
      const released = sources.filter((source) => source.released === sequence);
      return (
        released.length > 0 && released.some(({ partitions }) => partitions.includes(partitionOf(...namedBy(name))))
      );
    };
  }

  /** Time must not go backward for the objects, although the clock of the previous owner may be ahead of this one. */
  async #until(latestMs: number): Promise<void> {
    const { now, schedule, notice } = this.#options;
    const aheadMs = latestMs - now();
    if (aheadMs <= 0) return;
    this.#stage = 'waiting for the clock of the hub that owned the objects';
    if (aheadMs > AHEAD_MS_MAX)
      notice(`The clock of the hub that owned the objects is ahead by ${Math.round(aheadMs)} ms`);
    await new Promise<void>((resolve) => void schedule(Math.min(aheadMs, AHEAD_MS_MAX), resolve));
  }
}

function objectName([kind, id]: ObjectMove): string {
  return `${kind} ${id}`;
}

function joined(objects: ObjectIds, more: readonly ObjectMove[]): ObjectIds {
  const those = objectsOf(more);
  return {
    providers: [...new Set([...objects.providers, ...those.providers])],
    trackables: [...new Set([...objects.trackables, ...those.trackables])],
  };
}

function without(objects: ObjectIds, names: ReadonlySet<string>): ObjectIds {
  return names.size === 0 ? objects : objectsOf(namesOf(objects).filter((name) => !names.has(name.join(' '))));
}

/**
 * Objects by the last record that was evaluated for them. Later sources have evaluated more records, but only for objects that
 * their steps mention. `first`: for all others.
 */
function byEvaluated(
  objects: ObjectIds,
  left: readonly SourceState[],
  first: number,
): [config: number, objects: ObjectIds][] {
  const sources = left.filter(({ config }) => config > 0);
  if (sources.length < 2) return [[first, objects]];
  const stated = sources.map(({ config, steps, departed }) => ({ config, departed, ...statedIn(steps) }));
  const evaluated = ([kind, id]: readonly [ObjectKind, string]): number =>
    stated.findLast((each) => each[kind].has(id) && !each.departed.includes(`${kind} ${id}`))?.config ?? first;
  const parts = [...Map.groupBy(namesOf(objects), evaluated)];
  return parts.length === 0 ? [[first, objects]] : parts.map(([config, names]) => [config, objectsOf(names)]);
}

/**
 * Partitions in whose state the rows are those of a removed member. Partitions that others have taken over have rows of these;
 * those that it had yet to take over have rows of the previous owner.
 */
function writtenBy(of: string, state: ConfigState): readonly number[] {
  const first = new Map<number, string>();
  for (const source of state.sources) {
    for (const partition of source.partitions) if (!first.has(partition)) first.set(partition, source.of);
  }
  return [...first].flatMap(([partition, source]) => (source === of ? [partition] : []));
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

function keyOf({ of, released }: TakeOver, partition: number): string {
  return `${of} ${released} ${partition}`;
}

function nameOf({ sequence }: Pick<Arrival, 'sequence'>, [kind, id]: ObjectMove): string {
  return `${sequence} ${kind} ${id}`;
}
