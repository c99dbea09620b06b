import type { Shards } from './shards.ts';

/** Last-known rows are never older than this, however busy the store is. */
const OVERDUE_MS = 2000;
/** Rows a second that flushes may bring at most, unless they are overdue: what keeps the store a small part of the load. */
const ROWS_PER_MS = 20;

export interface FlusherOptions {
  now(): number;
  /** Rows that the store has not yet written. */
  pendingRows(): number;
}

/**
 * Asks the shards for changed rows from time to time. The more rows the last time has brought, the later is the next: an
 * object that moves ten times a second need not be written ten times a second. While the store is still busy it is left
 * alone.
 */
export class Flusher {
  readonly #shards: Pick<Shards, 'lanes'>;
  readonly #options: FlusherOptions;
  #lastMs = 0;
  #rowsSince = 0;

  constructor(shards: Pick<Shards, 'lanes'>, options: FlusherOptions) {
    this.#shards = shards;
    this.#options = options;
  }

  /** Shards have handed out rows. */
  brought(rows: number): void {
    this.#rowsSince += rows;
  }

  /** One flush, unless it is too early. A shard without changes does nothing. */
  flush(): void {
    const nowMs = this.#options.now();
    const elapsedMs = nowMs - this.#lastMs;
    const isBusy = this.#options.pendingRows() > 0 || elapsedMs * ROWS_PER_MS < this.#rowsSince;
    if (isBusy && elapsedMs < OVERDUE_MS) return;
    this.#lastMs = nowMs;
    this.#rowsSince = 0;
    for (const lane of this.#shards.lanes) lane.flush();
  }
}
