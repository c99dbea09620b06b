import { HubError, messageOf } from '../errors.ts';
import type { LinkProgress } from '../model/link.ts';
import type { Peer } from '../remote/remote_api.ts';
import { EventPassage, type KnownEvents, type LinkedEvent } from './event_passage.ts';

export interface LinkEventsDeps {
  /** Id of this hub. */
  readonly hubId: string;
  readonly idPrefix: string;
  readonly known: KnownEvents;
  /** How far the other hub's log was read, as stored; undefined if it never was. */
  stored(): LinkProgress | undefined;
  /**
   * Stores events with the progress, so that a crash loses both or neither, and publishes them. Resolves with why events
   * were rejected. Rejects with HUB_UNAVAILABLE if nothing was stored.
   */
  accept(events: readonly LinkedEvent[], progress: LinkProgress | undefined): Promise<readonly string[]>;
  schedule(delayMs: number, callback: () => void): () => void;
  now(): number;
  /** Reports a problem that does not concern the connection. */
  problem(why: string): void;
}

/** Events of one message. */
interface Taken {
  readonly events: readonly LinkedEvent[];
  /** After the message; undefined if the other hub has no cursors. */
  readonly progress: LinkProgress | undefined;
}

/** Maximum number of events that wait, and of those that are stored at once. */
const WAITING_MAX = 20_000;
const BATCH_MAX = 200;
const RETRY_MS = 100;

/**
 * Fence events of another hub, which this hub publishes as those of a third party. A hub with an event log is read after
 * a cursor, which is stored with the events: an outage or a crash neither loses nor repeats one.
 *
 *   the other hub           | first subscription   | later ones
 *   ------------------------+----------------------+----------------------------------------------------------------
 *   reports an id           | after the newest     | after the last cursor received; after the oldest one if events
 *                           | event                | were removed; after the newest one if it knows no such cursor
 *   has no event log        | from now on          | from now on
 *   speaks only omlox       | from now on          | from now on
 *
 * A gap is counted if events may be missing. Events that this hub cannot store wait. If there are too many of them, they are
 * dropped, and read again after the last stored one.
 */
export class LinkEvents {
  readonly counts = { accepted: 0, rejected: 0, dropped: 0 };
  readonly gaps: { count: number; lastMs: number | undefined } = { count: 0, lastMs: undefined };
  readonly #deps: LinkEventsDeps;
  #passage: EventPassage | undefined;
  #peer: Peer | undefined;
  /** After the last message received, and after the last one stored. */
  #received: LinkProgress | undefined;
  #stored: LinkProgress | undefined;
  /** Begin of a subscription without a usable cursor; `now` for a hub without an event log. */
  #begin: 'newest' | 'oldest' | 'now' = 'newest';
  #hasStarted = false;
  #wasLive = false;
  #queue: Taken[] = [];
  #inFlight: Taken | undefined;
  #isScheduled = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(deps: LinkEventsDeps) {
    this.#deps = deps;
  }

  get passed(): EventPassage['counts'] {
    return this.#passage?.counts ?? { received: 0, duplicates: 0, looped: 0, malformed: 0 };
  }

  /** Number of events that wait. */
  get size(): number {
    return [...this.#queue, this.#inFlight].reduce((sum, taken) => sum + (taken?.events.length ?? 0), 0);
  }

  /** The hub at the other end of the next subscription. */
  identified(peer: Peer): void {
    const isOther = this.#peer?.hubId !== peer.hubId;
    this.#peer = peer;
    this.#begin = peer.hasId === true ? 'newest' : 'now';
    if (!this.#hasStarted) this.#received = this.#stored = this.#deps.stored();
    this.#hasStarted = true;
    if (!isOther && this.#passage !== undefined) return;
    const { hubId, idPrefix, known } = this.#deps;
    this.#passage = new EventPassage({ hubId, idPrefix, peerId: peer.hubId }, known);
  }

  /** Params of the next subscription. */
  params(): { readonly after?: string } {
    if (this.#begin === 'now') {
      if (this.#wasLive || this.#received !== undefined) this.#gap();
      this.#wasLive = true;
      return {};
    }
    const { hub, cursor } = this.#received ?? {};
    // A cursor of another hub, which the URL led to before.
    return { after: hub === this.#peer?.hubId && cursor !== undefined ? cursor : this.#begin };
  }

  /** Handles an error of the subscription. Returns whether to subscribe again. */
  failed(reason: unknown): boolean {
    switch (reason) {
      case 'cursor_too_old':
        this.#begin = 'oldest';
        break;
      case 'cursor_unknown':
      case 'cursor_of_other_hub':
        this.#begin = 'newest';
        break;
      case 'event_log_off':
        // The next subscription notes the gap.
        this.#begin = 'now';
        return true;
      default:
        return false;
    }
    this.#gap();
    this.#received = undefined;
    return true;
  }

  /** Takes a message. Returns false if too many events wait: then they are dropped, and the link must subscribe again. */
  take(payload: readonly unknown[], cursor: unknown): boolean {
    if (this.#isClosed || this.#passage === undefined || this.#peer === undefined) return true;
    const events = this.#passage.take(payload);
    const progress = typeof cursor === 'string' ? { hub: this.#peer.hubId, cursor } : undefined;
    if (progress === undefined && events.length === 0) return true;
    this.#received = progress;
    this.#queue.push({ events, progress });
    this.#later(0);
    if (this.size <= WAITING_MAX) return true;
    this.#drop();
    return false;
  }

  /** Drops the events that wait. Resolves when those in flight are stored. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    this.#drop();
    await this.#work;
  }

  #drop(): void {
    for (const { events } of this.#queue) {
      for (const { id } of events) this.#deps.known.delete(id);
      this.counts.dropped += events.length;
    }
    this.#queue = [];
    this.#received = this.#inFlight?.progress ?? this.#stored;
  }

  #gap(): void {
    this.gaps.count++;
    this.gaps.lastMs = this.#deps.now();
  }

  #later(delayMs: number): void {
    if (this.#isScheduled || this.#inFlight !== undefined || this.#isClosed) return;
    this.#isScheduled = true;
    this.#cancel = this.#deps.schedule(delayMs, () => {
      this.#isScheduled = false;
      this.#work = this.#send();
    });
  }

  /** Stores one batch, and then schedules the next one. */
  async #send(): Promise<void> {
    const batch = this.#nextBatch();
    const { accept, problem } = this.#deps;
    this.#inFlight = batch;
    let delayMs = 0;
    try {
      const rejected = await accept(batch.events, batch.progress);
      this.counts.accepted += batch.events.length - rejected.length;
      this.counts.rejected += rejected.length;
      this.#stored = batch.progress ?? this.#stored;
      if (rejected[0] !== undefined) problem(rejected[0]);
    } catch (error) {
      problem(messageOf(error));
      delayMs = RETRY_MS;
      if (!(error instanceof HubError && error.code === 'HUB_UNAVAILABLE')) this.counts.rejected += batch.events.length;
      else this.#queue.unshift(batch);
      if (this.#isClosed) this.#drop();
    }
    this.#inFlight = undefined;
    if (this.#queue.length > 0) this.#later(delayMs);
  }

  /** The next messages, of limited size, as one. */
  #nextBatch(): Taken {
    const events: LinkedEvent[] = [];
    let progress: LinkProgress | undefined;
    for (let taken = this.#queue[0]; taken !== undefined; taken = this.#queue[0]) {
      if (events.length > 0 && events.length + taken.events.length > BATCH_MAX) break;
      events.push(...taken.events);
      progress = taken.progress ?? progress;
      this.#queue.shift();
    }
    return { events, progress };
  }
}
