import { type EventStream, openEventStream } from './event_stream.ts';
import type { StatusLine } from './status_line.ts';

const SUBSCRIPTIONS = [{ topic: 'fence_events' }, { topic: 'collision_events' }, { topic: 'trackable_motions' }];

/** Counts the hub's fence events, collision events and motions from now on, until the stream is closed. */
export async function countEvents(
  events: EventCounts,
  { hub, status, signal }: { hub: string; status: StatusLine; signal: AbortSignal },
): Promise<EventStream> {
  const onEvents = (topic: string, payload: readonly unknown[]) => events.add(topic, payload);
  const stream = await openEventStream(hub, { subscriptions: SUBSCRIPTIONS, onEvents, signal });
  void stream.ended.then((why) => why !== undefined && status.print(`${why}; events are not counted any more`));
  return stream;
}

/** Counts events by their type, or else by their topic. */
export class EventCounts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  add(topic: string, payload: readonly unknown[]): void {
    for (const event of payload) {
      const kind = kindOf(event) ?? topic;
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
      this.#total += 1;
    }
  }

  get total(): number {
    return this.#total;
  }

  count(kind: string): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** `region_entry 12, region_exit 9`, sorted alphabetically. */
  toString(): string {
    const entries = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return entries.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none';
  }
}

function kindOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  if ('event_type' in event && typeof event.event_type === 'string') return event.event_type;
  if ('collision_type' in event && typeof event.collision_type === 'string') return event.collision_type;
  return undefined;
}
