import type { RecordBuffer } from '../core/location/record.ts';
import { isOfSameObject, rowHash, rowSize } from '../core/row_bytes.ts';

const OBJECTS_AT_FIRST = 1 << 12;
const EMPTY = -1;

/** A row where it lies. */
export interface Place {
  readonly buffer: RecordBuffer;
  readonly at: number;
}

/**
 * The last row of each object among many, in the order of the first: a hash table with open addressing over the bytes of
 * their ids. In a storm a hundred thousand rows a second are looked through, and none of them becomes an object or a text.
 */
export class NewestRows {
  /** Number of an object, or EMPTY; at most half of them are taken. */
  #slots = new Int32Array(2 * OBJECTS_AT_FIRST).fill(EMPTY);
  readonly #buffers: RecordBuffer[] = [];
  /** Of each object, by its number: in which buffer its row lies, and where. */
  #bufferOf = new Int32Array(OBJECTS_AT_FIRST);
  #atOf = new Int32Array(OBJECTS_AT_FIRST);
  #size = 0;

  /** How many objects there are. They have numbers from 0. */
  get size(): number {
    return this.#size;
  }

  /** Goes through rows that are newer than all before. They must stay as they are. hot */
  add(rows: Buffer): void {
    const buffer = { bytes: rows, view: new DataView(rows.buffer, rows.byteOffset, rows.length) };
    const index = this.#buffers.push(buffer) - 1;
    for (let at = 0; at < rows.length; at += rowSize(buffer, at)) {
      if (2 * this.#size === this.#slots.length) this.#grow();
      const slot = this.#slotOf(buffer, at);
      let number = this.#slots[slot] as number;
      if (number === EMPTY) {
        number = this.#size++;
        this.#slots[slot] = number;
      }
      this.#bufferOf[number] = index;
      this.#atOf[number] = at;
    }
  }

  /** The row of an object. */
  place(number: number): Place {
    const buffer = this.#buffers[this.#bufferOf[number] as number] as RecordBuffer;
    return { buffer, at: this.#atOf[number] as number };
  }

  *[Symbol.iterator](): Generator<Place> {
    for (let number = 0; number < this.#size; number++) yield this.place(number);
  }

  /** Where the object of that row is, or where it belongs. */
  // hot
  #slotOf(buffer: RecordBuffer, at: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = rowHash(buffer, at) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      if (number === EMPTY) return slot;
      const other = this.#buffers[this.#bufferOf[number] as number] as RecordBuffer;
      if (isOfSameObject(buffer, at, other, this.#atOf[number] as number)) return slot;
    }
  }

  #grow(): void {
    const grown = (from: Int32Array) => {
      const to = new Int32Array(2 * from.length);
      to.set(from);
      return to;
    };
    this.#bufferOf = grown(this.#bufferOf);
    this.#atOf = grown(this.#atOf);
    this.#slots = new Int32Array(2 * this.#slots.length).fill(EMPTY);
    for (let number = 0; number < this.#size; number++) {
      const { buffer, at } = this.place(number);
      this.#slots[this.#slotOf(buffer, at)] = number;
    }
  }
}
