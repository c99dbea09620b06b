import { setTimeout as delay } from 'node:timers/promises';
import { locationOf } from '../durability/hub_process.ts';

const LANES = 4;
const PROVIDERS = 5;
const PAUSE_MS = 40;
/** Longer than a hub holds a request. */
const REQUEST_MS = 20_000;

interface Sent {
  last: number;
  acknowledged: number;
}

/** Result of a comparison. */
export interface Compared {
  /** Providers whose last acknowledged location, or a later one, is stored. */
  readonly committed: number;
  /** A line for each of the others. */
  readonly lost: readonly string[];
}

/**
 * Locations with growing numbers, sent by four clients in parallel, each of which waits for its answers. Acknowledged ones must
 * be stored whatever happens.
 */
export class Probe {
  readonly #base: string;
  readonly #sent = new Map<string, Sent>();
  readonly #stopped = new AbortController();
  readonly #lanes: readonly Promise<void>[];
  readonly #waiting = new Set<{
    readonly sinceMs: number;
    readonly lanes: Set<number>;
    answered(afterMs: number): void;
  }>();

  /** `base`: address of the API, `http://127.0.0.1:8081/hub/v2`. */
  constructor(base: string) {
    this.#base = base;
    this.#lanes = Array.from({ length: LANES }, (_, lane) => this.#run(lane));
  }

  /** Resolves with the milliseconds from now until all clients have had locations acknowledged that were sent after now. */
  answered(): Promise<number> {
    return new Promise((answered) => this.#waiting.add({ sinceMs: performance.now(), lanes: new Set(), answered }));
  }

  /** Reads the last locations, and compares them with the acknowledged ones. Rejects without an answer. */
  async compare(): Promise<Compared> {
    const before = [...this.#sent].map(([id, { acknowledged }]) => ({ id, acknowledged }));
    const response = await fetch(`${this.#base}/providers/locations`, { signal: AbortSignal.timeout(REQUEST_MS) });
    if (!response.ok) throw new Error(`Cannot read the locations: ${response.status} ${await response.text()}`);
    const listed = (await response.json()) as readonly { readonly provider_id: string; readonly accuracy?: number }[];
    const found = new Map(listed.map(({ provider_id: id, accuracy }) => [id, accuracy ?? 0]));
    const lost = before
      .filter(({ id, acknowledged }) => {
        const number = found.get(id) ?? 0;
        return number < acknowledged || number > (this.#sent.get(id)?.last ?? 0);
      })
      .map(({ id, acknowledged }) => `${id} has location ${found.get(id) ?? 'none'}, acknowledged was ${acknowledged}`);
    return { committed: before.length - lost.length, lost };
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#lanes);
  }

  async #run(lane: number): Promise<void> {
    const ids = Array.from({ length: PROVIDERS }, (_, index) => `probe-${lane * PROVIDERS + index + 1}`);
    for (const id of ids) this.#sent.set(id, { last: 0, acknowledged: 0 });
    const { signal } = this.#stopped;
    for (let number = 1; !signal.aborted; number++) {
      await this.#send(lane, ids, number);
      await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #send(lane: number, ids: readonly string[], number: number): Promise<void> {
    const sentMs = performance.now();
    for (const id of ids) (this.#sent.get(id) as Sent).last = number;
    const body = JSON.stringify(ids.map((id) => locationOf(id, number % 50, { accuracy: number })));
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(REQUEST_MS)]);
    const address = `${this.#base}/providers/locations`;
    const response = await fetch(address, { method: 'PUT', body, signal }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status !== 204) return;
    for (const id of ids) (this.#sent.get(id) as Sent).acknowledged = number;
    for (const waiting of this.#waiting) {
      if (waiting.sinceMs > sentMs || waiting.lanes.add(lane).size < LANES) continue;
      this.#waiting.delete(waiting);
      waiting.answered(performance.now() - waiting.sinceMs);
    }
  }
}
