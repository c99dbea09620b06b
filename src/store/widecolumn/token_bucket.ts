export interface BucketOptions {
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
  readonly nowMs: number;
}

/**
 * A bucket of tokens, one a byte, that fills at a rate up to its size. Whoever takes more than there is makes a debt,
 * and waits until that is paid: so whoever asks next waits behind, and nothing is too large to pass.
 */
export class TokenBucket {
  readonly #bytesPerMs: number;
  readonly #burstBytes: number;
  #bytes: number;
  #atMs: number;

  constructor({ bytesPerSecond, burstBytes, nowMs }: BucketOptions) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#burstBytes = burstBytes;
    this.#bytes = burstBytes;
    this.#atMs = nowMs;
  }

  /** Takes bytes. Returns how long their owner must wait, in milliseconds. A clock that is set back fills nothing. */
  take(bytes: number, nowMs: number): number {
    if (this.#bytesPerMs === Infinity) return 0;
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = nowMs;
    this.#bytes = Math.min(this.#burstBytes, this.#bytes + passedMs * this.#bytesPerMs) - bytes;
    return this.#bytes >= 0 ? 0 : Math.ceil(-this.#bytes / this.#bytesPerMs);
  }
}
