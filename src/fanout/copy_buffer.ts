/** Maximum size of a block in bytes. The system allocates and frees blocks of this size as a whole. */
const BLOCK_MAX_BYTES = 1 << 19;

/**
 * Allocates copies that are dropped in the order of their creation. Copies share blocks whose size grows with the
 * retained bytes, because thousands of small allocations would fragment the heap.
 */
export class CopyBuffer {
  #block = new Uint8Array(0);
  #used = 0;

  /** Copies `bytes`. `keptBytes` is the size of all copies retained so far. */
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

  /** Drops the current block. It is freed when none of its copies is referenced any more. */
  clear(): void {
    this.#block = new Uint8Array(0);
    this.#used = 0;
  }
}
