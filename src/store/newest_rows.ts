import type { RecordBuffer } from '../core/location/record.ts';
import { isOfSameObject, rowHash, rowSize } from '../core/row_bytes.ts';

const OBJECTS_AT_FIRST = 1 << 12;
const EMPTY = -1;

/** Location of a row in a buffer. */
export interface RowLocation {
  readonly buffer: RecordBuffer;
  readonly at: number;
}

/**
 * Newest row of each object, in the order of first occurrence. A hash table with open addressing over the bytes of ids,
 * so that processing a hundred thousand rows per second creates neither objects nor strings.
 */
export class NewestRows {
  /** Hash slots: index of an object, or EMPTY. At most half of the slots are used. */
  #slots = new Int32Array(2 * OBJECTS_AT_FIRST).fill(EMPTY);
  readonly #buffers: RecordBuffer[] = [];
  /** Buffer and offset of the row of each object, by its index. */
  #bufferOf = new Int32Array(OBJECTS_AT_FIRST);
  #atOf = new Int32Array(OBJECTS_AT_FIRST);
  #size = 0;

  /** Number of objects, whose indexes start at 0. */
  get size(): number {
    return this.#size;
  }

  /** Adds rows that are newer than all previous ones. The buffer must not change afterwards. hot */
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

  /** Returns the location of an object's row. */
  place(number: number): RowLocation {
    const buffer = this.#buffers[this.#bufferOf[number] as number] as RecordBuffer;
    return { buffer, at: this.#atOf[number] as number };
  }

  *[Symbol.iterator](): Generator<RowLocation> {
    for (let number = 0; number < this.#size; number++) yield this.place(number);
  }

  /** Returns the slot of the row's object, or the free slot for it. */
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
