/** An event to deliver. A logged event has a cursor; a live event has none. */
export interface QueuedEvent {
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  readonly timeMs: number;
  readonly json: string;
  readonly cursor?: string;
}

/** Bounds of waiting events. */
export interface WaitingLimits {
  /** Maximum events and bytes of each kind, logged and live. */
  readonly eventsMax: number;
  readonly bytesMax: number;
  /** Which live event is dropped: an older one of the same key, or the oldest when the queue is full. */
  readonly overflow: 'newest_per_object' | 'drop_oldest';
}

/** An event in the queue, and its attempts. */
export interface WaitingEvent {
  readonly event: QueuedEvent;
  readonly lane: string;
  /** Position in the log before the event; undefined for a live event. */
  readonly before: string | undefined;
  readonly addedMs: number;
  readonly bytes: number;
  attempts: number;
  dueMs: number;
  isInFlight: boolean;
  /** Whether a replay has discarded it. It only delays its lane until its batch is settled. */
  isDiscarded: boolean;
}

/** Events of one kind, in order. */
class EventList {
  readonly items = new Set<WaitingEvent>();
  #bytes = 0;

  add(item: WaitingEvent): void {
    this.items.add(item);
    this.#bytes += item.bytes;
  }

  remove(item: WaitingEvent): void {
    if (this.items.delete(item)) this.#bytes -= item.bytes;
  }

  hasRoom({ eventsMax, bytesMax }: WaitingLimits): boolean {
    return this.items.size < eventsMax && this.#bytes < bytesMax;
  }
}

/** The events of one sink that are not delivered, within their bounds: those of the log, and live ones. */
export class WaitingEvents {
  readonly #limits: WaitingLimits;
  readonly #logged = new EventList();
  readonly #live = new EventList();
  /** The newest live event of each lane. */
  readonly #newest = new Map<string, WaitingEvent>();

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get logged(): ReadonlySet<WaitingEvent> {
    return this.#logged.items;
  }

  get size(): number {
    return this.#logged.items.size + this.#live.items.size;
  }

  /** Returns all events, those of the log first, each kind oldest first. */
  all(): readonly WaitingEvent[] {
    return [...this.#logged.items, ...this.#live.items];
  }

  /** Time of the oldest event; undefined without one. */
  get oldestMs(): number | undefined {
    const times = [this.#logged, this.#live].flatMap(({ items }) => {
      const [first] = items;
      return first === undefined ? [] : [first.event.timeMs];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Whether more logged events may be added. */
  get hasRoom(): boolean {
    return this.#logged.hasRoom(this.#limits);
  }

  /** Adds an event of the log. `before` is the position before it. */
  addLogged(
    event: QueuedEvent,
    { before, nowMs }: { readonly before: string | undefined; readonly nowMs: number },
  ): void {
    this.#logged.add(newItem(event, { lane: event.key, before, nowMs }));
  }

  /** Adds a live event, unless all others are in flight. Returns the number of dropped events. */
  addLive(event: QueuedEvent, nowMs: number): number {
    let dropped = 0;
    const item = newItem(event, { lane: `${event.topic} ${event.key}`, before: undefined, nowMs });
    const older = this.#newest.get(item.lane);
    if (this.#limits.overflow === 'newest_per_object' && older?.isInFlight === false) {
      this.remove(older);
      dropped++;
    }
    while (!this.#live.hasRoom(this.#limits) && this.dropOldest()) dropped++;
    if (!this.#live.hasRoom(this.#limits)) return dropped + 1;
    this.#live.add(item);
    this.#newest.set(item.lane, item);
    return dropped;
  }

  remove(item: WaitingEvent): void {
    this.#logged.remove(item);
    this.#live.remove(item);
    if (this.#newest.get(item.lane) === item) this.#newest.delete(item.lane);
  }

  /** Drops the oldest live event that is not in flight. Returns false if all are in flight. */
  dropOldest(): boolean {
    for (const item of this.#live.items) {
      if (item.isInFlight) continue;
      this.remove(item);
      return true;
    }
    return false;
  }

  /** Returns the events that may be sent; with `headsOnly` at most one of each lane. */
  *eligible({ nowMs, later, liveFirst, headsOnly = false }: Eligible): Generator<WaitingEvent> {
    const blocked = new Set<string>();
    const lists = liveFirst ? [this.#live, this.#logged] : [this.#logged, this.#live];
    for (const { items } of lists) {
      for (const item of items) {
        if (blocked.has(item.lane)) continue;
        if (item.isInFlight || item.dueMs > nowMs) {
          blocked.add(item.lane);
          if (!item.isInFlight) later(item.dueMs);
          continue;
        }
        if (headsOnly) blocked.add(item.lane);
        yield item;
      }
    }
  }
}

/** Which events may be sent. */
interface Eligible {
  readonly nowMs: number;
  readonly liveFirst: boolean;
  readonly headsOnly?: boolean;
  /** Receives the times at which further events are due. */
  later(atMs: number): void;
}

function newItem(
  event: QueuedEvent,
  { lane, before, nowMs }: { readonly lane: string; readonly before: string | undefined; readonly nowMs: number },
): WaitingEvent {
  const bytes = event.json.length + 200;
  return {
    event,
    lane,
    before,
    addedMs: nowMs,
    bytes,
    attempts: 0,
    dueMs: 0,
    isInFlight: false,
    isDiscarded: false,
  };
}
