import { LRUCache } from 'lru-cache';
import { TokenBucket } from '../time/token_bucket.ts';

/** Maximum number of clients that are tracked. */
const CLIENTS_MAX = 20_000;

/**
 * Token bucket per client: each may send `perSecond` requests per second on average, and twice as many in a burst. A
 * client is an IPv4 address or an IPv6 /64 network, as assigned to one household or machine.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** Evicts the client that has been idle longest, whose bucket is the fullest. */
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

/** Returns the client of an address in the format of the native server: 4 or 16 bytes. */
export function clientOf(address: ArrayBuffer): string {
  const hex = Buffer.from(address).toString('hex');
  if (hex.length <= 8) return hex;
  return hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex.slice(0, 16);
}
