import { type Borrowed, look } from '../model/borrowed.ts';
import type { PackedStep } from '../wire/lane_record.ts';

/**
 * The steps of a shard, with what they have changed (core/effects.ts), that may not be in the rows that it has handed out:
 * with these rows, they are what a worker takes along when it dies, and what the next one is told.
 */
export interface Journal {
  /**
   * Copies a batch that is about to run; an empty one where no location is in it. One that was held before and has not
   * become a step is forgotten. hot
   */
  hold(batch: Borrowed): void;
  /** The batch that is held is done, with these effects. hot */
  append(effects: Borrowed): void;
  /** From here on, rows of all objects are handed out that have changed so far. */
  mark(): void;
  /** Those rows are all handed out. */
  dropMarked(): void;
  /** All rows are handed out. */
  clear(): void;
  /** The steps in their order. They are good until the journal changes. */
  steps(): PackedStep[];
}

const BUFFER_MIN_BYTES = 1 << 20;
/** Memory that is kept when there is nothing to remember any more: under load there always is. */
const BUFFER_KEPT_BYTES = 1 << 23;

/**
 * A journal in this process, whose workers may die and which may not itself.
 *
 * Workers rarely die. So batches and effects are kept as the bytes that they were sent as, and are looked into only then.
 * They lie in buffers that are used again: memory that comes and goes at this rate would have all of the front thread's
 * heap searched for garbage, twice a second.
 */
export class MemoryJournal implements Journal {
  /** Steps from before the mark, and those since. */
  #older = new StepBuffer();
  #newer = new StepBuffer();

  hold(batch: Borrowed): void {
    this.#newer.hold(look(batch));
  }

  append(effects: Borrowed): void {
    this.#newer.keep(look(effects));
  }

  mark(): void {
    // What an unfinished round has left waits for the next one.
    if (!this.#older.isEmpty) return;
    [this.#older, this.#newer] = [this.#newer, this.#older];
  }

  dropMarked(): void {
    this.#older.clear();
  }

  clear(): void {
    for (const buffer of [this.#older, this.#newer]) {
      buffer.clear();
      buffer.shrink();
    }
  }

  steps(): PackedStep[] {
    return [...this.#older.steps(), ...this.#newer.steps()];
  }
}

/** Steps one after the other, in memory that is kept: of each its batch, then its effects. */
class StepBuffer {
  #bytes = Buffer.alloc(0);
  /** Where the batch and the effects of each step end. */
  #ends: number[] = [];
  #heldTo = 0;

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  hold(batch: Uint8Array): void {
    const start = this.#ends.at(-1) ?? 0;
    this.#heldTo = start;
    this.#put(batch);
  }

  keep(effects: Uint8Array): void {
    // Without effects its locations have had none either.
    if (effects.length === 0) return;
    const batchEnd = this.#heldTo;
    this.#put(effects);
    this.#ends.push(batchEnd, this.#heldTo);
  }

  steps(): PackedStep[] {
    const steps: PackedStep[] = [];
    let start = 0;
    for (let i = 0; i < this.#ends.length; i += 2) {
      const [batchEnd, end] = this.#ends.slice(i, i + 2) as [number, number];
      steps.push({ batch: this.#bytes.subarray(start, batchEnd), effects: this.#bytes.subarray(batchEnd, end) });
      start = end;
    }
    return steps;
  }

  clear(): void {
    this.#ends = [];
  }

  /** Lets go of an empty room that is large. */
  shrink(): void {
    if (this.#bytes.length > BUFFER_KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }

  #put(bytes: Uint8Array): void {
    const start = this.#heldTo;
    const end = start + bytes.length;
    if (end > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * end, BUFFER_MIN_BYTES));
      this.#bytes.copy(grown, 0, 0, start);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, start);
    this.#heldTo = end;
  }
}
