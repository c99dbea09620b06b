import { hubError } from '../../src/errors.ts';
import type { EventLogReader, EventPage, EventTopic, LoggedEvent, ReadEvents } from '../../src/model/logged_event.ts';

/** An event log in memory. A cursor is `c` with the number of events before it. */
export class MemoryLog implements EventLogReader {
  readonly #events: LoggedEvent[] = [];
  readonly #listeners = new Set<() => void>();
  /** Number of the oldest event that is still in the log. */
  oldest = 0;
  reads = 0;

  get newest(): string {
    return `c${this.#events.length}`;
  }

  append(key: string, topic: EventTopic = 'fence_events', json?: string): LoggedEvent {
    const number = this.#events.length + 1;
    const event = {
      cursor: `c${number}`,
      id: `e${number}`,
      topic,
      key,
      timeMs: number,
      json: json ?? `{"n":${number}}`,
    };
    this.#events.push(event);
    for (const each of this.#listeners) each();
    return event;
  }

  async read(after: string | undefined, { topics, limit }: ReadEvents): Promise<EventPage> {
    this.reads++;
    const from = after === undefined ? this.oldest : Number(after.slice(1));
    if (!Number.isInteger(from)) throw hubError('cursor_unknown', { path: 'after', found: JSON.stringify(after) });
    // The reason of the event log has other params.
    if (from < this.oldest)
      throw hubError('cursor_unknown', { path: 'after', found: `too old, oldest c${this.oldest}` });
    const examined = this.#events.slice(from, from + limit);
    const events = examined.filter(({ topic }) => topics.length === 0 || topics.includes(topic));
    const reached = from + examined.length;
    return { events, next: `c${reached}`, hasMore: reached < this.#events.length };
  }

  async cursorAt(timeMs: number): Promise<string> {
    const index = this.#events.findIndex((event) => event.timeMs >= timeMs);
    return `c${index < 0 ? this.#events.length : index}`;
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
