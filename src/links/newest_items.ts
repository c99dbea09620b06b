/** Maximum number of objects. Beyond it, the one that was silent for the longest time is forgotten. */
const OBJECTS_MAX = 500_000;

interface Newest {
  readonly timeMs: number;
  /** The hub from which it came first. */
  readonly origin: string;
}

/** The newest item of each object that came by a link. All links of a hub share it. */
export class NewestItems {
  readonly #newest = new Map<string, Newest>();

  /**
   * Notes an item, unless it is not newer than the newest one of its object. An item without a valid time is always
   * noted: either it has none, or the hub rejects it with a message.
   */
  offer(key: string, { timeMs, origin }: Newest): 'old' | 'new' | 'new from another origin' {
    const newest = this.#newest.get(key);
    if (newest !== undefined && timeMs <= newest.timeMs) return 'old';
    this.#newest.delete(key);
    this.#newest.set(key, {
      timeMs: Number.isNaN(timeMs) ? (newest?.timeMs ?? Number.NEGATIVE_INFINITY) : timeMs,
      origin,
    });
    if (this.#newest.size > OBJECTS_MAX) this.#forgetOldest();
    return newest === undefined || newest.origin === origin ? 'new' : 'new from another origin';
  }

  #forgetOldest(): void {
    for (const oldest of this.#newest.keys()) {
      this.#newest.delete(oldest);
      return;
    }
  }
}
