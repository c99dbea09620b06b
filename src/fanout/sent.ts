import { type FilterFields, TOPICS, type Topic } from '../model/topics.ts';

/** What was handed to subscribers of a topic in one form, plain or GeoJSON, since the start. */
export interface Sent {
  events: number;
  /** When the last was sent, in milliseconds since 1970; 0 before the first. */
  lastMs: number;
  /** Events of a topic whose events are of several kinds, by kind. */
  readonly byKind: Map<string, number>;
}

/** The filter fields that say of which kind an event is. */
const KIND_FIELDS: { readonly [T in Topic]?: number } = {
  fence_events: TOPICS.fence_events.indexOf('event_type'),
  collision_events: TOPICS.collision_events.indexOf('collision_type'),
};

export function nothingSent(): Sent {
  return { events: 0, lastMs: 0, byKind: new Map() };
}

/** Whether the events of a topic are counted by kind. */
export function hasKinds(topic: Topic): boolean {
  return KIND_FIELDS[topic] !== undefined;
}

/** Counts events that went to `times` subscriptions each, by kind where their fields say one. hot */
export function countSent(
  sent: Sent,
  topic: Topic,
  { count, fields }: { readonly count: number; readonly fields: readonly FilterFields[] | undefined },
  times: number,
): void {
  sent.events += count * times;
  const kindField = KIND_FIELDS[topic];
  if (kindField === undefined || fields === undefined) return;
  for (const event of fields) {
    const kind = String(event[kindField]);
    sent.byKind.set(kind, (sent.byKind.get(kind) ?? 0) + times);
  }
}
