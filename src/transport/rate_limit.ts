import { LRUCache } from 'lru-cache';
import { TokenBucket } from '../time/token_bucket.ts';

/** Maximum number of clients that are tracked. */
const CLIENTS_MAX = 20_000;

/**
 * Token bucket per client: each may send `perSecond` requests per second on average, and twice that number at once. A
 * client is an IPv4 address or an IPv6 network of 64 bits, as assigned to one household or machine.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** The client that was idle longest is evicted first, with the least loss. */
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: CLIENTS_MAX });

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Whether the client may send another request now. */
  allows(client: string): boolean {
    const nowMs = this.#now();
    let bucket = this.#buckets.get(client);
    if (bucket === undefined) {
      bucket = new TokenBucket({ perSecond: this.#perSecond, burst: 2 * this.#perSecond, nowMs });
      this.#buckets.set(client, bucket);
    }
    return bucket.tryTake(1, nowMs);
  }
}

const MAPPED = '00000000000000000000ffff';

/** The client of an address as the native server gives it: 4 bytes, or 16. */
export function clientOf(address: ArrayBuffer): string {
  const hex = Buffer.from(address).toString('hex');
  if (hex.length <= 8) return hex;
  return hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex.slice(0, 16);
}
