import { type Borrowed, look } from '../model/borrowed.ts';

/**
 * The effects of a shard's steps (core/effects.ts) that may not be in the rows that it has handed out: with these rows,
 * they are what a worker takes along when it dies, and what the next one is told.
 */
export interface Journal {
  /** Takes note of the effects of a step that is done, after all before. hot */
  append(effects: Borrowed): void;
  /** From here on, rows of all objects are handed out that have changed so far. */
  mark(): void;
  /** Those rows are all handed out. */
  dropMarked(): void;
  /** All rows are handed out. */
  clear(): void;
  /** The effects of each step, in the order of the steps. They are good until the journal changes. */
  effects(): Buffer[];
}

const BUFFER_MIN_BYTES = 1 << 20;
/** Memory that is kept when there is nothing to remember any more: under load there always is. */
const BUFFER_KEPT_BYTES = 1 << 23;

/**
 * A journal in this process, whose workers may die and which may not itself.
 *
 * Workers rarely die. So effects are bytes that are looked into only then. They lie in buffers that are used again: memory
 * that comes and goes at this rate would have all of the front thread's heap searched for garbage, twice a second.
 */
export class MemoryJournal implements Journal {
  /** Effects from before the mark, and those since. */
  #older = new EffectBuffer();
  #newer = new EffectBuffer();

  append(effects: Borrowed): void {
    this.#newer.append(look(effects));
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

  effects(): Buffer[] {
    return [...this.#older.effects(), ...this.#newer.effects()];
  }
}

/** Effects of steps one after the other, in memory that is kept. */
class EffectBuffer {
  #bytes = Buffer.alloc(0);
  #ends: number[] = [];

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  append(effects: Uint8Array): void {
    if (effects.length === 0) return;
    const start = this.#ends.at(-1) ?? 0;
    const end = start + effects.length;
    if (end > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(2 * end, BUFFER_MIN_BYTES));
      this.#bytes.copy(bytes, 0, 0, start);
      this.#bytes = bytes;
    }
    this.#bytes.set(effects, start);
    this.#ends.push(end);
  }

  effects(): Buffer[] {
    return this.#ends.map((end, index) => this.#bytes.subarray(this.#ends[index - 1] ?? 0, end));
  }

  clear(): void {
    this.#ends = [];
  }

  /** Lets go of an empty room that is large. */
  shrink(): void {
    if (this.#bytes.length > BUFFER_KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }
}
