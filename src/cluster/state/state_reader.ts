import { isTombstone, rowKey, rowSize } from '../../core/row_bytes.ts';
import { copied, look } from '../../model/borrowed.ts';
import type { RowLocation } from '../../store/newest_rows.ts';
import { asBuffer } from '../../wire/location_record.ts';
import { pause } from '../context.ts';
import { BusError, type StoredMessage } from '../nats/bus.ts';
import { type StateHead, unpackState } from './state_message.ts';
import type { ReadSubject, StateSubject, StateSubjectOptions } from './state_subject.ts';

/** How subjects of the state are read: their messages in order, whichever hubs have written them. */
export interface StateReadOptions extends Pick<StateSubjectOptions, 'bus' | 'stream' | 'schedule' | 'check'> {
  /** Pattern that all subjects match. */
  readonly pattern: string;
  /** Reports repeated failures to read. */
  unread(what: string): void;
}

/**
 * Beyond this number of subjects all are requested, since the server takes longer to filter by more. It is the share of 1,024
 * partitions that moves at a time.
 */
const SELECTED_MAX = 32;
/** Pause before subjects that could not be read to their ends are read again. */
const AGAIN_MS = 100;
/** A failure to read is reported after two attempts, and then after each of these many. */
const TRIES_LOGGED = 20;

/** Reads subjects to their ends, retrying until it succeeds. `isOutdated`: rows that do not count. */
export async function readToEnds<Subject extends ReadSubject>(
  options: StateReadOptions,
  subjects: readonly Subject[],
  isOutdated?: (subject: Subject, key: string) => boolean,
): Promise<MergedRows<Subject>> {
  for (let tries = 1; ; tries++) {
    const merged = new MergedRows<Subject>(isOutdated);
    const unread = await readOnce(options, subjects, (subject, rows) => merged.add(subject, rows));
    if (unread === undefined) return merged;
    if (tries === 2 || tries % TRIES_LOGGED === 0) options.unread(unread);
    await pause(options, AGAIN_MS);
    options.check();
  }
}

/**
 * Passes the contents of subjects to `take`, in the order in which they were written and as copies. Returns what could not be
 * read; undefined if all was read. Throws CheckpointsLost if another hub has claimed one.
 */
export async function readOnce<Subject extends ReadSubject>(
  { bus, stream, pattern, check }: StateReadOptions,
  subjects: readonly Subject[],
  take: (subject: Subject, rows: Buffer) => void,
): Promise<string | undefined> {
  if (subjects.length === 0) return undefined;
  const byName = new Map(subjects.map((subject) => [subject.name, subject]));
  const ends = new Map<Subject, StateHead & Pick<StoredMessage, 'sequence'>>();
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
    return end === undefined ? subject.last > 0 : !subject.isWhole(end);
  });
  return unread && `"${unread.name}" ends with message ${ends.get(unread)?.sequence ?? 0}, not with ${unread.last}`;
}

/** A row, and its subject. */
export interface Lying<Subject> extends RowLocation {
  readonly subject: Subject;
}

/** Merged contents of several subjects. */
export class MergedRows<Subject> {
  readonly lying = new Map<string, Lying<Subject>>();
  readonly #strays = new Map<Subject, Set<string>>();
  readonly #bytes = new Map<Subject, number>();
  readonly #isOutdated: ((subject: Subject, key: string) => boolean) | undefined;

  constructor(isOutdated?: (subject: Subject, key: string) => boolean) {
    this.#isOutdated = isOutdated;
  }

  /** Adds the rows of a message that is later than all before. */
  add(subject: Subject, rows: Buffer): void {
    this.#bytes.set(subject, (this.#bytes.get(subject) ?? 0) + rows.length);
    const buffer = { bytes: rows, view: new DataView(rows.buffer, rows.byteOffset, rows.length) };
    for (let at = 0; at < rows.length; at += rowSize(buffer, at)) {
      const key = rowKey(buffer, at);
      if (this.#isOutdated?.(subject, key) === true) continue;
      const before = this.lying.get(key);
      const isHere = before?.subject === subject;
      if (isTombstone(buffer, at)) {
        if (isHere) this.lying.delete(key);
        else this.#strays.get(subject)?.delete(key);
        continue;
      }
      this.#strays.get(subject)?.delete(key);
      if (before !== undefined && !isHere) addTo(this.#strays, before.subject, key);
      this.lying.set(key, { subject, buffer, at });
    }
  }

  homes(): Map<string, Subject> {
    return new Map(Array.from(this.lying, ([key, { subject }]) => [key, subject]));
  }

  strays(): Map<Subject, Set<string>> {
    return new Map(Array.from(this.#strays, ([subject, keys]) => [subject, new Set(keys)]));
  }

  /** Sets the sizes of subjects. */
  weigh(subjects: Iterable<Subject & StateSubject>): void {
    const whole = new Map<Subject, number>();
    for (const { subject, buffer, at } of this.lying.values()) {
      whole.set(subject, (whole.get(subject) ?? 0) + rowSize(buffer, at));
    }
    for (const subject of subjects) {
      const bytes = whole.get(subject) ?? 0;
      subject.weighed(bytes, (this.#bytes.get(subject) ?? 0) - bytes);
    }
  }
}

export function addTo<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}
