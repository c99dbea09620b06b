import type { CollisionRow } from '../core/collision/row.ts';
import type { LastKnownRow, ObjectIds } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { PackedStep } from '../wire/journal_record.ts';
import type { Checkpoints, LetGo } from './checkpoints.ts';
import type { ObjectMove } from './config_record.ts';
import { type Acquisitions, type Arrival, acquisitions, type ConfigState, type TakeOver } from './config_state.ts';
import type { FenceEventLeft } from './fan_out_message.ts';
import type { Notice } from './notice.ts';
import { namedBy, namesOf, objectsOf, type Released } from './releases.ts';
import { type JournalLeft, lastFenceEvents, statedIn } from './steps_left.ts';

/**
 * How this hub comes by what the map gives to it:
 *
 *   what                            from whom it was before      its state
 *   ------------------------------  ---------------------------  ---------------------------------------------------
 *   partitions                      a member                     what that one has released, when asked
 *   partitions                      a hub that is gone           rows in the state, and the steps in its journal
 *   objects that were assigned      the owner of their old       what that one has released, when asked. It may be
 *   to others                       partition                    this hub: then nothing moves
 *
 * It claims the partitions in the state, has the shards adopt all that, writes it to the state, and says in the log that it
 * has it: from then on it serves these objects. A hub that dies before that is a source of it, too, since its shards may
 * have told something about them. What the shards have they are not handed again when something fails behind that: a
 * second time they would tell of what is overdue again.
 */
export interface AcquisitionOptions {
  /** Member id of this hub. */
  readonly incarnation: string;
  readonly checkpoints: Checkpoints;
  /** By the last record that is applied. */
  state(): ConfigState;
  /** By what is applied. */
  partitionOf(kind: ObjectKind, id: string): number;
  /** The last record that the shards were told of. */
  configured(): number;
  /** The partitions that a hub had which is gone. */
  hadAtItsEnd(incarnation: string): readonly number[];
  /**
   * All objects of some partitions, those that are on their way from there, and those that records behind `config` have deleted
   * there. `located`: providers that may be among them, and may not be known.
   */
  objectsIn(partitions: ReadonlySet<number>, config: number, located: Iterable<string>): ObjectIds;
  /** What a member, maybe this one, has released because of a record. Rejects when it is a member no more. */
  released(from: string, sequence: number): Promise<Released>;
  /** Whether this hub itself has released an object because of a record. */
  isReleased(sequence: number, kind: ObjectKind, id: string): boolean;
  /** Has others find here what a hub has released that is gone, and has not arrived. Resolves when that is kept. */
  relay(sequence: number, released: JournalLeft['released'], objects: readonly string[]): Promise<void>;
  /** What a member has released is about to be adopted: its events come first, here and elsewhere. */
  follow(from: string, released: Released): Promise<void>;
  /** Resolves when all hubs have said what they want to hear of. */
  allHeard(): Promise<void>;
  /**
   * Records the last fence events of failed owners in the journal of this hub, then announces them, in order, to the
   * subscribers that have not received them.
   */
  announceAgain(events: readonly FenceEventLeft[]): Promise<void>;
  /** Hands the shards what was left. Resolves when they have it, and have handed out the rows of all of it. */
  adopt(left: LeftBehind): Promise<void>;
  /** The shards have objects that were assigned to others by a record: what it has forced may be so by now. */
  arrived(sequence: number): void;
  /** What a hub has left which is gone. */
  leftBy(incarnation: string): Promise<JournalLeft>;
  /** Writes all rows that were handed out to the state. */
  write(): Promise<void>;
  /** Says in the log that it has the state. */
  took(of: string, partitions: readonly number[]): Promise<void>;
  /** Says in the log that the objects of a record have arrived whose new partitions are among these. */
  tookObjects(sequence: number, partitions: readonly number[]): Promise<void>;
  /** Wall-clock time in milliseconds. */
  now(): number;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly notice: Notice;
}

/** What owners before have left. */
export interface LeftBehind {
  readonly objects: ObjectIds;
  readonly rows: readonly LastKnownRow[];
  /** All that collide, where this hub has just got the stage; undefined otherwise. */
  readonly pairs: readonly CollisionRow[] | undefined;
  /** What has changed since the rows, in this order. */
  readonly steps: readonly PackedStep[];
  /** The last record of the configuration log that the owners have evaluated in that. */
  readonly config: number;
  /** Whether a hub is gone that has owned some of it: nobody has heard of the objects for a while. */
  readonly isLate: boolean;
}

/** How far clocks may differ for a takeover to wait for that. */
const AHEAD_MS_MAX = 1000;

/** An object that is on its way between hubs. */
export interface OnTheWay {
  /** Whether the shards of this hub have it, or may have yet to release it. */
  readonly mayBeHere: boolean;
  /** Whether it is to come to them. */
  readonly isComing: boolean;
}

/** What a hub has left that is gone. */
interface LateLeft {
  readonly left: Left;
  /** Of its partitions those that this hub has got. */
  readonly partitions: readonly number[];
  /** All that it had at its end. */
  readonly all: ReadonlySet<number>;
}

/** What one source has of the objects. */
interface Left {
  readonly steps: readonly PackedStep[];
  /** Objects, as "kind id", that had left it, and arrived elsewhere: what it says of them is out of date. */
  readonly departed: readonly string[];
  /** All that had left it. */
  readonly allDeparted: readonly string[];
  /** Objects that it has relayed, and that have arrived. */
  readonly relayed: readonly string[];
  readonly endMs: number;
  /** 0 if it does not say. */
  readonly config: number;
}

const NOTHING_LEFT: Left = { steps: [], departed: [], allDeparted: [], relayed: [], endMs: 0, config: 0 };

export class Acquisition {
  readonly #options: AcquisitionOptions;
  /** What the shards have by now: sources and their partitions, records and the objects that came with them. */
  readonly #adopted = new Set<string>();
  /** Objects, as "kind id", that the shards have of what is being handed to them in parts. */
  readonly #handed = new Set<string>();
  /** What hubs have left that were to get objects which are on their way still. */
  #late: LateLeft[] = [];
  /** Partitions whose state this hub writes. */
  #claimed: ReadonlySet<number> = new Set();
  #hasStage = false;
  #stage = '';

  constructor(options: AcquisitionOptions) {
    this.#options = options;
  }

  /** What it waits for. */
  get stage(): string {
    return this.#stage;
  }

  /** Tells the objects that the shards of this hub have, or had until others took them. */
  arrived(): (kind: ObjectKind, id: string) => boolean {
    const { partitionOf, incarnation, state } = this.#options;
    const { map, sources } = state();
    const open = this.unadopted();
    const left = new Set(sources.flatMap(({ of, partitions }) => (of === incarnation ? partitions : [])));
    const onTheWay = this.onTheWay();
    const isIn = (partition: number): boolean =>
      left.has(partition) || (map?.owners[partition] === incarnation && !open.has(partition));
    return (kind, id) => {
      const name = `${kind} ${id}`;
      return this.#handed.has(name) || (onTheWay.get(name)?.mayBeHere ?? isIn(partitionOf(kind, id)));
    };
  }

  /** The objects that are on their way between hubs, by "kind id". */
  onTheWay(): ReadonlyMap<string, OnTheWay> {
    const { state, incarnation, isReleased } = this.#options;
    const { map, onTheWay } = state();
    const open = this.unadopted();
    const found = new Map<string, OnTheWay>();
    for (const { sequence, objects } of onTheWay) {
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

  /** Whether something is to be acquired, and can be. */
  get isDue(): boolean {
    const { partitions, objects } = this.#wanted();
    return partitions.length > 0 || objects.length > 0 || this.#isStageDue || this.#unclaimed().length > 0;
  }

  /** Acquires what can be had now. Resolves with whether there was anything. To be called until there is not. */
  async acquire(): Promise<boolean> {
    const { partitions, objects } = this.#wanted();
    if (partitions.length > 0 || this.#isStageDue || this.#unclaimed().length > 0)
      await this.#takePartitions(partitions);
    else if (objects.length > 0) await this.#takeObjects(objects);
    else {
      const { state, incarnation } = this.#options;
      // Objects that still have to wait may have reached a hub that is gone.
      if (acquisitions(state(), incarnation).objects.length === 0) this.#late = [];
      return false;
    }
    return true;
  }

  get #isStageDue(): boolean {
    const { state, incarnation } = this.#options;
    return !this.#hasStage && state().map?.collisions === incarnation;
  }

  /** Partitions of this hub whose state it does not write yet. What it has lost since it claims anew when it gets it back. */
  #unclaimed(): readonly number[] {
    const { state, incarnation } = this.#options;
    const { owners = [] } = state().map ?? {};
    this.#claimed = new Set([...this.#claimed].filter((partition) => owners[partition] === incarnation));
    return owners.flatMap((owner, partition) => {
      return owner === incarnation && !this.#claimed.has(partition) ? [partition] : [];
    });
  }

  /** Objects come when their old partition has an owner that has all of it. */
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
    // Whoever lives writes nothing to the state any more when it has released it.
    this.#stage = 'waiting for other hubs to release partitions';
    const released = new Map<TakeOver, readonly Left[]>();
    for (const source of fresh) {
      if (source.isMember) released.set(source, (await this.#releasedBy(source.of, source.released)).left);
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
    this.#stage = 'saying so in the log';
    for (const { of, partitions: taken } of sources) await took(of, taken);
  }

  /** `released`: by those of the sources that live. */
  async #adoptPartitions(
    sources: readonly TakeOver[],
    released: ReadonlyMap<TakeOver, readonly Left[]>,
    isStageDue: boolean,
  ): Promise<void> {
    const { checkpoints, hadAtItsEnd, objectsIn, state } = this.#options;
    const gone = sources.filter(({ isMember }) => !isMember);
    this.#stage = 'reading what is left';
    const journals = new Map<string, JournalLeft>();
    const left = new Map(released);
    for (const source of gone) left.set(source, [await this.#leftBy(source, journals)]);
    const leftBy = (those: readonly TakeOver[]): readonly Left[] => {
      // One that has lost partitions several times has one journal.
      const isFirst = ({ of, isMember }: TakeOver, i: number): boolean =>
        isMember || those.findIndex((other) => other.of === of) === i;
      return those.flatMap((source, i) => (isFirst(source, i) ? (left.get(source) as readonly Left[]) : []));
    };
    const dead = Map.groupBy(gone, ({ of }) => of);
    const letGo: LetGo[] = [];
    for (const [of, theirs] of dead) {
      const its = left.get(theirs[0] as TakeOver) as readonly Left[];
      const all = new Set([...hadAtItsEnd(of), ...theirs.flatMap(({ partitions }) => partitions)]);
      const late = theirs.flatMap(({ partitions }) => its.map((each) => ({ left: each, partitions, all })));
      this.#late = [...this.#late, ...late];
      letGo.push({ partitions: writtenBy(of, state()), objects: its.flatMap((each) => this.#letGoBy(each, all)) });
    }
    const relayed = await this.#relay([...journals.values()]);
    this.#stage = 'reading the state';
    const rows: LastKnownRow[] = [];
    const had = new Set(gone.flatMap(({ of, partitions }) => [...hadAtItsEnd(of), ...partitions]));
    // Its rows of what had left it and arrived elsewhere it may not have lived to erase: nobody knows of them later.
    await checkpoints.eraseLetGo(letGo);
    if (had.size > 0) for await (const part of checkpoints.rowsIn([...had], letGo)) rows.push(...part);
    const pairs = isStageDue ? await checkpoints.pairs() : undefined;
    // A provider is located before the record comes that makes it: of that one only its owner knows.
    const located = new Set(statedIn(leftBy(sources).flatMap(({ steps }) => steps)).provider);
    for (const { kind, id } of rows) if (kind === 'provider') located.add(id);
    let untold: readonly FenceEventLeft[] = [...journals]
      .flatMap(([of, journal]) => lastFenceEvents(of, journal, this.#pending()))
      .sort((one, other) => one.recordedMs - other.recordedMs);
    // Each has evaluated another part of the log: what comes from one is not to meet again what another has yet to evaluate.
    const groups = alike(sources);
    for (const [i, { partitions, from }] of groups.entries()) {
      const isLast = i === groups.length - 1;
      await this.#adopt(leftBy(from), (config) => ({
        objects: without(objectsIn(new Set(partitions), config, located), relayed),
        // The collision stage goes on when all are here.
        ...{ rows, pairs: isLast ? pairs : undefined, untold, isLate: from.some(({ isMember }) => !isMember) },
      }));
      untold = [];
      for (const source of from) for (const each of partitions) this.#adopted.add(keyOf(source, each));
    }
  }

  /** What a hub had let go. What it has relayed may have come to itself. */
  #letGoBy({ departed, relayed }: Left, partitions: ReadonlySet<number>): LetGo['objects'] {
    const { partitionOf } = this.#options;
    const elsewhere = relayed.map(namedBy).filter((name) => !partitions.has(partitionOf(...name)));
    return [...departed.map(namedBy), ...elsewhere];
  }

  /**
   * What hubs that are gone had released, and is on its way still, is not adopted: whoever it goes to may have it already.
   * Returns these objects, as "kind id".
   */
  async #relay(journals: readonly JournalLeft[]): Promise<ReadonlySet<string>> {
    const { state, relay } = this.#options;
    const relayed = new Set<string>();
    for (const { sequence, objects } of state().onTheWay) {
      const names = objects.map(([kind, id]) => `${kind} ${id}`);
      for (const { departed, relayed: again, released } of journals) {
        const left = names.filter((name) => departed.get(name) === sequence || again.get(name) === sequence);
        if (left.length === 0) continue;
        await relay(
          sequence,
          released.filter((record) => record.sequence === sequence),
          left,
        );
        for (const name of left) relayed.add(name);
      }
    }
    return relayed;
  }

  async #takeObjects(arrivals: readonly Arrival[]): Promise<void> {
    const { incarnation, isReleased, arrived, write, tookObjects } = this.#options;
    // What this hub has as the heir of its owner before, and has released to nobody, need not come.
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
      const left: Left[] = [];
      const relayed = new Set<string>();
      for (const { from, sequence } of fresh) {
        const found = await this.#releasedBy(from as string, sequence);
        left.push(...found.left);
        for (const name of found.relayed) relayed.add(name);
      }
      // Whoever was to get them, and is gone, may have had them, and told something of them.
      const arriving = fresh.flatMap((each) => each.objects);
      const to = new Set(arriving.map(([, , , partition]) => partition));
      const late = this.#late.filter(({ partitions }) => partitions.some((partition) => to.has(partition)));
      for (const each of late) {
        // It no longer has what it released before. What was to move within it comes from the heir of the old partition, which
        // has it from there; but not what had left that partition before, as somebody else has said.
        const own = arriving.flatMap(([kind, id, from]) => {
          const name = `${kind} ${id}`;
          return each.all.has(from) && !relayed.has(name) ? [name] : [];
        });
        left.push({ ...each.left, departed: [...each.left.allDeparted, ...own], endMs: 0 });
      }
      const [objects, isLate] = [objectsOf(arriving), late.length > 0];
      await this.#adopt(left, () => ({ objects, rows: [], pairs: undefined, isLate, untold: [] }));
      for (const each of fresh) for (const object of each.objects) this.#adopted.add(nameOf(each, object));
    }
    const bySequence = Map.groupBy(arrivals, ({ sequence }) => sequence);
    for (const sequence of bySequence.keys()) arrived(sequence);
    this.#stage = 'writing the state';
    await write();
    this.#stage = 'saying so in the log';
    for (const [sequence, theirs] of bySequence) {
      const partitions = new Set(theirs.flatMap(({ objects }) => objects.map(([, , , to]) => to)));
      await tookObjects(sequence, [...partitions]);
    }
  }

  async #adopt(
    left: readonly Left[],
    what: (config: number) => Pick<LeftBehind, 'objects' | 'rows' | 'pairs' | 'isLate'> & {
      readonly untold: readonly FenceEventLeft[];
    },
  ): Promise<void> {
    const { allHeard, announceAgain, adopt, configured } = this.#options;
    await this.#until(Math.max(0, ...left.map(({ endMs }) => endMs)));
    // From the first event on all get what they want.
    this.#stage = 'waiting for other hubs to hear of interest';
    await allHeard();
    this.#stage = 'handing the state to the shards';
    // Where no source says, nothing is evaluated anew.
    const first = left.find((each) => each.config > 0)?.config ?? configured();
    const { untold, objects, pairs, ...rest } = what(first);
    const wanted = new Set(namesOf(objects).map((name) => name.join(' ')));
    const steps = left.flatMap((each) => {
      const except = each.departed.filter((name) => wanted.has(name));
      return except.length === 0 ? each.steps : each.steps.map((step) => ({ ...step, except }));
    });
    await announceAgain(untold);
    const parts = byEvaluated(without(objects, this.#handed), left, first);
    for (const [i, [config, theirs]] of parts.entries()) {
      const isLast = i === parts.length - 1;
      await adopt({ ...rest, objects: theirs, pairs: isLast ? pairs : undefined, steps, config });
      for (const name of namesOf(theirs)) this.#handed.add(name.join(' '));
    }
    this.#handed.clear();
  }

  /** What a hub that is gone has left. */
  async #leftBy({ of, released }: TakeOver, journals: Map<string, JournalLeft>): Promise<Left> {
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
    const allDeparted = [...journal.departed.keys()];
    return { steps: steps.map(({ step }) => step), departed, allDeparted, relayed, endMs, config: evaluated };
  }

  /** What a member has released because of a record: heirs have released more later, as they have evaluated more by then. */
  async #releasedBy(
    from: string,
    sequence: number,
  ): Promise<{ readonly left: readonly Left[]; readonly relayed: readonly string[] }> {
    const { released, follow, incarnation } = this.#options;
    const found = await released(from, sequence);
    if (from !== incarnation) await follow(from, found);
    const { endMs, relayed } = found;
    // Where nothing was released, nothing is to be evaluated anew but the record itself.
    if (found.steps.length === 0) return { left: [{ ...NOTHING_LEFT, endMs, config: sequence - 1 }], relayed };
    const parts = Map.groupBy(found.steps, ({ config }) => config);
    return { left: Array.from(parts, ([config, steps]) => ({ ...NOTHING_LEFT, steps, endMs, config })), relayed };
  }

  /** Tells the objects, as "kind id", that were released because of a record and have yet to arrive: they are where they were. */
  #pending(): (name: string, sequence: number) => boolean {
    const { state, partitionOf } = this.#options;
    const { sources, onTheWay } = state();
    const moved = new Set(onTheWay.flatMap((each) => each.objects.map((object) => nameOf(each, object))));
    return (name, sequence) => {
      if (moved.has(`${sequence} ${name}`)) return true;
      const released = sources.filter((source) => source.released === sequence);
      return (
        released.length > 0 && released.some(({ partitions }) => partitions.includes(partitionOf(...namedBy(name))))
      );
    };
  }

  /** Time does not fall for the objects, although the clock of who owned them before may be ahead of this one. */
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

function without(objects: ObjectIds, names: ReadonlySet<string>): ObjectIds {
  return names.size === 0 ? objects : objectsOf(namesOf(objects).filter((name) => !names.has(name.join(' '))));
}

/**
 * Objects by the last record that is evaluated in what was left of them. Later sources have evaluated more records, but only
 * for the objects that they had: those of which their steps tell. `first`: for all others.
 */
function byEvaluated(objects: ObjectIds, left: readonly Left[], first: number): [config: number, objects: ObjectIds][] {
  const sources = left.filter(({ config }) => config > 0);
  if (sources.length < 2) return [[first, objects]];
  const told = sources.map(({ config, steps, departed }) => ({ config, departed, ...statedIn(steps) }));
  const evaluated = ([kind, id]: readonly [ObjectKind, string]): number =>
    told.findLast((each) => each[kind].has(id) && !each.departed.includes(`${kind} ${id}`))?.config ?? first;
  const parts = [...Map.groupBy(namesOf(objects), evaluated)];
  return parts.length === 0 ? [[first, objects]] : parts.map(([config, names]) => [config, objectsOf(names)]);
}

/**
 * Partitions in whose state the rows are those of a hub that is gone. Where others have taken over from it, they have
 * written theirs; where it had yet to take over, they are those of whoever had the partition before.
 */
function writtenBy(of: string, state: ConfigState): readonly number[] {
  const first = new Map<number, string>();
  for (const source of state.sources) {
    for (const partition of source.partitions) if (!first.has(partition)) first.set(partition, source.of);
  }
  return [...first].flatMap(([partition, source]) => (source === of ? [partition] : []));
}

/** Partitions by their sources; without any where there is nothing but the stage to be taken. */
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
