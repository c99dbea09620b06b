import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';

/** For how long the events of a sender are known: as long as it sends more, and when it is gone. */
const [KNOWN_BEATS, KNOWN_BEATS_GONE] = [30, 60] as const;
/** Of one sender. With more than these the oldest are forgotten, and may be told twice. */
const EVENTS_MAX = 100_000;

interface OfSender {
  /** When each was told, in the order in which they were. */
  readonly events: Map<string, number>;
  /** When it was gone. */
  goneAt: number | undefined;
}

/**
 * Which fence events of other hubs the subscribers of this one were told of in the last seconds, by variant: when their owner
 * is gone, its heirs announce its last ones again.
 */
export class ToldFenceEvents {
  readonly #senders = new Map<string, OfSender>();
  #beats = 0;

  /** To be called once a second. */
  beat(): void {
    this.#beats++;
    for (const [from, { goneAt }] of this.#senders) {
      if (goneAt !== undefined && goneAt < this.#beats - KNOWN_BEATS_GONE) this.#senders.delete(from);
    }
  }

  gone(from: string): void {
    const sender = this.#senders.get(from);
    if (sender !== undefined) sender.goneAt = this.#beats;
  }

  /** Events of one variant are told. */
  noteAll(from: string, { variant, bytes, ends }: EventBatch): void {
    const { buffer, byteOffset, length } = look(bytes);
    const text = Buffer.from(buffer, byteOffset, length);
    let start = 0;
    for (const end of ends) {
      this.note(from, variant, eventIdOf(text.toString('latin1', start, end)));
      start = end + 1;
    }
  }

  /** Whether an event of one variant was told. */
  has(variant: number, id: string): boolean {
    const key = `${variant} ${id}`;
    return [...this.#senders.values()].some(({ events }) => events.has(key));
  }

  /** An event of one variant is told. */
  note(from: string, variant: number, id: string): void {
    const key = `${variant} ${id}`;
    const sender = this.#senders.get(from) ?? { events: new Map<string, number>(), goneAt: undefined };
    this.#senders.set(from, sender);
    const { events } = sender;
    events.set(key, this.#beats);
    for (const [oldest, toldAt] of events) {
      if (toldAt >= this.#beats - KNOWN_BEATS && events.size <= EVENTS_MAX) break;
      events.delete(oldest);
    }
  }
}

/** The id of a fence event, by its text as JSON or GeoJSON, in which nothing before it has an id. */
export function eventIdOf(text: string): string {
  return /"id":"([^"]*)"/.exec(text)?.[1] ?? '';
}
