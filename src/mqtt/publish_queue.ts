import type { OutgoingMessage } from './messages.ts';

/**
 * Queue of messages that the broker has not accepted yet, bounded in bytes.
 *
 *     offer ─┬─ its topic had one within minIntervalMs ─▶ held ──(due)──┐
 *            │                                                          ▼
 *            ├─ QoS 0 ───────────────────────────────────────────▶ newest ──▶ takeNewest
 *            └─ QoS 1 ───────────────────────────────────────────▶ events ──▶ takeEvent ──▶ in flight ──▶ ended
 *
 * Only the newest QoS 0 message of a topic waits, at the position of the first one; `replaced` counts the others. QoS 1
 * messages wait in order. Beyond the bound, the oldest QoS 0 messages are dropped first, then held ones, then the
 * oldest QoS 1 messages. `dropped` counts these and messages that have expired in the queue.
 */
export class PublishQueue {
  readonly #bytesMax: number;
  readonly #newest = new Map<string, OutgoingMessage>();
  readonly #events: Waiting[] = [];
  /** Index of the first waiting event. */
  #first = 0;
  readonly #held = new Map<string, OutgoingMessage>();
  /** Topics within their interval, by interval, in order of expiry. */
  readonly #pauses = new Map<number, Pause[]>();
  readonly #paused = new Set<string>();
  #bytes = 0;
  replaced = 0;
  dropped = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Number of waiting messages. Unlike `bytes`, it does not include messages in flight. */
  get waiting(): number {
    return this.#newest.size + this.#held.size + this.#events.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a QoS 0 message of the topic is waiting, which a newer one would replace. */
  has(topic: string): boolean {
    return this.#newest.has(topic);
  }

  /** hot */
  offer(publishing: OutgoingMessage, nowMs: number): void {
    const { topic, minIntervalMs } = publishing;
    if (minIntervalMs > 0 && this.#paused.has(topic)) {
      this.#put(this.#held, publishing);
    } else {
      if (minIntervalMs > 0) this.#pause(topic, minIntervalMs, nowMs);
      // A message without an interval replaces a held one.
      else if (this.#held.size > 0) this.#drop(this.#held, topic);
      this.#wait(publishing, nowMs);
    }
    while (this.#bytes > this.#bytesMax && this.#dropOldest(nowMs));
  }

  /** Queues held messages whose interval has passed. */
  due(nowMs: number): void {
    for (const [intervalMs, pauses] of this.#pauses) {
      let over = 0;
      while (over < pauses.length && (pauses[over] as Pause).untilMs <= nowMs) over++;
      if (over === 0) continue;
      for (const { topic } of pauses.splice(0, over)) {
        this.#paused.delete(topic);
        const held = this.#held.get(topic);
        if (held === undefined) continue;
        this.#drop(this.#held, topic);
        this.#pause(topic, intervalMs, nowMs);
        this.#wait(held, nowMs);
      }
      if (pauses.length === 0) this.#pauses.delete(intervalMs);
    }
  }

  /** Removes and returns the next QoS 0 message. hot */
  takeNewest(): OutgoingMessage | undefined {
    for (const [topic, publishing] of this.#newest) {
      this.#drop(this.#newest, topic);
      return publishing;
    }
    return undefined;
  }

  /** Returns the next QoS 1 message, with its remaining expiry interval. Its bytes count until `ended`. */
  takeEvent(nowMs: number): OutgoingMessage | undefined {
    for (;;) {
      const waiting = this.#events[this.#first];
      if (waiting === undefined) return undefined;
      this.#first++;
      if (this.#first > TAKEN_MAX && this.#first * 2 > this.#events.length) this.#cut();
      const { event, untilMs } = waiting;
      if (untilMs === undefined) return event;
      // The copy has the same size, so `ended` subtracts the same number of bytes.
      if (untilMs > nowMs) return { ...event, lifeMs: untilMs - nowMs };
      this.ended(event);
      this.dropped++;
    }
  }

  /** Removes an event that the broker has accepted or rejected. */
  ended(event: OutgoingMessage): void {
    this.#bytes -= bytesOf(event);
  }

  /**
   * Handles a closed connection: events in flight return to the head of the queue, in order. Events that belong to the
   * connection are dropped, whether in flight or waiting.
   */
  disconnected(underWay: readonly OutgoingMessage[]): void {
    this.#cut();
    const all: Waiting[] = [...underWay.map((event) => ({ event, untilMs: endOf(event, 0) })), ...this.#events];
    const kept = all.filter(({ untilMs }) => untilMs === undefined);
    for (const { event, untilMs } of all) if (untilMs !== undefined) this.ended(event);
    this.dropped += all.length - kept.length;
    this.#events.splice(0, this.#events.length, ...kept);
  }

  /** Removes the slots of taken events. */
  #cut(): void {
    this.#events.splice(0, this.#first);
    this.#first = 0;
  }

  #wait(publishing: OutgoingMessage, nowMs: number): void {
    if (publishing.qos === 0) this.#put(this.#newest, publishing);
    else {
      this.#events.push({ event: publishing, untilMs: endOf(publishing, nowMs) });
      this.#bytes += bytesOf(publishing);
    }
  }

  #put(into: Map<string, OutgoingMessage>, publishing: OutgoingMessage): void {
    const before = into.get(publishing.topic);
    if (before !== undefined) {
      this.replaced++;
      this.#bytes -= bytesOf(before);
    }
    into.set(publishing.topic, publishing);
    this.#bytes += bytesOf(publishing);
  }

  #drop(from: Map<string, OutgoingMessage>, topic: string): void {
    const publishing = from.get(topic);
    if (publishing === undefined) return;
    from.delete(topic);
    this.#bytes -= bytesOf(publishing);
  }

  #pause(topic: string, intervalMs: number, nowMs: number): void {
    this.#paused.add(topic);
    const pauses = this.#pauses.get(intervalMs) ?? [];
    pauses.push({ topic, untilMs: nowMs + intervalMs });
    this.#pauses.set(intervalMs, pauses);
  }

  #dropOldest(nowMs: number): boolean {
    const from = this.#newest.size > 0 ? this.#newest : this.#held;
    const { value: topic } = from.keys().next();
    if (topic !== undefined) this.#drop(from, topic);
    else {
      const event = this.takeEvent(nowMs);
      if (event === undefined) return false;
      this.ended(event);
    }
    this.dropped++;
    return true;
  }
}

interface Waiting {
  readonly event: OutgoingMessage;
  /** Expiry time; undefined for none. */
  readonly untilMs: number | undefined;
}

function endOf({ lifeMs }: OutgoingMessage, nowMs: number): number | undefined {
  return lifeMs === 0 ? undefined : nowMs + lifeMs;
}

/** Maximum number of empty slots of taken events. */
const TAKEN_MAX = 1000;

interface Pause {
  readonly topic: string;
  readonly untilMs: number;
}

/** Approximate memory of a waiting message besides its strings. */
const MESSAGE_BYTES = 100;

function bytesOf({ topic, payload }: OutgoingMessage): number {
  return MESSAGE_BYTES + topic.length + payload.length;
}
