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
  readonly #shards: Shards;
  readonly #options: FlusherOptions;
  #lastMs = 0;
  #changed = false;

  constructor(shards: Shards, options: FlusherOptions) {
    this.#shards = shards;
    this.#options = options;
  }

  /** Something was processed since the last flush. */
  changed(): void {
    this.#changed = true;
  }

  /** One flush, unless nothing has changed or the store has not caught up. */
  flush(): void {
    if (!this.#changed) return;
    const nowMs = this.#options.now();
    if (this.#options.pendingRows() > 0 && nowMs - this.#lastMs < OVERDUE_MS) return;
    this.#changed = false;
    this.#lastMs = nowMs;
    for (const lane of this.#shards.lanes) lane.flush();
  }
}
