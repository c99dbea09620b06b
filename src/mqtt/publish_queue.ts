import type { Publishing } from './messages.ts';

/**
 * What is to be published and the broker has not taken yet, bounded by its bytes.
 *
 *     offer ─┬─ its topic had one within minIntervalMs ─▶ held ──(due)──┐
 *            │                                                          ▼
 *            ├─ QoS 0 ───────────────────────────────────────────▶ newest ──▶ takeNewest
 *            └─ QoS 1 ───────────────────────────────────────────▶ events ──▶ takeEvent ──▶ under way ──▶ ended
 *
 * Of QoS 0 only the newest of a topic waits, at the place of the first: that is what `replaced` counts. QoS 1 waits in its
 * order. Beyond the bound the oldest of QoS 0 goes, then what is held, then the oldest of QoS 1: `dropped`, as is what is of
 * no use any more when its turn comes.
 */
export class PublishQueue {
  readonly #bytesMax: number;
  readonly #newest = new Map<string, Publishing>();
  readonly #events: Waiting[] = [];
  /** Where the first event is: those before it were taken. */
  #first = 0;
  readonly #held = new Map<string, Publishing>();
  /** Topics that had one within their interval, and when that is over. In the order of that for each interval. */
  readonly #pauses = new Map<number, Pause[]>();
  readonly #paused = new Set<string>();
  #bytes = 0;
  replaced = 0;
  dropped = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Messages that wait, and their bytes with those under way. */
  get waiting(): number {
    return this.#newest.size + this.#held.size + this.#events.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether something of QoS 0 waits under the topic: another one would take its place. */
  has(topic: string): boolean {
    return this.#newest.has(topic);
  }

  /** hot */
  offer(publishing: Publishing, nowMs: number): void {
    const { topic, minIntervalMs } = publishing;
    if (minIntervalMs > 0 && this.#paused.has(topic)) {
      this.#put(this.#held, publishing);
    } else {
      if (minIntervalMs > 0) this.#pause(topic, minIntervalMs, nowMs);
      // What must not wait has the last word.
      else if (this.#held.size > 0) this.#drop(this.#held, topic);
      this.#wait(publishing, nowMs);
    }
    while (this.#bytes > this.#bytesMax && this.#dropOldest(nowMs));
  }

  /** Lets what was held wait for the broker, as far as it is due. */
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

  /** The next of QoS 0. It is gone from the queue. hot */
  takeNewest(): Publishing | undefined {
    for (const [topic, publishing] of this.#newest) {
      this.#drop(this.#newest, topic);
      return publishing;
    }
    return undefined;
  }

  /** The next of QoS 1, with the rest of its life. It counts with its bytes until it has ended. */
  takeEvent(nowMs: number): Publishing | undefined {
    for (;;) {
      const waiting = this.#events[this.#first];
      if (waiting === undefined) return undefined;
      this.#first++;
      if (this.#first > TAKEN_MAX && this.#first * 2 > this.#events.length) this.#cut();
      const { event, untilMs } = waiting;
      if (untilMs === undefined) return event;
      // The same size, and so the same bytes, as what has come.
      if (untilMs > nowMs) return { ...event, lifeMs: untilMs - nowMs };
      this.ended(event);
      this.dropped++;
    }
  }

  /** The broker has taken an event, or refused it. */
  ended(event: Publishing): void {
    this.#bytes -= bytesOf(event);
  }

  /**
   * The connection has ended. Events that were under way are the first again, in their order; those that belong to it are
   * dropped, these as well as those that wait.
   */
  disconnected(underWay: readonly Publishing[]): void {
    this.#cut();
    const all: Waiting[] = [...underWay.map((event) => ({ event, untilMs: endOf(event, 0) })), ...this.#events];
    const kept = all.filter(({ untilMs }) => untilMs === undefined);
    for (const { event, untilMs } of all) if (untilMs !== undefined) this.ended(event);
    this.dropped += all.length - kept.length;
    this.#events.splice(0, this.#events.length, ...kept);
  }

  /** Forgets the places of those that were taken. */
  #cut(): void {
    this.#events.splice(0, this.#first);
    this.#first = 0;
  }

  #wait(publishing: Publishing, nowMs: number): void {
    if (publishing.qos === 0) this.#put(this.#newest, publishing);
    else {
      this.#events.push({ event: publishing, untilMs: endOf(publishing, nowMs) });
      this.#bytes += bytesOf(publishing);
    }
  }

  #put(into: Map<string, Publishing>, publishing: Publishing): void {
    const before = into.get(publishing.topic);
    if (before !== undefined) {
      this.replaced++;
      this.#bytes -= bytesOf(before);
    }
    into.set(publishing.topic, publishing);
    this.#bytes += bytesOf(publishing);
  }

  #drop(from: Map<string, Publishing>, topic: string): void {
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
  readonly event: Publishing;
  /** When it is of no use any more; undefined: never. */
  readonly untilMs: number | undefined;
}

function endOf({ lifeMs }: Publishing, nowMs: number): number | undefined {
  return lifeMs === 0 ? undefined : nowMs + lifeMs;
}

/** How many places of events that were taken may be left behind. */
const TAKEN_MAX = 1000;

interface Pause {
  readonly topic: string;
  readonly untilMs: number;
}

/** What a waiting message takes besides its texts, about. */
const MESSAGE_BYTES = 100;

function bytesOf({ topic, payload }: Publishing): number {
  return MESSAGE_BYTES + topic.length + payload.length;
}
