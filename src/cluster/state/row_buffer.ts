import { type PackedRows, rowSize } from '../../core/row_bytes.ts';
import { look } from '../../model/borrowed.ts';
import { NewestRows } from '../../store/newest_rows.ts';

const CHUNK_BYTES = 1 << 18;
/** Chunks that are retained for reuse. */
const SPARE_CHUNKS = 32;
/** Bytes of rows that trigger a search for replaced ones. */
const LOOK_BYTES = 4 << 20;

interface Chunk {
  readonly bytes: Buffer;
  used: number;
}

/**
 * Copies of rows that wait to be written, oldest first. An object may have several, of which the last one counts; if these
 * become many, the others are dropped. So the size is bounded by the number of objects.
 */
export class RowBuffer {
  /** The last one is being filled. */
  #chunks: Chunk[] = [];
  #spare: Buffer[] = [];
  #size = 0;
  readonly #lookBytes: number;
  #lookAt: number;

  constructor(lookBytes = LOOK_BYTES) {
    this.#lookBytes = lookBytes;
    this.#lookAt = lookBytes;
  }

  /** Size of the rows in bytes. */
  get size(): number {
    return this.#size;
  }

  /** Whole rows, in order of arrival. They are valid until `clear`. */
  *chunks(): Generator<Buffer> {
    for (const { bytes, used } of this.#chunks) yield bytes.subarray(0, used);
  }

  /** Copies rows that are newer than all before. Hot path. */
  add({ bytes, count }: PackedRows): void {
    if (count === 0) return;
    this.#copy(look(bytes));
    if (this.#size > this.#lookAt) this.#dropReplaced();
  }

  /** Copies all rows of another buffer, which are newer. */
  addAll(others: RowBuffer): void {
    for (const rows of others.chunks()) this.#copy(rows);
  }

  clear(): void {
    this.#keep(this.#chunks);
    this.#chunks = [];
    this.#size = 0;
    this.#lookAt = this.#lookBytes;
  }

  #keep(chunks: readonly Chunk[]): void {
    const used = chunks.map(({ bytes }) => bytes).filter(({ length }) => length === CHUNK_BYTES);
    this.#spare = [...this.#spare, ...used].slice(0, SPARE_CHUNKS);
  }

  #copy(rows: Uint8Array): void {
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.used + rows.length > chunk.bytes.length) {
      const spare = rows.length <= CHUNK_BYTES ? this.#spare.pop() : undefined;
      chunk = { bytes: spare ?? Buffer.allocUnsafeSlow(Math.max(rows.length, CHUNK_BYTES)), used: 0 };
      this.#chunks.push(chunk);
    }
    chunk.bytes.set(rows, chunk.used);
    chunk.used += rows.length;
    this.#size += rows.length;
  }

  #dropReplaced(): void {
    const newest = new NewestRows();
    for (const chunk of this.chunks()) newest.add(chunk);
    const old = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    for (const { buffer, at } of newest) this.#copy(buffer.bytes.subarray(at, at + rowSize(buffer, at)));
    this.#keep(old);
    this.#lookAt = this.#lookBytes + 2 * this.#size;
  }
}
