import { HubError } from '../errors.ts';
import type { EachResult } from '../ingest/ingest.ts';
import type { LinkItemTopic } from '../model/link.ts';
import type { PassedItem } from './passage.ts';

export interface InflowDeps {
  /** Accepts the valid values. Throws HUB_UNAVAILABLE if none can be accepted now. */
  accept(topic: LinkItemTopic, values: readonly object[], nameOf: (index: number) => string): EachResult;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Reports why values were rejected, or could not be accepted yet. */
  problem(why: string): void;
}

export interface InflowCounts {
  accepted: number;
  rejected: number;
  /** Replaced by a newer item of the object in the queue. */
  superseded: number;
  dropped: number;
}

/** Maximum number of items that wait. */
const QUEUE_MAX = 20_000;
/** Items that stay in a full queue. The rest is room, since making room takes time in proportion to the queue. */
const LEFT_MAX = 18_000;
const BATCH_MAX = 1000;
const RETRY_MS = 100;

/**
 * Queue of the items of a link for the ingest. All items that arrive in one turn of the event loop, or while a batch is
 * being committed, form the next batch. Only one batch is in flight, which adapts the link to the pace of the hub. When
 * the queue is full, only the newest item of each object stays; if these are still too many, the oldest is dropped.
 */
export class Inflow {
  readonly counts: InflowCounts = { accepted: 0, rejected: 0, superseded: 0, dropped: 0 };
  readonly #deps: InflowDeps;
  #queue: PassedItem[] = [];
  #inFlight: readonly PassedItem[] = [];
  #isScheduled = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;
  #waiting: (() => void)[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor(deps: InflowDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#queue.length + this.#inFlight.length;
  }

  add(items: readonly PassedItem[]): void {
    if (items.length === 0 || this.#isClosed) return;
    for (const item of items) {
      if (this.#queue.length >= QUEUE_MAX) this.#makeRoom();
      this.#queue.push(item);
    }
    this.#later(0);
  }

  /** Resolves when the queue has room for a page of last locations. */
  room(): Promise<void> {
    if (this.#isClosed || this.#queue.length < QUEUE_MAX / 2) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** Drops what is queued. Resolves when the batch in flight is committed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    this.counts.dropped += this.#queue.length;
    this.#queue = [];
    this.#wake();
    await this.#work;
  }

  #later(delayMs: number): void {
    if (this.#isScheduled || this.#inFlight.length > 0 || this.#isClosed) return;
    this.#isScheduled = true;
    this.#cancel = this.#deps.schedule(delayMs, () => {
      this.#isScheduled = false;
      this.#work = this.#send();
    });
  }

  /** Sends one batch, and then schedules the next one. */
  async #send(): Promise<void> {
    const batch = this.#nextBatch();
    const [first] = batch;
    if (first === undefined) return;
    this.#inFlight = batch;
    let delayMs = 0;
    try {
      const values = batch.map(({ value }) => value);
      const { problems, committed } = this.#deps.accept(first.topic, values, (index) => batch[index]?.key ?? '');
      await committed;
      this.counts.accepted += batch.length - problems.length;
      this.counts.rejected += problems.length;
      if (problems[0] !== undefined) this.#deps.problem(String(problems[0]));
    } catch (error) {
      delayMs = this.#takeBack(batch, error);
    }
    this.#inFlight = [];
    this.#wake();
    if (this.#queue.length > 0) this.#later(delayMs);
  }

  /** The next items of one topic. */
  #nextBatch(): readonly PassedItem[] {
    const topic = this.#queue[0]?.topic;
    const other = this.#queue.findIndex((item, index) => index >= BATCH_MAX || item.topic !== topic);
    return this.#queue.splice(0, other < 0 ? this.#queue.length : other);
  }

  /** Repeats a batch that the hub could not accept or commit: outdated items have no effect. Returns the delay. */
  #takeBack(batch: readonly PassedItem[], error: unknown): number {
    this.#deps.problem(error instanceof Error ? error.message : String(error));
    if (this.#isClosed) this.counts.dropped += batch.length;
    else if (error instanceof HubError && error.code === 'HUB_UNAVAILABLE') this.#queue.unshift(...batch);
    else this.counts.rejected += batch.length;
    return RETRY_MS;
  }

  #makeRoom(): void {
    const newest = new Map<string, PassedItem>();
    for (const item of this.#queue) {
      newest.delete(item.key);
      newest.set(item.key, item);
    }
    this.counts.superseded += this.#queue.length - newest.size;
    this.#queue = [...newest.values()];
    const excess = this.#queue.length - LEFT_MAX;
    if (excess <= 0) return;
    this.#queue.splice(0, excess);
    this.counts.dropped += excess;
  }

  #wake(): void {
    if (!this.#isClosed && this.#queue.length >= QUEUE_MAX / 2) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
