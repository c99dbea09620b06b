/** A shared bound on memory. */
export class Budget {
  readonly maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Reserves bytes. Returns false if the bound would be exceeded. */
  take(bytes: number): boolean {
    return this.takeLeaving(bytes, 0);
  }

  /** Reserves bytes if `leftBytes` bytes remain free afterwards; otherwise returns false. */
  takeLeaving(bytes: number, leftBytes: number): boolean {
    if (this.#usedBytes + bytes + leftBytes > this.maxBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
