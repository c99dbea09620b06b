import type { StoredRow } from '../../src/core/item.ts';
import type { EntityWrite, StoredState, StoredPart, StoreBatch } from '../../src/core/entity_write.ts';
import { loadedFrom, type Store } from '../../src/store/store.ts';
import { packedRows } from '../../src/wire/store_messages.ts';

/** A batch with rows that remain. */
export interface PlainBatch {
  readonly entities: readonly EntityWrite[];
  readonly rows: readonly StoredRow[];
}

/** A store that stores batches in order, and waits or fails on command. */
export class FailingStore implements Store {
  /** Decides whether to reject a batch, of which nothing is stored then. */
  refuses: (batch: PlainBatch) => boolean = () => false;
  readonly kept: PlainBatch[] = [];
  attempts = 0;
  inFlight = 0;
  inFlightMost = 0;
  #gate: Promise<void> = Promise.resolve();

  /** Commits wait from now on, until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  async commit({ entities, rows }: StoreBatch): Promise<void> {
    const batch = { entities, rows: [...rows] };
    this.attempts++;
    this.inFlightMost = Math.max(this.inFlightMost, ++this.inFlight);
    await this.#gate;
    this.inFlight--;
    if (this.refuses(batch)) throw new Error('the disk is on strike');
    this.kept.push(batch);
  }

  load(): Promise<StoredState> {
    return loadedFrom(this);
  }

  async read(take: (part: StoredPart) => void): Promise<string> {
    take({ entities: this.entities, rows: packedRows(this.kept.flatMap(({ rows }) => rows)) });
    return 'none';
  }

  async close(): Promise<void> {}

  get entities(): StoredState['entities'] {
    return this.kept.flatMap(({ entities }) => entities);
  }
}

/** Timers fired by the test. */
export class ManualTimers {
  #waiting: { readonly delayMs: number; readonly callback: () => void }[] = [];
  readonly delays: number[] = [];

  readonly schedule = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { delayMs, callback };
    this.#waiting.push(timer);
    this.delays.push(delayMs);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== timer);
    };
  };

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Fires the next due timer. */
  fire(): void {
    this.#waiting.shift()?.callback();
  }
}
