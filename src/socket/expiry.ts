export interface ExpiryOptions {
  now(): number;
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Called with all ids that have expired or whose API key was revoked. */
  expired(ids: readonly number[]): void;
}

interface Revocable {
  readonly revoked: AbortSignal;
  readonly end: () => void;
}

/** Maximum delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Expiry times and revocations of the subscriptions of a connection, with one timer for the earliest expiry. */
export class Expiry {
  readonly #options: ExpiryOptions;
  readonly #ends = new Map<number, number>();
  readonly #revocable = new Map<number, Revocable>();
  #nextMs = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /**
   * Sets the expiry time of an id; Infinity for never. It expires earlier if `revoked` is aborted: before this returns,
   * if that has happened already.
   */
  set(id: number, atMs: number, revoked?: AbortSignal): void {
    if (atMs !== Number.POSITIVE_INFINITY) {
      this.#ends.set(id, atMs);
      if (atMs < this.#nextMs) this.#wait();
    }
    this.#watch(id, revoked);
  }

  delete(id: number): void {
    this.#watch(id, undefined);
    if (this.#ends.delete(id)) this.#wait();
  }

  clear(): void {
    for (const id of [...this.#revocable.keys()]) this.#watch(id, undefined);
    this.#ends.clear();
    this.#wait();
  }

  #watch(id: number, revoked: AbortSignal | undefined): void {
    const before = this.#revocable.get(id);
    if (before?.revoked === revoked) return;
    before?.revoked.removeEventListener('abort', before.end);
    this.#revocable.delete(id);
    if (revoked === undefined) return;
    const end = (): void => {
      this.#ends.set(id, Number.NEGATIVE_INFINITY);
      this.#due();
    };
    revoked.addEventListener('abort', end, { once: true });
    this.#revocable.set(id, { revoked, end });
    // The key may have been revoked since it was verified.
    if (revoked.aborted) end();
  }

  #wait(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#nextMs = Math.min(...this.#ends.values());
    if (this.#nextMs === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(Math.max(this.#nextMs - this.#options.now(), 0), LONGEST_MS);
    this.#cancel = this.#options.schedule(delayMs, () => this.#due());
  }

  #due(): void {
    const nowMs = this.#options.now();
    const due = [...this.#ends].filter(([, atMs]) => atMs <= nowMs).map(([id]) => id);
    for (const id of due) {
      this.#watch(id, undefined);
      this.#ends.delete(id);
    }
    this.#wait();
    if (due.length > 0) this.#options.expired(due);
  }
}
