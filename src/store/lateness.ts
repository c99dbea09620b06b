import type { RowQueue } from './row_queue.ts';

export interface LatenessOptions {
  /** Infinity: never late. */
  readonly lateMs: number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Rows have waited for too long. */
  late(): void;
}

/**
 * Tells when rows wait for too long: for a database that does not answer, or for one that takes less than there is. It
 * is over when all rows that waited then are written.
 */
export class Lateness {
  readonly #rows: RowQueue;
  readonly #options: LatenessOptions;
  #lateUntil = 0;
  #cancel: (() => void) | undefined;

  constructor(rows: RowQueue, options: LatenessOptions) {
    this.#rows = rows;
    this.#options = options;
  }

  get isLate(): boolean {
    return this.#rows.placesCommitted < this.#lateUntil;
  }

  /** Looks after the rows that wait now. */
  watch(): void {
    const { lateMs, schedule, late } = this.#options;
    if (lateMs === Infinity || this.#cancel !== undefined) return;
    const until = this.#end;
    this.#cancel = schedule(lateMs, () => {
      this.#cancel = undefined;
      if (this.#rows.placesCommitted < until) {
        this.#lateUntil = this.#end;
        late();
      } else if (this.#rows.isUrgent) this.watch();
    });
  }

  /** Nothing is late any more, nor will be. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = () => undefined;
    this.#lateUntil = 0;
  }

  /** Places that are committed when all rows that wait now are. */
  get #end(): number {
    return this.#rows.placesCommitted + this.#rows.size;
  }
}
