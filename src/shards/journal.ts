import { zstdDecompressSync } from 'node:zlib';
import { type Borrowed, look } from '../model/borrowed.ts';
import { type PackedStep, unpackJournalRecord } from '../wire/journal_record.ts';

/**
 * The steps of a shard whose changes (core/effects.ts) may not be in the rows that it has handed out yet. Together with
 * these rows they are what is lost when a worker dies, and what its successor is told.
 */
export interface Journal {
  /**
   * Copies a batch that is about to run, or an empty one if it has no locations. A batch that was held before and did not
   * become a step is dropped. hot
   */
  hold(batch: Borrowed): void;
  /** The batch that is held has become a step, with these effects. hot */
  append(effects: Borrowed): void;
  /** The same of a step of which there is a record: nothing was held for it, the record has it all. hot */
  appendRecord(record: Borrowed): void;
  /** From here on, the rows of all objects that have changed so far are handed out. */
  mark(): void;
  /** All rows since the mark are handed out: the steps before it are dropped. */
  dropMarked(): void;
  /** All rows are handed out: all steps are dropped. */
  clear(): void;
  /** The steps in order. They are valid until the journal changes. */
  steps(): PackedStep[];
}

const BUFFER_MIN_BYTES = 1 << 20;
/** How much memory an empty buffer may keep at least, and how many times as much as was in it. */
const BUFFER_KEPT = { bytes: 1 << 23, times: 8 };

/**
 * A journal in the memory of this process, which outlives its workers, but not the process itself.
 *
 * Workers rarely die, so batches and effects are kept as the bytes in which they were sent, or in the record of their step,
 * and are decoded only when one has. They lie in buffers that are reused: allocating memory at this rate would trigger a full garbage collection of the
 * front thread twice a second.
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

  appendRecord(record: Borrowed): void {
    this.#newer.keepRecord(look(record));
  }

  mark(): void {
    // An unfinished round has left steps behind: all others wait for the next mark.
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

/** Steps one after another, in memory that is kept: each its batch, then its effects, or its record. */
class StepBuffer {
  #bytes = Buffer.alloc(0);
  /** Where the batch and the effects of each step end; of a record, where it begins and ends. */
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

  keep(effects: Uint8Array): void {
    // A step without effects has changed nothing, so its locations are not needed either.
    if (effects.length === 0) return;
    const batchEnd = this.#heldTo;
    this.#put(effects);
    this.#ends.push(batchEnd, this.#heldTo);
    this.#areRecords.push(false);
  }

  keepRecord(record: Uint8Array): void {
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

  /** Frees the memory of an empty buffer if there is much more of it than was needed since it was called last. */
  shrink(): void {
    const { bytes, times } = BUFFER_KEPT;
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

/** The step of a record, as it crosses. */
function stepOf(record: Uint8Array): PackedStep {
  const read = unpackJournalRecord(zstdDecompressSync(record));
  if (read.kind !== 'step') throw new TypeError(`Cannot replay a record of kind "${read.kind}"`);
  const { batch, effects } = read.step;
  // Its running times are those of this hub, whatever its clock has been through since.
  return { batch, effects };
}
