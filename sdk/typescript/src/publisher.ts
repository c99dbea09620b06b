import type { components } from './generated.ts';
import { type Owners, ownerUrl, readOwners } from './owners.ts';
import { pause, pauseMs } from './timing.ts';
import type { ReadJson } from './topics.ts';

type Location = components['schemas']['Location'];

export interface PublisherOptions {
  /** Maximum of locations in one request; 500 by default. */
  readonly batchMax?: number;
  /** How long a location waits for others, in milliseconds; 10 by default. */
  readonly delayMs?: number;
  /** Maximum of locations that wait or are being sent; 20,000 by default. */
  readonly queueMax?: number;
  /** How long a location is retried, in milliseconds; 60,000 by default. */
  readonly retryMs?: number;
}

/** A location that the hub did not accept. `status` is that of the answer; undefined without one. */
export class PublishError extends Error {
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.name = 'PublishError';
    this.status = status;
  }
}

export interface Sending {
  /** URL of the API, which is used for providers without a known owner. */
  readonly url: string;
  /** Like fetch, with the token. */
  readonly fetch: typeof fetch;
  readonly read: ReadJson;
  readonly random: () => number;
  readonly now: () => number;
}

interface Waiting {
  readonly location: Location;
  readonly resolve: () => void;
  readonly reject: (error: PublishError) => void;
}

const OWNERS_AGE_MS = 5000;
const REQUEST_MS = 15_000;
/** Statuses after which the same request can succeed. */
const PASSING = [408, 429, 500, 502, 503, 504];

/**
 * Sends locations in batches. The locations of a provider are sent in order, one request at a time. A location whose request
 * was not answered is sent again, so the hub may receive it twice.
 */
export class Publisher {
  readonly #sending: Sending;
  readonly #batchMax: number;
  readonly #delayMs: number;
  readonly #queueMax: number;
  readonly #retryMs: number;
  /** Queues by the URL of their hub. */
  readonly #lanes = new Map<string, Lane>();
  /** The lane of each provider with waiting locations: a new owner gets the next ones only when these are sent. */
  readonly #providers = new Map<string, { readonly lane: Lane; count: number }>();
  #count = 0;
  #owners: Owners | undefined;
  #ownersMs = Number.NEGATIVE_INFINITY;

  constructor(sending: Sending, options: PublisherOptions = {}) {
    this.#sending = sending;
    this.#batchMax = options.batchMax ?? 500;
    this.#delayMs = options.delayMs ?? 10;
    this.#queueMax = options.queueMax ?? 20_000;
    this.#retryMs = options.retryMs ?? 60_000;
  }

  /** Locations that wait or are being sent. */
  get pending(): number {
    return this.#count;
  }

  /**
   * Resolves when the hub has accepted the location. Rejects with a PublishError if the hub refuses it, if it could not be
   * sent in time, or at once if the queue is full.
   */
  publish(location: Location): Promise<void> {
    if (this.#count >= this.#queueMax) {
      return Promise.reject(new PublishError(`Cannot publish: ${this.#count} locations are waiting already`));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const provider = location.provider_id ?? '';
    const entry = this.#providers.get(provider) ?? { lane: this.#laneOf(provider), count: 0 };
    entry.count++;
    this.#count++;
    this.#providers.set(provider, entry);
    const settle = () => {
      this.#count--;
      if (--entry.count === 0) this.#providers.delete(provider);
    };
    const waiting: Waiting = {
      location,
      resolve: () => {
        settle();
        resolve();
      },
      reject: (error) => {
        settle();
        reject(error);
      },
    };
    entry.lane.waiting.push(waiting);
    if (!entry.lane.isBusy) void this.#drain(entry.lane);
    return promise;
  }

  #laneOf(provider: string): Lane {
    this.#refreshOwners();
    const url = (this.#owners && ownerUrl(this.#owners, provider)) ?? this.#sending.url;
    const lane = this.#lanes.get(url) ?? { url, waiting: [], isBusy: false };
    this.#lanes.set(url, lane);
    return lane;
  }

  /** Reads the owners again if they are old. Until they are known, locations are sent to the configured URL. */
  #refreshOwners(): void {
    const { now, read, url } = this.#sending;
    if (now() - this.#ownersMs < OWNERS_AGE_MS) return;
    this.#ownersMs = now();
    void readOwners(read).then((owners) => {
      const path = new URL(url).pathname;
      this.#owners = owners && { ...owners, urls: mapValues(owners.urls, (each) => apiUrl(each, path)) };
    });
  }

  async #drain(lane: Lane): Promise<void> {
    lane.isBusy = true;
    await pause(this.#delayMs);
    while (lane.waiting.length > 0) await this.#send(lane.waiting.splice(0, this.#batchMax), lane.url);
    lane.isBusy = false;
  }

  /** Sends a batch until it is accepted, refused or too old. A refused batch is divided to find the locations at fault. */
  async #send(batch: readonly Waiting[], owner: string): Promise<void> {
    const { now, random, url } = this.#sending;
    const firstMs = now();
    let to = owner;
    for (let failures = 0; ; ) {
      const answer = await this.#request(batch, to);
      if (answer.isAccepted) {
        for (const { resolve } of batch) resolve();
        return;
      }
      if (answer.status !== undefined && !PASSING.includes(answer.status)) return this.#refused(batch, to, answer);
      failures++;
      // Another hub may have taken over; any hub accepts every location.
      to = url;
      this.#owners = undefined;
      this.#ownersMs = Number.NEGATIVE_INFINITY;
      if (now() - firstMs > this.#retryMs) {
        for (const { reject } of batch) reject(new PublishError(answer.message, answer.status));
        return;
      }
      await pause(Math.max(answer.retryAfterMs, pauseMs(failures, random())));
    }
  }

  async #refused(batch: readonly Waiting[], to: string, { message, status }: Answer): Promise<void> {
    if (batch.length <= 1 || status !== 400) {
      for (const { reject } of batch) reject(new PublishError(message, status));
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await this.#send(batch.slice(0, half), to);
    await this.#send(batch.slice(half), to);
  }

  async #request(batch: readonly Waiting[], to: string): Promise<Answer> {
    try {
      const response = await this.#sending.fetch(`${to}/providers/locations`, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(batch.map(({ location }) => location)),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await response.text();
      const retryAfterMs = 1000 * (Number(response.headers.get('Retry-After')) || 0);
      const { status, ok: isAccepted } = response;
      return { isAccepted, status, message: messageOf(text) ?? `The hub answered ${status}`, retryAfterMs };
    } catch (error) {
      return { isAccepted: false, status: undefined, message: String(error), retryAfterMs: 0 };
    }
  }
}

interface Lane {
  readonly url: string;
  readonly waiting: Waiting[];
  isBusy: boolean;
}

interface Answer {
  readonly isAccepted: boolean;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  readonly message: string;
  readonly retryAfterMs: number;
}

function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the URL of the API at a hub, whose URL may lack the path. */
function apiUrl(hub: string, path: string): string {
  const { origin, pathname } = new URL(hub);
  return `${origin}${pathname === '/' ? path : pathname}`.replace(/\/$/, '');
}

function mapValues(record: Readonly<Record<string, string>>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
