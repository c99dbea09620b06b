/** Bytes of a block at most. So large ones the system gives whole, and gets back whole. */
const BLOCK_MAX_BYTES = 1 << 19;

/**
 * A buffer of copies that are dropped in the order in which they were made. They lie side by side in blocks, which grow
 * with what is kept: thousands of small pieces would leave the memory of the process in holes that nothing else fits in.
 */
export class CopyBuffer {
  #block = new Uint8Array(0);
  #used = 0;

  /** Copies bytes, beside `keptBytes` that are kept already. */
  copy(bytes: Uint8Array, keptBytes: number): Uint8Array {
    const length = bytes.byteLength;
    if (this.#used + length > this.#block.byteLength) {
      this.#block = new Uint8Array(Math.max(length, Math.min(keptBytes, BLOCK_MAX_BYTES)));
      this.#used = 0;
    }
    const copy = this.#block.subarray(this.#used, this.#used + length);
    copy.set(bytes);
    this.#used += length;
    return copy;
  }

  /** Forgets the block, whose copies keep it as long as they are there. */
  clear(): void {
    this.#block = new Uint8Array(0);
    this.#used = 0;
  }
}
