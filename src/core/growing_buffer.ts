import type { NewRecordBuffer, RecordBuffer } from './location/record.ts';

/** A reusable buffer that is filled from its start and grows as needed. */
export class GrowingBuffer implements RecordBuffer {
  readonly #newBuffer: NewRecordBuffer;
  bytes: RecordBuffer['bytes'];
  view: DataView;

  constructor(newBuffer: NewRecordBuffer, initialBytes: number) {
    this.#newBuffer = newBuffer;
    const { bytes, view } = newBuffer(initialBytes);
    this.bytes = bytes;
    this.view = view;
  }

  /** Ensures a capacity of `bytes`, of which the first `used` are written already. */
  // hot
  protected reserve(bytes: number, used: number): void {
    if (bytes > this.bytes.length) this.#resize(Math.max(bytes, 2 * this.bytes.length), used);
  }

  /** Frees memory beyond `bytesRetained`, but preserves the first `used` bytes. */
  protected shrink(bytesRetained: number, used: number): void {
    if (this.bytes.length > bytesRetained) this.#resize(Math.max(bytesRetained, used), used);
  }

  #resize(length: number, used: number): void {
    const { bytes, view } = this.#newBuffer(length);
    this.bytes.copy(bytes, 0, 0, used);
    this.bytes = bytes;
    this.view = view;
  }
}
