import { LAST_SEEN_ROW, type LastSeenBatch } from '../hub/last_seen.ts';

/** Buckets of the rates, which cover the last minute or the time since the subscription began. */
const BUCKET_MS = 10_000;
const BUCKETS = 6;
/** Minimum observation time for a rate. */
const LISTENED_MIN_MS = 2_000;

/** Last time, rate and battery of each provider, in columns for thousands of providers. */
export class TagActivity {
  readonly #indices = new Map<string, number>();
  #lastMs = new Float64Array(256);
  #buckets = Array.from({ length: BUCKETS }, () => new Uint32Array(256));
  #batteries: (string | undefined)[] = [];
  #sinceMs = 0;
  /** Index of the current bucket, counted from the Unix epoch. */
  #bucket = 0;

  /** Adds a batch received at `nowMs`. */
  add({ added, rows, batteries, isReset }: LastSeenBatch, nowMs: number): void {
    if (isReset) this.#forget(nowMs);
    this.#clearExpired(nowMs);
    for (const id of added) this.#indices.set(id, this.#indices.size);
    this.#reserve(this.#indices.size);
    const counts = this.#buckets[this.#bucket % BUCKETS] as Uint32Array;
    for (let at = 0; at < rows.length; at += LAST_SEEN_ROW) {
      const [index = 0, timeMs = 0, count = 0] = rows.subarray(at, at + LAST_SEEN_ROW);
      // Clocks differ, so new locations count as seen now. Earlier locations have only their own timestamp.
      this.#lastMs[index] = count > 0 ? nowMs : Math.min(nowMs, timeMs);
      counts[index] = (counts[index] ?? 0) + count;
    }
    for (const [index, text] of batteries) this.#batteries[index] = text;
  }

  /** Time at which a provider was last seen; undefined if never. */
  lastMs(id: string): number | undefined {
    const index = this.#indices.get(id);
    const lastMs = index === undefined ? Number.NaN : (this.#lastMs[index] ?? Number.NaN);
    return Number.isNaN(lastMs) ? undefined : lastMs;
  }

  /** Locations per second; undefined if never seen, or observed too briefly. */
  rate(id: string, nowMs: number): number | undefined {
    const index = this.#indices.get(id);
    const listenedMs = nowMs - this.#sinceMs;
    if (index === undefined || listenedMs < LISTENED_MIN_MS) return undefined;
    this.#clearExpired(nowMs);
    const coveredMs = Math.min(listenedMs, (BUCKETS - 1) * BUCKET_MS + (nowMs % BUCKET_MS));
    const count = this.#buckets.reduce((sum, bucket) => sum + (bucket[index] ?? 0), 0);
    return count / (coveredMs / 1_000);
  }

  battery(id: string): string | undefined {
    const index = this.#indices.get(id);
    return index === undefined ? undefined : this.#batteries[index];
  }

  /** Clears the buckets of the ring that have expired. */
  #clearExpired(nowMs: number): void {
    const now = Math.floor(nowMs / BUCKET_MS);
    for (let bucket = Math.max(this.#bucket + 1, now - BUCKETS + 1); bucket <= now; bucket++) {
      this.#buckets[bucket % BUCKETS]?.fill(0);
    }
    this.#bucket = Math.max(this.#bucket, now);
  }

  #forget(nowMs: number): void {
    this.#indices.clear();
    this.#batteries = [];
    this.#lastMs.fill(Number.NaN);
    for (const bucket of this.#buckets) bucket.fill(0);
    this.#sinceMs = nowMs;
  }

  #reserve(size: number): void {
    if (size <= this.#lastMs.length) return;
    const length = Math.max(size, this.#lastMs.length * 2);
    const times = new Float64Array(length).fill(Number.NaN);
    times.set(this.#lastMs);
    this.#lastMs = times;
    this.#buckets = this.#buckets.map((before) => {
      const bucket = new Uint32Array(length);
      bucket.set(before);
      return bucket;
    });
  }
}
