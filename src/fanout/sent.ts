import { type FilterFields, TOPICS, type Topic } from '../model/topics.ts';

/** Events sent to subscribers of a topic since start, in one form: plain or GeoJSON. */
export interface SentCount {
  events: number;
  /** Time of the last event in milliseconds since 1970; 0 before the first. */
  lastMs: number;
  /** Number of events by kind, for topics with several kinds. */
  readonly byKind: Map<string, number>;
}

/** Index of the filter field that contains the kind of an event. */
const KIND_FIELDS: { readonly [T in Topic]?: number } = {
  fence_events: TOPICS.fence_events.indexOf('event_type'),
  collision_events: TOPICS.collision_events.indexOf('collision_type'),
};

export function nothingSent(): SentCount {
  return { events: 0, lastMs: 0, byKind: new Map() };
}

/** Whether the events of a topic are counted by kind. */
export function hasKinds(topic: Topic): boolean {
  return KIND_FIELDS[topic] !== undefined;
}

/** Counts events sent to `times` subscriptions each, by kind if their fields contain one. hot */
export function countSent(
  sent: SentCount,
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
