import { PackedRows, RowWriter, rowKey, rowSize } from '../core/row_bytes.ts';
import { newSharedBuffer } from '../wire/shared_memory.ts';

/** Rows of one commit at most: what they hold up others that wait for the store is some milliseconds. */
const COMMIT_ROWS_MAX = 10_000;
/** Waiting rows beyond which those are looked for that have been replaced. */
const BYTES_BEFORE_LOOK = 4 << 20;
/** Memory that is kept when nothing waits. */
const BYTES_KEPT = 1 << 20;

interface Waiter {
  /** How many places of the queue must be committed. */
  readonly until: number;
  readonly orFail: boolean;
  resolve(): void;
  reject(error: Error): void;
}

export interface RowQueueOptions {
  /** What the rows of one commit may take, about; the first may be larger. */
  readonly bytesMax?: number;
  /** How much must wait before rows that have been replaced are looked for. */
  readonly bytesBeforeLook?: number;
}

/**
 * Rows on their way to the store, as bytes, in the order of their arrival. Those in flight stay in front until they are
 * committed, and the others gather behind them in memory that the store's thread can read.
 *
 * Of an object there may be several, of which the last one counts. Where many wait, because the store takes its time,
 * only that is kept, in the place of the first: so the queue is bounded by the number of objects.
 *
 * Rows come together, and have their places together; places are only taken from the front. So a count of them is
 * enough to know when somebody's rows are committed.
 */
export class RowQueue {
  #waiting = new RowArea();
  #flight = new RowArea();
  #isSending = false;
  readonly #bytesMax: number;
  readonly #bytesBeforeLook: number;
  /** Bytes of waiting rows at which to look again. */
  #lookAt: number;
  #placesPut = 0;
  #placesCommitted = 0;
  #waiters: Waiter[] = [];

  constructor({ bytesMax = Infinity, bytesBeforeLook = BYTES_BEFORE_LOOK }: RowQueueOptions = {}) {
    this.#bytesMax = bytesMax;
    this.#bytesBeforeLook = bytesBeforeLook;
    this.#lookAt = bytesBeforeLook;
  }

  /** Rows that are not committed. */
  get size(): number {
    return this.#flight.count + this.#waiting.count;
  }

  /** The rows that wait, an older one of an object before a newer one. */
  *rows(): Generator<PackedRows> {
    yield this.#flight.all();
    yield this.#waiting.all();
  }

  /** How many places there were so far. */
  get placesPut(): number {
    return this.#placesPut;
  }

  /** How many of them were committed. */
  get placesCommitted(): number {
    return this.#placesCommitted;
  }

  /** Whether somebody waits who would rather be refused than wait for long. */
  get isUrgent(): boolean {
    return this.#waiters.some(({ orFail }) => orFail);
  }

  /** Copies the rows. hot */
  put(rows: PackedRows): void {
    if (rows.count === 0) return;
    this.#placesPut += rows.count;
    this.#waiting.add(rows, this.#placesPut);
    if (this.#waiting.size > this.#lookAt) this.#dropReplaced();
  }

  /** Resolves when all that is in the queue now is committed; with `orFail` rejects when a commit of rows fails first. */
  committed({ orFail }: { orFail: boolean }): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ until: this.#placesPut, orFail, resolve, reject });
    });
  }

  /** The rows for the next commit, which ends with `kept` or `failed`. They are good until then. */
  take(): PackedRows {
    if (this.#flight.count === 0) {
      [this.#flight, this.#waiting] = [this.#waiting, this.#flight];
      this.#waiting.clear();
      this.#lookAt = this.#bytesBeforeLook;
      // A store with a limit is to get the last row of each object alone.
      if (this.#bytesMax !== Infinity) this.#flight = new RowArea([this.#flight]);
    }
    this.#isSending = true;
    return this.#flight.first(COMMIT_ROWS_MAX, this.#bytesMax);
  }

  kept(): void {
    this.#isSending = false;
    this.#placesCommitted = this.#flight.drop(this.#placesCommitted);
    const isDone = ({ until }: Waiter) => until <= this.#placesCommitted;
    const done = this.#waiters.filter(isDone);
    if (done.length > 0) this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter));
    for (const { resolve } of done) resolve();
  }

  /** The rows wait again, and are open to change. */
  failed(error: Error): void {
    if (this.#isSending) {
      this.#isSending = false;
      this.#waiting = new RowArea([this.#flight, this.#waiting]);
      this.#flight = new RowArea();
    }
    this.refuse(error);
  }

  /** Ends the waiting of those who would rather be refused. The rows stay. */
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

/** Rows that have come together. */
interface Arrival {
  /** Where their bytes end, and how many of them are still there. */
  readonly end: number;
  readonly count: number;
  /** How many places there are up to theirs. */
  readonly places: number;
}

/** Rows one behind the other in memory that other threads can read. */
class RowArea {
  #rows = new RowWriter(newSharedBuffer, 0);
  #arrivals: Arrival[] = [];
  /** Where what is not committed begins, and where what is being committed ends. */
  #from = 0;
  #taken = 0;
  #takenCount = 0;
  #count = 0;

  /** The rows of others, the last of each object in the place of its first. */
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

  /** Rows that are not committed. */
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

  /** The first ones, as many as there may be. */
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

  /** Drops what was taken. Returns how many places are committed then; `places`: how many were before. */
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
