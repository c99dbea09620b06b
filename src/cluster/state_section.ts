import type { KeptRow } from '../core/item.ts';
import { isGoneRow, keyOf, ofKey, type PackedRows, RowWriter, rowId, rowKey, rowSize } from '../core/row_bytes.ts';
import { copied, look } from '../model/borrowed.ts';
import { NewestRows, type Place } from '../store/newest_rows.ts';
import type { Turns } from '../time/turns.ts';
import { asBuffer, newRecordBuffer } from '../wire/location_record.ts';
import { BusError, type StoredMessage } from './bus.ts';
import { NotedRows } from './noted_rows.ts';
import { type StateHead, unpackState } from './state_message.ts';
import { StateSubject, type StateSubjectOptions } from './state_subject.ts';

/**
 * The rows of some subjects of the state: noted as they come, written in rounds, and read back.
 *
 * The state of a subject is what its messages say one after the other: the last row of each object, and none of those that
 * are gone. An object lies in the subject of its partition, which changes with what it is linked to. It is at *home* where
 * its last row was written to:
 *
 *   a row comes            | it is written to         | then
 *   -----------------------+--------------------------+------------------------------------------------
 *   of an object           | its subject by now       | if its home was another one, it is erased there
 *   that says it is gone   | its home, if it has one  |
 *
 * So an object may lie in two subjects only after a hub has died between the two; the later row counts, and the other is
 * erased before anything else is written. One round begins when all of the last one is kept, and an object that was erased
 * elsewhere is never written there again by a compaction: so of two rows that of the later message is the later one.
 *
 * Work on the subjects is done one after the other: claims, rounds, compactions and reading.
 */
export class StateSection {
  readonly #options: StateSectionOptions;
  readonly #subjects = new Map<string, StateSubject>();
  /** Of each object that lies somewhere, by the key of its rows. */
  #homes = new Map<string, StateSubject>();
  /** Where objects lie that are at home elsewhere. */
  #strays = new Map<StateSubject, string[]>();
  /** Whether the homes are known. */
  #isKnown = true;
  #noted = new NotedRows();
  #spare = new NotedRows();
  #queue: Promise<unknown> = Promise.resolve();
  /** The round that has not begun yet. */
  #round: Promise<void> | undefined;

  constructor(options: StateSectionOptions) {
    this.#options = options;
  }

  /** Takes subjects over, besides those that it has. */
  claim(names: readonly string[], epoch: number): Promise<void> {
    return this.#inTurn(async () => {
      const subjects = names.map((name) => this.#subjects.get(name) ?? new StateSubject(name, this.#options));
      await each(subjects, (subject) => subject.claim(epoch));
      for (const subject of subjects) this.#subjects.set(subject.name, subject);
      this.#isKnown = false;
    });
  }

  /** Copies rows that are newer than all before. hot */
  note(rows: PackedRows): void {
    this.#noted.add(rows);
  }

  /** Resolves when all that was noted until now is kept. Calls share a round. */
  write(): Promise<void> {
    this.#round ??= this.#inTurn(async () => {
      this.#round = undefined;
      await this.#writeNoted();
    }).then(() => this.#compactLater());
    return this.#round;
  }

  /** The last row of each object, with what was noted until this resolves. They lie in memory of their own. */
  rows(): Promise<ReadonlyMap<string, Place>> {
    return this.#inTurn(async () => {
      const rows = new Map<string, Place>(await this.#read());
      for (const chunk of this.#noted.chunks()) {
        const newest = new NewestRows();
        newest.add(Buffer.from(chunk));
        for (const place of newest) {
          if (isGoneRow(place.buffer, place.at)) rows.delete(rowKey(place.buffer, place.at));
          else rows.set(rowKey(place.buffer, place.at), place);
        }
      }
      return rows;
    });
  }

  async #writeNoted(): Promise<void> {
    if (this.#noted.size === 0) return;
    if (!this.#isKnown) await this.#read();
    await this.#erase(this.#strays);
    this.#strays = new Map();
    const noted = this.#noted;
    this.#noted = this.#spare;
    const plan = await this.#plan(noted);
    await each([...plan.rows], ([subject, rows]) => subject.append(rows));
    for (const [key, subject] of plan.homes) {
      if (subject === undefined) this.#homes.delete(key);
      else this.#homes.set(key, subject);
    }
    await this.#erase(plan.left);
    noted.clear();
    this.#spare = noted;
  }

  /** Which rows go where. Rows of subjects that are not claimed wait until they are. */
  async #plan(noted: NotedRows): Promise<Plan> {
    const newest = new NewestRows();
    for (const chunk of noted.chunks()) {
      newest.add(chunk);
      await this.#options.turns.next();
    }
    const plan: Plan = { rows: new Map(), homes: new Map(), left: new Map() };
    const waiting = new RowWriter(newRecordBuffer, 0);
    for (let from = 0; from < newest.size; from += TURN_ROWS) {
      for (let i = from; i < Math.min(from + TURN_ROWS, newest.size); i++) this.#place(newest.place(i), plan, waiting);
      await this.#options.turns.next();
    }
    if (waiting.size > 0) {
      // What has come meanwhile is newer.
      const later = this.#noted;
      this.#noted = new NotedRows();
      this.#noted.add(waiting.take());
      this.#noted.addAll(later);
    }
    return plan;
  }

  #place(place: Place, plan: Plan, waiting: RowWriter): void {
    const { kind, id } = rowId(place.buffer, place.at);
    const key = keyOf(kind, id);
    const home = this.#homes.get(key);
    const isGone = isGoneRow(place.buffer, place.at);
    if (isGone && home === undefined) return;
    const to = isGone ? home : this.#subjects.get(this.#options.subjectOf(kind, id));
    if (to === undefined) {
      waiting.copy(place.buffer, place.at);
      return;
    }
    push(plan.rows, to, place);
    plan.homes.set(key, isGone ? undefined : to);
    if (home !== undefined && home !== to) push(plan.left, home, key);
  }

  async #erase(left: ReadonlyMap<StateSubject, readonly string[]>): Promise<void> {
    await each([...left], ([subject, keys]) => subject.append(goneRows(keys)));
  }

  #compactLater(): void {
    if (![...this.#subjects.values()].some(({ isHeavy }) => isHeavy)) return;
    // Whoever calls next learns what it has failed over.
    this.#inTurn(() => this.#compact()).catch(() => undefined);
  }

  async #compact(): Promise<void> {
    const heavy = [...this.#subjects.values()].filter(({ isHeavy }) => isHeavy);
    for (let from = 0; from < heavy.length; from += COMPACTED_TOGETHER) {
      const subjects = heavy.slice(from, from + COMPACTED_TOGETHER);
      const newest = new Map(subjects.map((subject) => [subject, new NewestRows()]));
      const unread = await this.#readOnce(subjects, (subject, rows) => newest.get(subject)?.add(rows));
      // They are heavy still: the next round comes back to them.
      if (unread !== undefined) return;
      await each([...newest], ([subject, rows]) =>
        subject.replace([...rows].filter((place) => this.#isAtHome(subject, place))),
      );
    }
  }

  /** Whether the row counts: neither is its object gone, nor at home elsewhere. */
  #isAtHome(subject: StateSubject, { buffer, at }: Place): boolean {
    return this.#homes.get(rowKey(buffer, at)) === subject;
  }

  /** Reads all subjects, and learns where everybody is at home. */
  async #read(): Promise<ReadonlyMap<string, Lying>> {
    for (let tries = 1; ; tries++) {
      const merged = new MergedRows();
      const unread = await this.#readOnce([...this.#subjects.values()], (subject, rows) => merged.add(subject, rows));
      if (unread === undefined) {
        this.#homes = merged.homes();
        this.#strays = merged.strays();
        merged.weigh(this.#subjects.values());
        this.#isKnown = true;
        return merged.lying;
      }
      if (tries === 2 || tries % TRIES_TOLD === 0) this.#options.unread(unread);
      await new Promise<void>((resolve) => void this.#options.schedule(AGAIN_MS, resolve));
      this.#options.check();
    }
  }

  /**
   * Hands out what subjects hold, in the order in which it was written and as copies. Returns what could not be read;
   * undefined where that was all. Throws CheckpointsLost where another hub has claimed one.
   */
  async #readOnce(
    subjects: readonly StateSubject[],
    take: (subject: StateSubject, rows: Buffer) => void,
  ): Promise<string | undefined> {
    if (subjects.length === 0) return undefined;
    const { bus, stream, check, pattern } = this.#options;
    const byName = new Map(subjects.map((subject) => [subject.name, subject]));
    const ends = new Map<StateSubject, StateHead & Pick<StoredMessage, 'sequence'>>();
    const isSelected = subjects.length <= SELECTED_MAX;
    const reader = bus.read(stream, { subjects: isSelected ? [...byName.keys()] : [pattern], fromSequence: 1 });
    try {
      let isMore = true;
      while (isMore) {
        isMore = await reader.next(({ subject: name, sequence, bytes }) => {
          const subject = byName.get(name);
          if (subject === undefined) return;
          const { rows, ...head } = unpackState(copied(bytes));
          ends.set(subject, { ...head, sequence });
          take(subject, asBuffer(look(rows.bytes)));
        });
        check();
      }
    } catch (error) {
      if (error instanceof BusError) return error.message;
      throw error;
    } finally {
      reader.end();
    }
    const unread = subjects.find((subject) => {
      const end = ends.get(subject);
      return end === undefined || !subject.isWhole(end);
    });
    return unread && `"${unread.name}" ends with message ${ends.get(unread)?.sequence ?? 0}, not with ${unread.last}`;
  }

  /** Does work when all that was asked for before is done. */
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

export interface StateSectionOptions extends StateSubjectOptions {
  readonly turns: Turns;
  /** What all subjects match. */
  readonly pattern: string;
  /** The subject that rows of an object belong in by now. */
  subjectOf(kind: KeptRow['kind'], id: string): string;
  /** What cannot be read, again and again. */
  unread(what: string): void;
  /** Something has failed that cannot be tried again. */
  failed(error: Error): void;
}

/** Messages on their way at a time. */
const IN_FLIGHT = 32;
/** Rows that are planned in one turn of the event loop. */
const TURN_ROWS = 1000;
/** Subjects that are read together, and held in memory, to be compacted. */
const COMPACTED_TOGETHER = 16;
/** Of more subjects a server is asked for all that there are: choosing among so many costs it more. */
const SELECTED_MAX = COMPACTED_TOGETHER;
/** Until subjects are read again that could not be read to their ends. */
const AGAIN_MS = 100;
/** After how many tries it is said, each time, what cannot be read; the first time after two. */
const TRIES_TOLD = 20;

interface Plan {
  readonly rows: Map<StateSubject, Place[]>;
  /** Where each object will be at home; undefined for nowhere. */
  readonly homes: Map<string, StateSubject | undefined>;
  /** What is to be erased then, and where. */
  readonly left: Map<StateSubject, string[]>;
}

/** A row, and the subject that it is in. */
interface Lying extends Place {
  readonly subject: StateSubject;
}

/** What messages of several subjects say together. */
class MergedRows {
  readonly lying = new Map<string, Lying>();
  readonly #strays = new Map<StateSubject, Set<string>>();
  readonly #bytes = new Map<StateSubject, number>();

  /** Takes rows of a message that is later than all before. */
  add(subject: StateSubject, rows: Buffer): void {
    this.#bytes.set(subject, (this.#bytes.get(subject) ?? 0) + rows.length);
    const buffer = { bytes: rows, view: new DataView(rows.buffer, rows.byteOffset, rows.length) };
    for (let at = 0; at < rows.length; at += rowSize(buffer, at)) {
      const key = rowKey(buffer, at);
      const before = this.lying.get(key);
      const isHere = before?.subject === subject;
      if (isGoneRow(buffer, at)) {
        if (isHere) this.lying.delete(key);
        else this.#strays.get(subject)?.delete(key);
        continue;
      }
      this.#strays.get(subject)?.delete(key);
      if (before !== undefined && !isHere) this.#addStray(before.subject, key);
      this.lying.set(key, { subject, buffer, at });
    }
  }

  homes(): Map<string, StateSubject> {
    return new Map(Array.from(this.lying, ([key, { subject }]) => [key, subject]));
  }

  strays(): Map<StateSubject, string[]> {
    return new Map(Array.from(this.#strays, ([subject, keys]) => [subject, [...keys]]));
  }

  /** Tells subjects what they weigh. */
  weigh(subjects: Iterable<StateSubject>): void {
    const whole = new Map<StateSubject, number>();
    for (const { subject, buffer, at } of this.lying.values()) {
      whole.set(subject, (whole.get(subject) ?? 0) + rowSize(buffer, at));
    }
    for (const subject of subjects) {
      const bytes = whole.get(subject) ?? 0;
      subject.weighed(bytes, (this.#bytes.get(subject) ?? 0) - bytes);
    }
  }

  #addStray(subject: StateSubject, key: string): void {
    const strays = this.#strays.get(subject) ?? new Set();
    this.#strays.set(subject, strays.add(key));
  }
}

function goneRows(keys: readonly string[]): Place[] {
  const writer = new RowWriter(newRecordBuffer);
  for (const key of keys) writer.gone(...ofKey(key));
  return Array.from(writer.take().places(), (at) => ({ buffer: writer, at }));
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Does work for all of them, for some at a time. Rejects with the first error, and begins no other then. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const some = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, some));
}
