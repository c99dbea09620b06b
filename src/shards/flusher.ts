import type { Shards } from './shards.ts';

/** Last-known rows are never older than this, however busy the store is. */
const OVERDUE_MS = 2000;

export interface FlusherOptions {
  now(): number;
  /** Rows that the store has not yet written. */
  pendingRows(): number;
}

/** Asks the shards for changed rows from time to time, and leaves it out while the store is still busy with the last. */
export class Flusher {
  readonly #shards: Pick<Shards, 'lanes'>;
  readonly #options: FlusherOptions;
  #lastMs = 0;

  constructor(shards: Pick<Shards, 'lanes'>, options: FlusherOptions) {
    this.#shards = shards;
    this.#options = options;
  }

  /** One flush, unless the store has not caught up with the last. A shard without changes does nothing. */
  flush(): void {
    const nowMs = this.#options.now();
    if (this.#options.pendingRows() > 0 && nowMs - this.#lastMs < OVERDUE_MS) return;
    this.#lastMs = nowMs;
    for (const lane of this.#shards.lanes) lane.flush();
  }
}
