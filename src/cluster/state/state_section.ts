import type { StoredRow } from '../../core/item.ts';
import { isTombstone, keyOf, ofKey, type PackedRows, RowWriter, rowId, rowKey } from '../../core/row_bytes.ts';
import { NewestRows, type RowLocation } from '../../store/newest_rows.ts';
import type { TaskScheduler } from '../../time/task_scheduler.ts';
import { newRecordBuffer } from '../../wire/location_record.ts';
import { RowBuffer } from './row_buffer.ts';
import { addTo, type Lying, readOnce, readToEnds, type StateReadOptions } from './state_reader.ts';
import { RemoteSubject, type ReadSubject, StateSubject, type StateSubjectOptions } from './state_subject.ts';

/**
 * Rows of some subjects of the state: buffered as they arrive, written in rounds, and read back.
 *
 * The state of a subject follows from its messages in order: the last row of each object, without deleted ones. An object lies
 * in the subject of its partition, which changes with its assignments. Its *home* is the subject of its last written row:
 *
 *   a row              | it is written to            | then
 *   -------------------+-----------------------------+--------------------------------------------------
 *   of an object       | its current subject         | if its home was another one, it is deleted there
 *   a tombstone        | its home, if it has one     |
 *
 * So an object lies in two subjects only if a hub has failed between the two writes; the later row counts, and the other is
 * deleted before anything else is written. A round begins when the previous one is stored, and a compaction never writes an
 * object that was deleted elsewhere again: so of two rows the one in the later message is the later one.
 *
 * Several hubs may need the rows that a removed hub has left in its subjects: all current owners of the objects. Until all of
 * them have these, no hub deletes rows of others, or compacts. Then `tidy` deletes what is not this hub's.
 *
 * Operations on the subjects are sequential: claims, rounds, compactions and reads.
 */
export class StateSection {
  readonly #options: StateSectionOptions;
  readonly #subjects = new Map<string, StateSubject>();
  /** Home of each stored object, by the key of its rows. */
  #homes = new Map<string, StateSubject>();
  /** Subjects with rows of objects whose home is elsewhere. */
  #strays = new Map<StateSubject, Set<string>>();
  /** Subjects that were not read since their claim. */
  readonly #unread = new Set<StateSubject>();
  #noted = new RowBuffer();
  #spare = new RowBuffer();
  #queue: Promise<unknown> = Promise.resolve();
  /** The round that has not begun yet. */
  #round: Promise<void> | undefined;

  constructor(options: StateSectionOptions) {
    this.#options = options;
  }

  /** Claims subjects in addition to those that it has. */
  claim(names: readonly string[], epoch: number): Promise<void> {
    return this.#inTurn(async () => {
      // A deleted object may lie in a claimed subject, where another hub has written it since.
      await this.#writeNoted();
      const subjects = names.map((name) => this.#subjects.get(name) ?? new StateSubject(name, this.#options));
      await each(subjects, (subject) => subject.claim(epoch));
      for (const subject of subjects) {
        if (!this.#subjects.has(subject.name)) this.#unread.add(subject);
        this.#subjects.set(subject.name, subject);
      }
    });
  }

  /** Writes pending tombstones of these subjects, and stops writing there: another hub is about to claim them. */
  release(names: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const subjects = new Set(names.map((name) => this.#subjects.get(name)));
      await this.#eraseGoneFrom(subjects);
      for (const [key, subject] of this.#homes) if (subjects.has(subject)) this.#homes.delete(key);
      for (const subject of subjects) {
        if (subject === undefined) continue;
        this.#strays.delete(subject);
        this.#unread.delete(subject);
        this.#subjects.delete(subject.name);
      }
    });
  }

  /** Objects of this hub that lie in these subjects, but belong in others. */
  misplacedIn(names: readonly string[]): Promise<readonly ObjectName[]> {
    return this.#inTurn(async () => {
      await this.#learn();
      const subjects = new Set(names.map((name) => this.#subjects.get(name)));
      const found: ObjectName[] = [];
      await this.#eachHome((name, subject) => {
        if (!subjects.has(subject) || !this.#options.isOwn(...name)) return;
        if (!names.includes(this.#options.subjectOf(...name))) found.push(name);
      });
      return found;
    });
  }

  /** Deletes rows that others have left in the subjects of this hub, and that no hub needs any more. */
  tidy(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#options.isSettled()) return;
      await this.#learn();
      await this.#eraseStrays();
      const left = new Map<StateSubject, string[]>();
      await this.#eachHome((name, subject) => {
        if (!this.#options.isOwn(...name)) push(left, subject, keyOf(...name));
      });
      for (const keys of left.values()) for (const key of keys) this.#homes.delete(key);
      await this.#erase(left);
    });
  }

  /** Buffers rows that are newer than all before. Hot path. */
  note(rows: PackedRows): void {
    this.#noted.add(rows);
  }

  /** Resolves when all rows buffered so far are stored. Calls share a round. */
  write(): Promise<void> {
    this.#round ??= this.#inTurn(async () => {
      this.#round = undefined;
      await this.#writeNoted();
    }).then(() => this.#compactLater());
    return this.#round;
  }

  /** Last row of each object, including rows buffered until this resolves, in their own memory. */
  rows(): Promise<ReadonlyMap<string, RowLocation>> {
    return this.#inTurn(async () => {
      const rows = new Map<string, RowLocation>(await this.#read());
      for (const chunk of this.#noted.chunks()) {
        const newest = new NewestRows();
        newest.add(Buffer.from(chunk));
        for (const place of newest) {
          if (isTombstone(place.buffer, place.at)) rows.delete(rowKey(place.buffer, place.at));
          else rows.set(rowKey(place.buffer, place.at), place);
        }
      }
      return rows;
    });
  }

  /** Deletes outdated rows in subjects of this hub. */
  eraseOutdated(outdated: readonly Outdated[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#learn();
      const left = new Map<StateSubject, string[]>();
      for (const { subjects, objects } of outdated) {
        for (const key of objects) {
          const home = this.#homes.get(key);
          if (home === undefined || !subjects.has(home.name)) continue;
          push(left, home, key);
          this.#homes.delete(key);
        }
      }
      await this.#erase(left);
    });
  }

  /** Last row of each object in some subjects, of any writer, except outdated ones. They are copies. */
  rowsIn(names: readonly string[], outdated: readonly Outdated[] = []): Promise<ReadonlyMap<string, RowLocation>> {
    return this.#inTurn(async () => {
      const subjects = names.map((name) => this.#subjects.get(name) ?? new RemoteSubject(name));
      await each(subjects, async (subject) => {
        if (subject instanceof RemoteSubject) await subject.look(this.#options);
      });
      const isOutdated = ({ name }: ReadSubject, key: string): boolean => {
        return outdated.some((each) => each.subjects.has(name) && each.objects.has(key));
      };
      return (await readToEnds<ReadSubject>(this.#options, subjects, outdated.length === 0 ? undefined : isOutdated))
        .lying;
    });
  }

  async #writeNoted(): Promise<void> {
    if (this.#noted.size === 0) return;
    await this.#learn();
    await this.#eraseStrays();
    const noted = this.#noted;
    this.#noted = this.#spare;
    const plan = await this.#plan(noted);
    await each([...plan.rows], ([subject, rows]) => subject.append(rows));
    for (const [key, subject] of plan.homes) {
      if (subject === undefined) this.#homes.delete(key);
      else {
        this.#homes.set(key, subject);
        // It may have lain there before, while its home was still another one here.
        this.#strays.get(subject)?.delete(key);
      }
    }
    await this.#erase(plan.left);
    noted.clear();
    this.#spare = noted;
  }

  /**
   * Plans which rows go where. Rows of this hub's objects wait until their subject is claimed; those of other hubs are dropped.
   */
  async #plan(noted: RowBuffer): Promise<Plan> {
    const newest = new NewestRows();
    for (const chunk of noted.chunks()) {
      newest.add(chunk);
      await this.#options.turns.next();
    }
    const plan: Plan = { rows: new Map(), homes: new Map(), left: new Map() };
    const waiting = new RowWriter(newRecordBuffer, 0);
    const { lastId } = this.#options;
    let last: RowLocation | undefined;
    for (let from = 0; from < newest.size; from += TURN_ROWS) {
      for (let i = from; i < Math.min(from + TURN_ROWS, newest.size); i++) {
        const place = newest.place(i);
        if (lastId !== undefined && rowId(place.buffer, place.at).id === lastId) last = place;
        else this.#place(place, plan, waiting);
      }
      await this.#options.turns.next();
    }
    if (last !== undefined) this.#place(last, plan, waiting);
    if (waiting.size > 0) {
      // Rows that were buffered meanwhile are newer.
      const later = this.#noted;
      this.#noted = new RowBuffer();
      this.#noted.add(waiting.take());
      this.#noted.addAll(later);
    }
    return plan;
  }

  #place(place: RowLocation, plan: Plan, waiting: RowWriter): void {
    const { kind, id } = rowId(place.buffer, place.at);
    const key = keyOf(kind, id);
    const home = this.#homes.get(key);
    const isGone = isTombstone(place.buffer, place.at);
    if (isGone && home === undefined) return;
    const to = isGone ? home : this.#subjects.get(this.#options.subjectOf(kind, id));
    if (to === undefined) {
      if (this.#options.isOwn(kind, id)) waiting.copy(place.buffer, place.at);
      return;
    }
    push(plan.rows, to, place);
    plan.homes.set(key, isGone ? undefined : to);
    if (home !== undefined && home !== to) push(plan.left, home, key);
  }

  async #erase(left: ReadonlyMap<StateSubject, Iterable<string>>): Promise<void> {
    await each([...left], ([subject, keys]) => subject.append(goneRows(keys)));
  }

  /** Deletes the objects in some subjects whose last buffered row is a tombstone. */
  async #eraseGoneFrom(subjects: ReadonlySet<StateSubject | undefined>): Promise<void> {
    if (this.#noted.size === 0) return;
    await this.#learn();
    const newest = new NewestRows();
    for (const chunk of this.#noted.chunks()) newest.add(chunk);
    const left = new Map<StateSubject, string[]>();
    for (const { buffer, at } of newest) {
      const key = rowKey(buffer, at);
      const home = this.#homes.get(key);
      if (home !== undefined && subjects.has(home) && isTombstone(buffer, at)) push(left, home, key);
    }
    await this.#erase(left);
  }

  async #eraseStrays(): Promise<void> {
    if (!this.#options.isSettled()) return;
    await this.#erase(this.#strays);
    this.#strays = new Map();
  }

  /** Visits the homes of all objects, in batches. */
  async #eachHome(look: (name: ObjectName, subject: StateSubject) => void): Promise<void> {
    let count = 0;
    for (const [key, subject] of this.#homes) {
      look(ofKey(key), subject);
      if (++count % TURN_ROWS === 0) await this.#options.turns.next();
    }
  }

  #compactLater(): void {
    if (!this.#options.isSettled() || ![...this.#subjects.values()].some(({ isHeavy }) => isHeavy)) return;
    // The next caller gets the error.
    this.#inTurn(() => this.#compact()).catch(() => undefined);
  }

  async #compact(): Promise<void> {
    if (!this.#options.isSettled()) return;
    await this.#learn();
    const heavy = [...this.#subjects.values()].filter(({ isHeavy }) => isHeavy);
    for (let from = 0; from < heavy.length; from += COMPACTED_TOGETHER) {
      const subjects = heavy.slice(from, from + COMPACTED_TOGETHER);
      const newest = new Map(subjects.map((subject) => [subject, new NewestRows()]));
      const unread = await readOnce(this.#options, subjects, (subject, rows) => newest.get(subject)?.add(rows));
      // They still need compaction, and the next round retries.
      if (unread !== undefined) return;
      await each([...newest], ([subject, rows]) =>
        subject.replace([...rows].filter((place) => this.#isAtHome(subject, place))),
      );
    }
  }

  /** Whether the row counts: its object is not deleted, has its home here, and is this hub's. */
  #isAtHome(subject: StateSubject, { buffer, at }: RowLocation): boolean {
    const { kind, id } = rowId(buffer, at);
    return this.#homes.get(keyOf(kind, id)) === subject && this.#options.isOwn(kind, id);
  }

  /** Reads all subjects, and finds the homes of all objects. */
  async #read(): Promise<ReadonlyMap<string, Lying<StateSubject>>> {
    const subjects = [...this.#subjects.values()];
    const merged = await readToEnds(this.#options, subjects);
    this.#homes = merged.homes();
    this.#strays = merged.strays();
    merged.weigh(subjects);
    this.#unread.clear();
    return merged.lying;
  }

  /** Finds the homes of objects in claimed subjects. Rows that this hub has written since are newer. */
  async #learn(): Promise<void> {
    if (this.#unread.size === 0) return;
    const subjects = [...this.#unread];
    const merged = await readToEnds(this.#options, subjects);
    merged.weigh(subjects);
    for (const [subject, keys] of merged.strays()) for (const key of keys) addTo(this.#strays, subject, key);
    for (const [key, subject] of merged.homes()) {
      if (this.#homes.has(key)) addTo(this.#strays, subject, key);
      else this.#homes.set(key, subject);
    }
    this.#unread.clear();
  }

  /** Does work after all earlier work. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { check, failed } = this.#options;
    const done = this.#queue.then(async () => {
      check();
      try {
        return await work();
      } catch (error) {
        failed(error as Error);
        throw error;
      }
    });
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

export interface StateSectionOptions extends StateSubjectOptions, StateReadOptions {
  readonly turns: TaskScheduler;
  /** Current subject of an object's rows. */
  subjectOf(kind: StoredRow['kind'], id: string): string;
  /** Id of the row that each round writes last, if it has it. */
  readonly lastId?: string;
  /** Whether this hub owns an object. */
  isOwn(kind: StoredRow['kind'], id: string): boolean;
  /** Whether all members have taken the state of removed members. */
  isSettled(): boolean;
  /** Reports a permanent failure. */
  failed(error: Error): void;
}

/** Most messages in flight. */
const IN_FLIGHT = 32;
/** Rows that are planned in one turn of the event loop. */
const TURN_ROWS = 1000;
/** Subjects that are read together, and held in memory, to be compacted. */
const COMPACTED_TOGETHER = 16;
interface Plan {
  readonly rows: Map<StateSubject, RowLocation[]>;
  /** New home of each object; undefined for none. */
  readonly homes: Map<string, StateSubject | undefined>;
  /** Rows to delete afterwards, by subject. */
  readonly left: Map<StateSubject, string[]>;
}

/** Objects, by the keys of their rows, whose rows in these subjects are outdated: their owner had released them. */
export interface Outdated {
  readonly subjects: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
}

type ObjectName = readonly [kind: StoredRow['kind'], id: string];

function goneRows(keys: Iterable<string>): RowLocation[] {
  const writer = new RowWriter(newRecordBuffer);
  for (const key of keys) writer.gone(...ofKey(key));
  return Array.from(writer.take().offsets(), (at) => ({ buffer: writer, at }));
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Does work for all items, some at a time. Rejects with the first error, and then starts no more. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const some = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, some));
}
