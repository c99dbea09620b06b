import { zstdDecompressSync } from 'node:zlib';
import { type Borrowed, look } from '../model/borrowed.ts';
import { type PackedStep, readStoredRecord } from '../wire/journal_record.ts';

/**
 * In-memory log of the steps of a shard whose changes (core/effects.ts) may not be in emitted rows yet. Rows and steps
 * together are the state that the successor of a failed worker recovers.
 */
export interface StepLog {
  /**
   * Copies the batch that is about to run, or an empty one if it has no locations. Replaces a held batch that did not
   * become a step. hot
   */
  hold(batch: Borrowed): void;
  /** Appends the effects of the held batch, which has become a step. hot */
  append(effects: Borrowed): void;
  /** Appends the record of a step, which includes its batch, so no batch was held. hot */
  appendRecord(record: Borrowed): void;
  /** Marks the start of a round, in which the rows of all changed objects are emitted. */
  mark(): void;
  /** Drops the steps before the mark, whose changes are in emitted rows. */
  dropMarked(): void;
  /** Drops all steps, because all rows have been emitted. */
  clear(): void;
  /** Returns the steps in order. They are valid until the log changes. */
  steps(): PackedStep[];
}

const BUFFER_MIN_BYTES = 1 << 20;
/** Memory that an empty buffer may retain: at least `bytes`, otherwise `times` its former content. */
const BUFFER_RETAINED = { bytes: 1 << 23, times: 8 };

/**
 * A step log in the memory of the main thread. It outlives workers, but not the process.
 *
 * Workers rarely die, so batches and effects are stored as sent, or as the record of their step, and decoded only after
 * a failure. The buffers are reused, because allocating memory at this rate would trigger two full garbage collections
 * of the main thread per second.
 */
export class MemoryStepLog implements StepLog {
  /** Steps before the mark, and steps after it. */
  #older = new StepBuffer();
  #newer = new StepBuffer();

  hold(batch: Borrowed): void {
    this.#newer.hold(look(batch));
  }

  append(effects: Borrowed): void {
    this.#newer.commit(look(effects));
  }

  appendRecord(record: Borrowed): void {
    this.#newer.commitRecord(look(record));
  }

  mark(): void {
    // If an unfinished round has left steps here, the others wait for the next mark.
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

/** Contiguous steps in reusable memory. Each is its batch followed by its effects, or its record. */
class StepBuffer {
  #bytes = Buffer.alloc(0);
  /** For each step, the end offsets of its batch and its effects; for a record, its start and end. */
  #ends: number[] = [];
  #areRecords: boolean[] = [];
  #heldTo = 0;
  #most = 0;

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  hold(batch: Uint8Array): void {
    const start = this.#ends.at(-1) ?? 0;
    this.#heldTo = start;
    this.#put(batch);
  }

  commit(effects: Uint8Array): void {
    // A step without effects has changed nothing, so its locations are not needed.
    if (effects.length === 0) return;
    const batchEnd = this.#heldTo;
    this.#put(effects);
    this.#ends.push(batchEnd, this.#heldTo);
    this.#areRecords.push(false);
  }

  commitRecord(record: Uint8Array): void {
    const start = this.#ends.at(-1) ?? 0;
    this.#heldTo = start;
    this.#put(record);
    this.#ends.push(start, this.#heldTo);
    this.#areRecords.push(true);
  }

  steps(): PackedStep[] {
    const steps: PackedStep[] = [];
    let start = 0;
    for (const [i, isRecord] of this.#areRecords.entries()) {
      const [batchEnd, end] = this.#ends.slice(2 * i, 2 * i + 2) as [number, number];
      const effects = this.#bytes.subarray(batchEnd, end);
      steps.push(isRecord ? stepOf(effects) : { batch: this.#bytes.subarray(start, batchEnd), effects });
      start = end;
    }
    return steps;
  }

  clear(): void {
    this.#ends = [];
    this.#areRecords = [];
  }

  /** Frees the memory of an empty buffer if it is much larger than what was needed since the last call. */
  shrink(): void {
    const { bytes, times } = BUFFER_RETAINED;
    if (this.#bytes.length > Math.max(bytes, times * this.#most)) this.#bytes = Buffer.alloc(0);
    this.#most = 0;
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
    this.#most = Math.max(this.#most, end);
  }
}

/** Decodes the step of a record. */
function stepOf(record: Uint8Array): PackedStep {
  const read = readStoredRecord(record, zstdDecompressSync);
  if (read.kind !== 'step') throw new TypeError(`Cannot replay a record of kind "${read.kind}"`);
  const { batch, effects } = read.step;
  // The step is from this hub, so its times need no conversion.
  return { batch, effects };
}
