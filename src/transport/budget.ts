/** A bound on memory that many share: what would go beyond it is not given. */
export class Budget {
  readonly maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Whether there was room for so many bytes, which are used from now on. */
  take(bytes: number): boolean {
    return this.takeLeaving(bytes, 0);
  }

  /** Whether there was room for so many bytes, and as much as is to be left behind them. */
  takeLeaving(bytes: number, leftBytes: number): boolean {
    if (this.#usedBytes + bytes + leftBytes > this.maxBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
