export interface TokenBucketOptions {
  readonly perSecond: number;
  /** Size of the bucket, which is full at first. */
  readonly burst: number;
  readonly nowMs: number;
}

/** A token bucket that fills at a rate up to its size. A backward clock step adds nothing. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;

  constructor({ perSecond, burst, nowMs }: TokenBucketOptions) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#atMs = nowMs;
  }

  /** Takes tokens if enough are available. Returns whether it did. */
  tryTake(tokens: number, nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /**
   * Takes tokens, even more than available, and returns how long the caller must wait, in milliseconds, until the debt
   * is paid. Later callers wait longer. Any number of tokens can be taken.
   */
  take(tokens: number, nowMs: number): number {
    if (this.#perMs === Infinity) return 0;
    this.#fill(nowMs);
    this.#tokens -= tokens;
    return this.#tokens >= 0 ? 0 : Math.ceil(-this.#tokens / this.#perMs);
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + passedMs * this.#perMs);
  }
}
