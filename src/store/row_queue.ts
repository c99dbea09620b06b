import type { WriteEvents } from '../core/entity_write.ts';
import { PackedRows, RowWriter, rowKey, rowSize } from '../core/row_bytes.ts';
import { newSharedBuffer } from '../wire/shared_memory.ts';
import type { EventArea } from './event_area.ts';
import { WaitingEvents } from './waiting_events.ts';

/** Maximum number of rows in one commit, which delays other callers of the store by some milliseconds. */
const COMMIT_ROWS_MAX = 10_000;
/** Size of waiting rows, in bytes, at which superseded rows are removed. */
const BYTES_BEFORE_LOOK = 4 << 20;
/** Memory retained when the queue is empty, in bytes. */
const BYTES_KEPT = 1 << 20;

interface Waiter {
  /** Queue position up to which rows must be committed. */
  readonly until: number;
  readonly orFail: boolean;
  resolve(): void;
  reject(error: Error): void;
}

export interface RowQueueOptions {
  /** Approximate maximum bytes of one commit. The first row may exceed it. */
  readonly bytesMax?: number;
  /** Size of waiting rows, in bytes, at which superseded rows are removed. */
  readonly bytesBeforeLook?: number;
}

/**
 * Queue of rows waiting for the store, as bytes in arrival order. Rows in flight stay at the front until they are
 * committed. New rows are appended in memory shared with the store's thread.
 *
 * If an object has several rows, the newest one counts. When many rows wait for a slow store, only the newest row of
 * each object is retained, at the position of its oldest one, so the number of objects bounds the queue.
 *
 * Rows that arrive together have consecutive positions and are only taken from the front. So the number of committed
 * positions determines which rows are committed.
 *
 * Events wait with the rows that caused them. A commit with events takes all rows in flight, so that it never separates
 * them.
 */
export class RowQueue {
  #waiting = new RowArea();
  #flight = new RowArea();
  readonly #events = new WaitingEvents();
  #isSending = false;
  readonly #bytesMax: number;
  readonly #bytesBeforeLook: number;
  /** Size of waiting rows that triggers the next compaction. */
  #lookAt: number;
  #placesPut = 0;
  #placesCommitted = 0;
  #waiters: Waiter[] = [];

  constructor({ bytesMax = Infinity, bytesBeforeLook = BYTES_BEFORE_LOOK }: RowQueueOptions = {}) {
    this.#bytesMax = bytesMax;
    this.#bytesBeforeLook = bytesBeforeLook;
    this.#lookAt = bytesBeforeLook;
  }

  /** Number of rows not committed yet. */
  get size(): number {
    return this.#flight.count + this.#waiting.count;
  }

  /** Whether rows or events are not committed yet. */
  get isWaiting(): boolean {
    return this.#placesCommitted < this.#placesPut;
  }

  /** Yields all uncommitted rows. Older rows of an object come before newer ones. */
  *rows(): Generator<PackedRows> {
    yield this.#flight.all();
    yield this.#waiting.all();
  }

  /** Number of positions assigned so far. */
  get placesPut(): number {
    return this.#placesPut;
  }

  /** Number of positions committed. */
  get placesCommitted(): number {
    return this.#placesCommitted;
  }

  /** Whether a caller with `orFail` is waiting. */
  get isUrgent(): boolean {
    return this.#waiters.some(({ orFail }) => orFail);
  }

  /** Events of the rows returned by `take`. The writer may append others for the same commit, and removes them again. */
  get takenEvents(): EventArea {
    return this.#events.inFlight;
  }

  /** Whether events that waited before `takenEvents` were dropped. */
  get hasLostEvents(): boolean {
    return this.#events.hasLost;
  }

  /** Copies the rows. `events`: the events that they cause, or events without rows. hot */
  put(rows: PackedRows, events?: WriteEvents): void {
    if (events !== undefined) this.#events.put(events);
    else if (rows.count === 0) return;
    // Events without rows have a position, too.
    this.#placesPut += Math.max(1, rows.count);
    this.#waiting.add(rows, this.#placesPut);
    if (this.#waiting.size > this.#lookAt) this.#dropReplaced();
  }

  /**
   * Resolves when all rows currently in the queue are committed. With `orFail`, rejects if a commit of rows fails
   * first.
   */
  committed({ orFail }: { orFail: boolean }): Promise<void> {
    if (!this.isWaiting) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ until: this.#placesPut, orFail, resolve, reject });
    });
  }

  /** Returns the rows of the next commit, valid until `stored` or `failed` is called. */
  take(): PackedRows {
    if (this.#flight.count === 0) {
      [this.#flight, this.#waiting] = [this.#waiting, this.#flight];
      this.#waiting.clear();
      this.#lookAt = this.#bytesBeforeLook;
      // If commits are limited in bytes, only the newest row of each object is sent.
      if (this.#bytesMax !== Infinity) this.#flight = new RowArea([this.#flight]);
      this.#events.begin();
    }
    this.#isSending = true;
    if (this.#events.inFlight.count > 0) return this.#flight.first(Infinity, Infinity);
    return this.#flight.first(COMMIT_ROWS_MAX, this.#bytesMax);
  }

  stored(): void {
    this.#isSending = false;
    this.#events.committed();
    this.#placesCommitted = this.#flight.drop(this.#placesCommitted);
    const isDone = ({ until }: Waiter) => until <= this.#placesCommitted;
    const done = this.#waiters.filter(isDone);
    if (done.length > 0) this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter));
    for (const { resolve } of done) resolve();
  }

  /** Puts the rows in flight back into the queue, where newer rows may supersede them. */
  failed(error: Error): void {
    if (this.#isSending) {
      this.#isSending = false;
      this.#waiting = new RowArea([this.#flight, this.#waiting]);
      this.#flight = new RowArea();
      this.#events.failed();
    }
    this.refuse(error);
  }

  /** Rejects the promises of callers with `orFail`. The rows stay in the queue. */
  refuse(error: Error): void {
    const refused = this.#waiters.filter(({ orFail }) => orFail);
    this.#waiters = this.#waiters.filter(({ orFail }) => !orFail);
    for (const { reject } of refused) reject(error);
  }

  #dropReplaced(): void {
    this.#waiting = new RowArea([this.#waiting]);
    this.#lookAt = this.#bytesBeforeLook + 2 * this.#waiting.size;
  }
}

/** Rows that arrived together. */
interface Arrival {
  /** Number of positions up to and including those of the rows. */
  readonly end: number;
  readonly count: number;
  /** Number of positions up to and including those of the rows. */
  readonly places: number;
}

/** Contiguous rows in memory shared with other threads. */
class RowArea {
  #rows = new RowWriter(newSharedBuffer, 0);
  #arrivals: Arrival[] = [];
  /** Offsets of the start of the uncommitted rows, and of the end of the rows in flight. */
  #from = 0;
  #taken = 0;
  #takenCount = 0;
  #count = 0;

  /** Compacts other areas: retains the newest row of each object, at the position of its oldest one. */
  constructor(older: readonly RowArea[] = []) {
    const newest = new Map<string, { readonly of: RowArea; readonly at: number }>();
    for (const of of older) for (const at of of.all().offsets()) newest.set(rowKey(of.#rows, at), { of, at });
    for (const of of older) {
      let at = of.#from;
      for (const { end, places } of of.#arrivals) {
        let count = 0;
        for (; at < end; at += rowSize(of.#rows, at)) {
          const key = rowKey(of.#rows, at);
          const row = newest.get(key);
          if (row === undefined) continue;
          newest.delete(key);
          this.#rows.copy(row.of.#rows, row.at);
          count++;
        }
        this.#count += count;
        this.#arrivals.push({ end: this.#rows.size, count, places });
      }
    }
  }

  /** Number of uncommitted rows. */
  get count(): number {
    return this.#count;
  }

  get size(): number {
    return this.#rows.size - this.#from;
  }

  all(): PackedRows {
    return new PackedRows(this.#rows, { start: this.#from, size: this.size, count: this.#count });
  }

  // hot
  add(rows: PackedRows, places: number): void {
    this.#rows.add(rows);
    this.#count += rows.count;
    this.#arrivals.push({ end: this.#rows.size, count: rows.count, places });
  }

  /** Returns the first rows within both limits. */
  first(countMax: number, bytesMax: number): PackedRows {
    let end = this.#from;
    let count = 0;
    if (this.#count <= countMax && bytesMax === Infinity) {
      end = this.#rows.size;
      count = this.#count;
    } else {
      while (count < Math.min(countMax, this.#count)) {
        const next = end + rowSize(this.#rows, end);
        if (next - this.#from > bytesMax && count > 0) break;
        end = next;
        count++;
      }
    }
    this.#taken = end;
    this.#takenCount = count;
    return new PackedRows(this.#rows, { start: this.#from, size: end - this.#from, count });
  }

  /** Drops the taken rows. Returns the new number of committed positions, given the previous one as `places`. */
  drop(places: number): number {
    this.#from = this.#taken;
    this.#count -= this.#takenCount;
    const done = this.#arrivals.findLastIndex(({ end }) => end <= this.#from);
    return done < 0 ? places : (this.#arrivals.splice(0, done + 1).at(-1) as Arrival).places;
  }

  clear(): void {
    this.#rows.take();
    this.#rows.tidy(BYTES_KEPT);
    this.#arrivals = [];
    this.#from = 0;
    this.#taken = 0;
    this.#count = 0;
  }
}
