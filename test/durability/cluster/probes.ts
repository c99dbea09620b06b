import { setTimeout as delay } from 'node:timers/promises';
import { Affinity, PARTITIONS } from '../../../src/shards/affinity.ts';
import { locationOf } from '../hub_process.ts';
import type { HubSeat } from './hub_seat.ts';

/** Number of partitions probed concurrently. */
const PROBED_MAX = 16;
const BETWEEN_MS = 100;
/** Upper bound of a wait. */
const WAIT_MAX_MS = 30_000;

/** A provider of each partition. */
const PROVIDERS = providersByPartition();

/**
 * Repeatedly locates providers of some partitions at one hub, to measure how long locations wait while their owner has
 * failed or hands them over.
 */
export class Probes {
  readonly #seat: HubSeat;
  readonly #ended: Promise<unknown>;
  #isEnded = false;
  #longestMs = 0;

  /** `sinceMs`: time that counts as the sending time of the first locations. */
  constructor(seat: HubSeat, partitions: readonly number[], sinceMs = performance.now()) {
    this.#seat = seat;
    const every = Math.max(1, partitions.length / PROBED_MAX);
    const chosen = Array.from({ length: Math.min(PROBED_MAX, partitions.length) }, (_, index) => {
      return partitions[Math.floor(index * every)] ?? 0;
    });
    this.#ended = Promise.all(chosen.map((partition) => this.#probe(PROVIDERS[partition] ?? '', sinceMs)));
  }

  /** Resolves with the longest wait for an acknowledgment in ms, including rejections and retries. */
  async end(): Promise<number> {
    this.#isEnded = true;
    await this.#ended;
    return this.#longestMs;
  }

  /** Resolves when each was acknowledged at least once. */
  async #probe(provider: string, sinceMs: number): Promise<void> {
    const path = `/providers/${encodeURIComponent(provider)}/location`;
    for (let begunMs = sinceMs; ; begunMs = performance.now()) {
      while ((await this.#seat.request('PUT', path, locationOf(provider, 0)))?.status !== 204) {
        if (performance.now() > begunMs + WAIT_MAX_MS) break;
        await delay(BETWEEN_MS / 2);
      }
      this.#longestMs = Math.max(this.#longestMs, performance.now() - begunMs);
      if (this.#isEnded) return;
      await delay(BETWEEN_MS);
    }
  }
}

function providersByPartition(): readonly string[] {
  const affinity = new Affinity();
  const found: string[] = Array(PARTITIONS).fill('');
  for (let number = 0, missing = PARTITIONS; missing > 0; number++) {
    const provider = `probe ${number}`;
    const partition = affinity.partitionOfProvider(provider);
    if (found[partition] !== '') continue;
    found[partition] = provider;
    missing--;
  }
  return found;
}
