export interface ExpiryOptions {
  now(): number;
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Called with all ids that have expired. */
  expired(ids: readonly number[]): void;
}

/** Maximum delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Expiry times of the subscriptions of a connection, with one timer for the earliest. */
export class Expiry {
  readonly #options: ExpiryOptions;
  readonly #ends = new Map<number, number>();
  #nextMs = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  /** Sets the expiry time of an id; Infinity for never. */
  set(id: number, atMs: number): void {
    if (atMs === Number.POSITIVE_INFINITY) return;
    this.#ends.set(id, atMs);
    if (atMs < this.#nextMs) this.#wait();
  }

  delete(id: number): void {
    if (this.#ends.delete(id)) this.#wait();
  }

  clear(): void {
    this.#ends.clear();
    this.#wait();
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
    for (const id of due) this.#ends.delete(id);
    this.#wait();
    if (due.length > 0) this.#options.expired(due);
  }
}
