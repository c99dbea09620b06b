import type { NewRecordBuffer, RecordBuffer } from './location/record.ts';

/** Memory that is filled from the start, grows with what is written, and is reused. */
export class GrowingBuffer implements RecordBuffer {
  readonly #newBuffer: NewRecordBuffer;
  bytes: RecordBuffer['bytes'];
  view: DataView;

  constructor(newBuffer: NewRecordBuffer, bytesAtFirst: number) {
    this.#newBuffer = newBuffer;
    const { bytes, view } = newBuffer(bytesAtFirst);
    this.bytes = bytes;
    this.view = view;
  }

  /** Makes room for so many bytes, of which the first `used` are written already. */
  // hot
  protected reserve(bytes: number, used: number): void {
    if (bytes > this.bytes.length) this.#become(Math.max(bytes, 2 * this.bytes.length), used);
  }

  /** Frees memory beyond `bytesKept`, but keeps the first `used` bytes. */
  protected shrink(bytesKept: number, used: number): void {
    if (this.bytes.length > bytesKept) this.#become(Math.max(bytesKept, used), used);
  }

  #become(length: number, used: number): void {
    const { bytes, view } = this.#newBuffer(length);
    this.bytes.copy(bytes, 0, 0, used);
    this.bytes = bytes;
    this.view = view;
  }
}
