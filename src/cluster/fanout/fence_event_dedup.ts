import { look } from '../../model/borrowed.ts';
import type { EventBatch } from '../../model/event_batch.ts';

/** Time that the events of a sender are remembered: while it sends more, and after its removal. */
const [KNOWN_BEATS, KNOWN_BEATS_GONE] = [30, 60] as const;
/** Most events per sender. Beyond it the oldest are forgotten, and may be delivered twice. */
const EVENTS_MAX = 100_000;

interface OfSender {
  /** Heartbeat of the delivery of each, in order of delivery. */
  readonly events: Map<string, number>;
  /** Heartbeat of its removal. */
  goneAt: number | undefined;
}

/**
 * Deduplication of fence events: ids of the events of other hubs that subscribers of this one have received in the last
 * seconds, by variant. Successors redeliver the last events of a removed owner.
 */
export class FenceEventDedup {
  readonly #senders = new Map<string, OfSender>();
  #beats = 0;

  /** Call it once a second. */
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

  /** Adds the delivered events of one variant. */
  noteAll(from: string, { variant, bytes, ends }: EventBatch): void {
    const { buffer, byteOffset, length } = look(bytes);
    const text = Buffer.from(buffer, byteOffset, length);
    let start = 0;
    for (const end of ends) {
      this.note(from, variant, eventIdOf(text.toString('latin1', start, end)));
      start = end + 1;
    }
  }

  /** Whether an event of one variant was delivered. */
  has(variant: number, id: string): boolean {
    const key = `${variant} ${id}`;
    return [...this.#senders.values()].some(({ events }) => events.has(key));
  }

  /** Adds a delivered event of one variant. */
  note(from: string, variant: number, id: string): void {
    const key = `${variant} ${id}`;
    const sender = this.#senders.get(from) ?? { events: new Map<string, number>(), goneAt: undefined };
    this.#senders.set(from, sender);
    const { events } = sender;
    events.set(key, this.#beats);
    for (const [oldest, deliveredAt] of events) {
      if (deliveredAt >= this.#beats - KNOWN_BEATS && events.size <= EVENTS_MAX) break;
      events.delete(oldest);
    }
  }
}

/** Id of a fence event in JSON or GeoJSON, where it is the first member of that name. */
export function eventIdOf(text: string): string {
  return /"id":"([^"]*)"/.exec(text)?.[1] ?? '';
}
