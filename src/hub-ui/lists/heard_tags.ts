import { HEARD_ROW, type HeardBatch } from '../hub/heard.ts';

/** A rate is that of the last minute, or of as much of it as was listened to. */
const BUCKET_MS = 10_000;
const BUCKETS = 6;
/** Before that nobody can say how often something comes. */
const LISTENED_MIN_MS = 2_000;

/** When each provider was heard last, how often it is heard, and what it says of its battery; as columns, for thousands. */
export class HeardTags {
  readonly #indices = new Map<string, number>();
  #lastMs = new Float64Array(256);
  #buckets = Array.from({ length: BUCKETS }, () => new Uint32Array(256));
  #batteries: (string | undefined)[] = [];
  #sinceMs = 0;
  /** The number of the bucket that is filled now, counted from the beginning of time. */
  #bucket = 0;

  /** Takes a batch that came now. */
  take({ fresh, rows, batteries, isFirst }: HeardBatch, nowMs: number): void {
    if (isFirst) this.#forget(nowMs);
    this.#turn(nowMs);
    for (const id of fresh) this.#indices.set(id, this.#indices.size);
    this.#reserve(this.#indices.size);
    const counts = this.#buckets[this.#bucket % BUCKETS] as Uint32Array;
    for (let at = 0; at < rows.length; at += HEARD_ROW) {
      const [index = 0, timeMs = 0, count = 0] = rows.subarray(at, at + HEARD_ROW);
      // Clocks differ. What comes now is fresh; of what was there before only its own time tells.
      this.#lastMs[index] = count > 0 ? nowMs : Math.min(nowMs, timeMs);
      counts[index] = (counts[index] ?? 0) + count;
    }
    for (const [index, text] of batteries) this.#batteries[index] = text;
  }

  /** When a provider was heard last; undefined of one that has never been heard. */
  lastMs(id: string): number | undefined {
    const index = this.#indices.get(id);
    const lastMs = index === undefined ? Number.NaN : (this.#lastMs[index] ?? Number.NaN);
    return Number.isNaN(lastMs) ? undefined : lastMs;
  }

  /** Locations a second; undefined where it has never been heard, or nobody has listened for long enough. */
  rate(id: string, nowMs: number): number | undefined {
    const index = this.#indices.get(id);
    const listenedMs = nowMs - this.#sinceMs;
    if (index === undefined || listenedMs < LISTENED_MIN_MS) return undefined;
    this.#turn(nowMs);
    const coveredMs = Math.min(listenedMs, (BUCKETS - 1) * BUCKET_MS + (nowMs % BUCKET_MS));
    const count = this.#buckets.reduce((sum, bucket) => sum + (bucket[index] ?? 0), 0);
    return count / (coveredMs / 1_000);
  }

  battery(id: string): string | undefined {
    const index = this.#indices.get(id);
    return index === undefined ? undefined : this.#batteries[index];
  }

  /** Empties the buckets whose time has come again. */
  #turn(nowMs: number): void {
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
