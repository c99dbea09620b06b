/** Addresses that are remembered. Should more be active at once, the one that was seen first is forgotten. */
const ADDRESSES_MAX = 20_000;

/**
 * A token bucket per client: each may send so many requests per second, and twice as many at once after a rest. A client
 * is an IPv4 address or an IPv6 network of 64 bits, which is what one household or machine is given.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Whether the client may send one more now. */
  allows(client: string): boolean {
    const nowMs = this.#now();
    const most = 2 * this.#perSecond;
    let bucket = this.#buckets.get(client);
    if (bucket === undefined) {
      this.#makeRoom(nowMs);
      bucket = { tokens: most, atMs: nowMs };
      this.#buckets.set(client, bucket);
    }
    bucket.tokens = Math.min(most, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * this.#perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  /** Forgets clients that have rested, which is as if they had never come. */
  #makeRoom(nowMs: number): void {
    if (this.#buckets.size < ADDRESSES_MAX) return;
    for (const [client, { atMs }] of this.#buckets) if (nowMs - atMs > 2000) this.#buckets.delete(client);
    const [first] = this.#buckets.keys();
    if (this.#buckets.size >= ADDRESSES_MAX && first !== undefined) this.#buckets.delete(first);
  }
}

const MAPPED = '00000000000000000000ffff';

/** The client of an address as the native server gives it: 4 bytes, or 16. */
export function clientOf(address: ArrayBuffer): string {
  const hex = Buffer.from(address).toString('hex');
  if (hex.length <= 8) return hex;
  return hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex.slice(0, 16);
}
