import type { KeptRow } from '../core/item.ts';
import { textLength } from './rows.ts';

/** Rows of one commit: what packing them holds up the front thread is about 10 ms. */
const COMMIT_ROWS_MAX = 10_000;

interface Waiter {
  /** How many places of the queue must be committed. */
  readonly until: number;
  readonly orFail: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Rows on their way to the store, the latest of each object, in the order of their first arrival. Those in flight stay
 * in front until they are committed. An object has at most one place in flight and one behind, so the queue is bounded by
 * the number of objects.
 *
 * Places are only taken from the front. So a count of them is enough to know when somebody's rows are committed.
 */
export class RowQueue {
  #waiting = new Map<string, KeptRow>();
  #flight = new Map<string, KeptRow>();
  #isSending = false;
  readonly #bytesMax: number;
  #placesCommitted = 0;
  #waiters: Waiter[] = [];

  /** `bytesMax`: what the rows of one commit may hold, about; the first may be larger. */
  constructor({ bytesMax = Infinity } = {}) {
    this.#bytesMax = bytesMax;
  }

  /** Rows that are not committed. */
  get size(): number {
    return this.#flight.size + this.#waiting.size;
  }

  /** The latest row of each object that has some here. */
  rows(): KeptRow[] {
    return [...new Map([...this.#flight, ...this.#waiting]).values()];
  }

  /** How many places were committed so far. */
  get placesCommitted(): number {
    return this.#placesCommitted;
  }

  /** Whether somebody waits who would rather be refused than wait for long. */
  get isUrgent(): boolean {
    return this.#waiters.some(({ orFail }) => orFail);
  }

  put(rows: readonly KeptRow[]): void {
    for (const row of rows) {
      const key = `${row.kind} ${row.id}`;
      // Rows of a commit that has failed are still open to change.
      if (!this.#isSending && this.#flight.has(key)) this.#flight.set(key, row);
      else this.#waiting.set(key, row);
    }
  }

  /** Resolves when all that is in the queue now is committed; with `orFail` rejects when a commit of rows fails first. */
  committed({ orFail }: { orFail: boolean }): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ until: this.#placesCommitted + this.size, orFail, resolve, reject });
    });
  }

  /** The rows for the next commit, which ends with `kept` or `failed`; the same again after a failure. */
  take(): KeptRow[] {
    if (this.#flight.size === 0) this.#fillFlight();
    this.#isSending = true;
    return [...this.#flight.values()];
  }

  kept(): void {
    this.#isSending = false;
    this.#placesCommitted += this.#flight.size;
    this.#flight = new Map();
    const isDone = ({ until }: Waiter) => until <= this.#placesCommitted;
    const done = this.#waiters.filter(isDone);
    if (done.length > 0) this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter));
    for (const { resolve } of done) resolve();
  }

  failed(error: Error): void {
    this.#isSending = false;
    this.refuse(error);
  }

  /** Ends the waiting of those who would rather be refused. The rows stay. */
  refuse(error: Error): void {
    const refused = this.#waiters.filter(({ orFail }) => orFail);
    this.#waiters = this.#waiters.filter(({ orFail }) => !orFail);
    for (const { reject } of refused) reject(error);
  }

  #fillFlight(): void {
    if (this.#waiting.size <= COMMIT_ROWS_MAX && this.#bytesMax === Infinity) {
      this.#flight = this.#waiting;
      this.#waiting = new Map();
      return;
    }
    let bytes = 0;
    for (const [key, row] of this.#waiting) {
      if (this.#flight.size === COMMIT_ROWS_MAX) return;
      bytes += textLength(row);
      if (bytes > this.#bytesMax && this.#flight.size > 0) return;
      this.#flight.set(key, row);
      this.#waiting.delete(key);
    }
  }
}
