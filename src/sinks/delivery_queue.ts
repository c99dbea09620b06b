import type { Failure } from '../model/target_failure.ts';
import { type QueuedEvent, type WaitingEvent, WaitingEvents, type WaitingLimits } from './waiting_events.ts';

/**
 * Decides which events of one sink are sent when. It has no clock, no connection and no randomness.
 *
 *   event log ─▶ addLogged ─┐                        ┌─▶ batches to send
 *                           ├─▶ lanes ─▶ step(now) ──┼─▶ cursor to store
 *   fan-out ───▶ addLive ───┘      ▲                 └─▶ time of the next step
 *                                  └── settle(batch, outcome)
 *
 * Order. The events of one key form a lane. An event is sent only if no earlier event of its lane is undelivered, except
 * in the same batch. So events of one key arrive in order, and a failing event delays only its own lane.
 *
 * At least once. A logged event leaves the queue only when it was delivered, or when the target will never accept it
 * (`rejected`). The cursor is the position before the oldest logged event in the queue. A restart from it reads
 * everything that was not delivered, and perhaps some events that were.
 *
 * Bounds. Logged events are read only while the queue has room for them. Live events are not in the log: a new one
 * replaces an older one, and `dropped` counts the replaced events.
 *
 * Retries. Attempt n of an event follows the schedule of Standard Webhooks. The same schedule applies to the sink:
 *
 *   phase      signal                    next phase
 *   ---------  ------------------------  -----------------------------------------------------------------------------
 *   active     a batch fails             failing: nothing is sent until the delay has passed
 *   failing    the delay has passed      failing: one batch is sent as a probe, with the event tried least often
 *   failing    a batch is delivered      active
 *   failing    the probe fails           failing, with the next delay; disabled after the last attempt
 *   active     an event fails for the    disabled, naming the event: the sink never skips it
 *              last time
 *   any        the target is gone (410)  disabled
 *   any        pause                     paused: nothing is sent
 *   any        resume                    active: all events are due
 *
 * Of several batches in flight, only failures of batches sent since the last change of `failures` count, so one outage
 * advances the schedule once.
 */

export type { QueuedEvent };

export interface QueueLimits extends WaitingLimits {
  /** Maximum events and bytes of one batch. A larger event is a batch of its own. */
  readonly batchMax: number;
  readonly batchBytes: number;
  /** Maximum number of batches in flight. */
  readonly concurrency: number;
  /** Time that an event waits for others to share its batch, unless the batch is full. */
  readonly gatherMs: number;
  /** Whether an event that failed is sent alone, so that an invalid event delays no others. */
  readonly isolates: boolean;
  /** By default those of Standard Webhooks. */
  readonly retries?: RetrySchedule;
}

export interface RetrySchedule {
  /** Delays before the attempts of an event, by the number of previous ones. */
  readonly delaysMs: readonly number[];
  /** Whether the last delay repeats. Otherwise the sink is disabled after it. */
  readonly repeatsLast: boolean;
}

export type SinkPhase = 'active' | 'failing' | 'paused' | 'disabled';

/** Result of an attempt. */
export type Outcome =
  | { readonly what: 'delivered' }
  /** The target cannot accept events now. */
  | (Failure & { readonly what: 'failed'; readonly retryAfterMs?: number })
  /** The target will never accept this event, for example because it is too large. */
  | (Failure & { readonly what: 'rejected' })
  /** The target wants no more events. */
  | (Failure & { readonly what: 'gone' });

export interface Batch {
  readonly number: number;
  readonly events: readonly QueuedEvent[];
  /** Number of this attempt for its first event, from 1. */
  readonly attempt: number;
}

export interface QueueStep {
  readonly send: readonly Batch[];
  /** Time of the next step if nothing else happens. */
  readonly wakeAtMs: number;
}

/** Numbers of events. Always added = delivered + rejected + dropped + replayed + waiting. */
export interface QueueCounts {
  added: number;
  delivered: number;
  rejected: number;
  /** Live events replaced by newer ones. */
  dropped: number;
  /** Logged events discarded because a replay reads them again. */
  replayed: number;
  /** Failed attempts to send a batch. */
  failures: number;
}

/** The delays of Standard Webhooks. */
export const RETRY_DELAYS_MS: readonly number[] = [
  0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
];
const STANDARD: RetrySchedule = { delaysMs: RETRY_DELAYS_MS, repeatsLast: false };
/** A delay is extended by up to this part of it, so that sinks do not retry at the same time. */
const JITTER = 0.2;
const RETRY_AFTER_MAX_MS = 86_400_000;

interface SentBatch {
  readonly items: readonly WaitingEvent[];
  /** Failures of the sink when it was sent. */
  readonly failures: number;
}

export class DeliveryQueue {
  readonly #limits: QueueLimits;
  readonly #waiting: WaitingEvents;
  readonly #inFlight = new Map<number, SentBatch>();
  readonly counts: QueueCounts = { added: 0, delivered: 0, rejected: 0, dropped: 0, replayed: 0, failures: 0 };
  #phase: SinkPhase = 'active';
  /** Consecutive failures of the sink. */
  #failures = 0;
  #retryAtMs = 0;
  /** Position after the last event that was read. */
  #read: string | undefined;
  #lastBatch = 0;
  /** Why the phase is failing or disabled. */
  failure: Failure | undefined;

  constructor(limits: QueueLimits, cursor: string | undefined) {
    this.#limits = limits;
    this.#waiting = new WaitingEvents(limits);
    this.#read = cursor;
  }

  get phase(): SinkPhase {
    return this.#phase;
  }

  /** Position after which the log must be read next. */
  get readCursor(): string | undefined {
    return this.#read;
  }

  /** Position from which a restart must read. */
  get cursor(): string | undefined {
    for (const { before, isDiscarded } of this.#waiting.logged) if (!isDiscarded) return before;
    return this.#read;
  }

  /** Number of events that are not delivered. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Time of the oldest event that is not delivered; undefined without one. */
  get oldestMs(): number | undefined {
    return this.#waiting.oldestMs;
  }

  get retryAtMs(): number | undefined {
    return this.#phase === 'failing' ? this.#retryAtMs : undefined;
  }

  /** Returns the events that are not delivered, oldest first, with their attempts so far. */
  *pending(): Generator<{ readonly event: QueuedEvent; readonly attempts: number; readonly isInFlight: boolean }> {
    yield* this.#waiting.all();
  }

  /** Whether more logged events may be read. */
  get hasRoom(): boolean {
    return this.#waiting.hasRoom;
  }

  /** Adds events read from the log after `readCursor`. `next` is the position after the last event examined. */
  addLogged(events: readonly QueuedEvent[], { next, nowMs }: { readonly next: string; readonly nowMs: number }): void {
    for (const event of events) {
      this.#waiting.addLogged(event, { before: this.#read, nowMs });
      this.#read = event.cursor;
      this.counts.added++;
    }
    this.#read = next;
  }

  /** Adds a live event. */
  addLive(event: QueuedEvent, nowMs: number): void {
    this.counts.added++;
    if (this.#phase === 'paused' || this.#phase === 'disabled') {
      this.counts.dropped++;
      return;
    }
    this.counts.dropped += this.#waiting.addLive(event, nowMs);
  }

  /** Continues after another position of the log. */
  replay(cursor: string | undefined): void {
    this.#read = cursor;
    for (const item of [...this.#waiting.logged]) {
      if (!item.isDiscarded) this.counts.replayed++;
      item.isDiscarded = true;
      if (!item.isInFlight) this.#waiting.remove(item);
    }
  }

  pause(): void {
    this.#phase = 'paused';
    this.#discardLive();
  }

  /** Makes all events due. */
  resume(): void {
    this.#phase = 'active';
    this.#failures = 0;
    this.failure = undefined;
    for (const item of this.#waiting.all()) {
      item.attempts = 0;
      item.dueMs = 0;
    }
  }

  disable(failure: Failure): void {
    this.#phase = 'disabled';
    this.failure = failure;
    this.#discardLive();
  }

  /** Applies the outcome of a batch. `jitter` is a random number from 0 to 1. */
  settle(
    number: number,
    outcome: Outcome,
    { nowMs, jitter }: { readonly nowMs: number; readonly jitter: number },
  ): void {
    const batch = this.#inFlight.get(number);
    if (batch === undefined) return;
    this.#inFlight.delete(number);
    for (const item of batch.items) item.isInFlight = false;
    switch (outcome.what) {
      case 'delivered':
        this.#finish(batch, 'delivered');
        this.#recover();
        return;
      case 'rejected':
        this.#reject(batch, nowMs);
        return;
      case 'gone':
        this.#dropDiscarded(batch);
        this.disable(outcome);
        return;
      case 'failed':
        this.#dropDiscarded(batch);
        this.#fail(batch, outcome, { nowMs, jitter });
    }
  }

  /** Returns the batches to send now, which are in flight from here on. Nothing is sent before `notBeforeMs`. */
  step(nowMs: number, notBeforeMs = 0): QueueStep {
    if (this.#phase === 'paused' || this.#phase === 'disabled') return { send: [], wakeAtMs: Infinity };
    const startMs = this.#phase === 'failing' ? Math.max(this.#retryAtMs, notBeforeMs) : notBeforeMs;
    if (nowMs < startMs) return { send: [], wakeAtMs: this.waiting === 0 ? Infinity : startMs };
    const send: Batch[] = [];
    const concurrency = this.#phase === 'failing' ? 1 : this.#limits.concurrency;
    let wakeAtMs = Infinity;
    while (this.#inFlight.size < concurrency) {
      const picked = this.#phase === 'failing' ? this.#probe(nowMs) : this.#pick(nowMs);
      wakeAtMs = picked.wakeAtMs;
      if (picked.items.length === 0) break;
      send.push(this.#send(picked.items));
    }
    return { send, wakeAtMs };
  }

  #send(items: readonly WaitingEvent[]): Batch {
    this.#lastBatch++;
    for (const item of items) {
      item.isInFlight = true;
      item.attempts++;
    }
    this.#inFlight.set(this.#lastBatch, { items, failures: this.#failures });
    return { number: this.#lastBatch, events: items.map(({ event }) => event), attempt: items[0]?.attempts ?? 1 };
  }

  /** The two kinds of events take turns, so neither can starve the other. */
  get #isLiveFirst(): boolean {
    return this.#lastBatch % 2 !== 0;
  }

  /** Returns the next batch: the oldest events that are due, and behind no undelivered event of their lane. */
  #pick(nowMs: number): { readonly items: readonly WaitingEvent[]; readonly wakeAtMs: number } {
    const { batchMax, batchBytes, gatherMs, isolates } = this.#limits;
    const items: WaitingEvent[] = [];
    let bytes = 0;
    let wakeAtMs = Infinity;
    const later = (atMs: number): void => {
      wakeAtMs = Math.min(wakeAtMs, atMs);
    };
    for (const item of this.#waiting.eligible({ nowMs, later, liveFirst: this.#isLiveFirst })) {
      if (isolates && item.attempts > 0) {
        if (items.length === 0) return { items: [item], wakeAtMs };
        break;
      }
      if (items.length > 0 && bytes + item.bytes > batchBytes) return { items, wakeAtMs };
      items.push(item);
      bytes += item.bytes;
      if (items.length === batchMax) return { items, wakeAtMs };
    }
    const fullAtMs = (items[0]?.addedMs ?? 0) + gatherMs;
    return nowMs < fullAtMs ? { items: [], wakeAtMs: Math.min(wakeAtMs, fullAtMs) } : { items, wakeAtMs };
  }

  /** Returns the event tried least often; the whole next batch if events are not isolated. */
  #probe(nowMs: number): { readonly items: readonly WaitingEvent[]; readonly wakeAtMs: number } {
    if (!this.#limits.isolates) return this.#pick(nowMs);
    let wakeAtMs = Infinity;
    const later = (atMs: number): void => {
      wakeAtMs = Math.min(wakeAtMs, atMs);
    };
    let best: WaitingEvent | undefined;
    for (const item of this.#waiting.eligible({ nowMs, later, headsOnly: true, liveFirst: this.#isLiveFirst })) {
      if (best === undefined || item.attempts < best.attempts) best = item;
      if (best.attempts === 0) break;
    }
    return { items: best === undefined ? [] : [best], wakeAtMs };
  }

  #finish({ items }: SentBatch, as: 'delivered' | 'rejected'): void {
    for (const item of items) {
      this.#waiting.remove(item);
      if (!item.isDiscarded) this.counts[as]++;
    }
  }

  #recover(): void {
    this.#failures = 0;
    if (this.#phase !== 'failing') return;
    this.#phase = 'active';
    this.failure = undefined;
  }

  /** Rejects a single event. The events of a larger batch are sent alone, to find the one that is not accepted. */
  #reject(batch: SentBatch, nowMs: number): void {
    this.#dropDiscarded(batch);
    this.#recover();
    const items = batch.items.filter(({ isDiscarded }) => !isDiscarded);
    if (items.length === 1 || !this.#limits.isolates) this.#finish({ ...batch, items }, 'rejected');
    else for (const item of items) item.dueMs = nowMs;
  }

  #fail(
    { items, failures }: SentBatch,
    { why, problem, retryAfterMs = 0 }: Extract<Outcome, { what: 'failed' }>,
    { nowMs, jitter }: { readonly nowMs: number; readonly jitter: number },
  ): void {
    this.counts.failures++;
    const waitMs = Math.min(retryAfterMs, RETRY_AFTER_MAX_MS);
    for (const item of items) {
      const delayMs = this.#delayAfter(item.attempts, jitter);
      if (delayMs === undefined && item.event.cursor === undefined) {
        this.#drop(item);
      } else if (delayMs === undefined && !item.isDiscarded && this.#phase !== 'paused') {
        this.disable({ why: `event ${item.event.id} failed ${item.attempts} times: ${why}`, problem });
      }
      item.dueMs = nowMs + Math.max(delayMs ?? 0, waitMs);
    }
    if (this.#phase === 'paused' || this.#phase === 'disabled') return;
    this.failure = { why, problem };
    if (failures !== this.#failures) return;
    this.#failures++;
    this.#phase = 'failing';
    const delayMs = this.#delayAfter(this.#failures, jitter);
    if (delayMs === undefined) this.disable({ why, problem });
    else this.#retryAtMs = nowMs + Math.max(delayMs, waitMs);
  }

  /** Returns the delay before the attempt that follows `attempts` failed ones; undefined after the last. */
  #delayAfter(attempts: number, jitter: number): number | undefined {
    const { delaysMs, repeatsLast } = this.#limits.retries ?? STANDARD;
    const delayMs = delaysMs[repeatsLast ? Math.min(attempts, delaysMs.length - 1) : attempts];
    return delayMs === undefined ? undefined : delayMs * (1 + JITTER * jitter);
  }

  #dropDiscarded({ items }: SentBatch): void {
    for (const item of items) if (item.isDiscarded) this.#waiting.remove(item);
  }

  #discardLive(): void {
    while (this.#waiting.dropOldest()) this.counts.dropped++;
  }

  #drop(item: WaitingEvent): void {
    this.#waiting.remove(item);
    this.counts.dropped++;
  }
}
