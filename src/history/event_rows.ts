import type { CollisionEvent, FenceEvent } from '../model/events.ts';
import { parseJson } from '../model/json.ts';

/** Value of a column: a string, a number, a time in milliseconds since 1970, or unknown. */
export type ColumnValue = string | number | undefined;

/** Row of an event, by the columns of its topic (columns.ts). */
export interface EventRow {
  /** Time of the event, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly values: Readonly<Record<string, ColumnValue>>;
}

export type EventTopic = 'fence_events' | 'collision_events';

/**
 * Returns the row of an event, given its published JSON. `properties` is a reference to long properties that were
 * omitted from the JSON. Throws a SyntaxError if `text` is not valid JSON.
 */
export function eventRow(topic: EventTopic, text: string, properties?: string): EventRow {
  return topic === 'fence_events'
    ? fenceEventRow(parseJson(text) as FenceEvent, text, properties)
    : collisionRow(parseJson(text) as CollisionEvent, text);
}

function fenceEventRow(event: FenceEvent, text: string, properties: string | undefined): EventRow {
  const entry = msOf(event.entry_time);
  const exit = msOf(event.exit_time);
  const trackable = event.trackable_id ?? undefined;
  const provider = event.provider_id ?? undefined;
  const time = exit ?? entry ?? 0;
  return {
    timeMs: time,
    values: {
      time,
      id: event.id,
      event_type: event.event_type,
      fence_id: event.fence_id,
      foreign_id: event.foreign_id ?? undefined,
      object_type: trackable === undefined ? 'provider' : 'trackable',
      object_id: trackable ?? provider,
      trackable_id: trackable,
      provider_id: provider,
      trackables: event.trackables == null ? undefined : JSON.stringify(event.trackables),
      entry_time: entry,
      exit_time: exit,
      properties: event.properties == null ? properties : JSON.stringify(event.properties),
      event: text,
    },
  };
}

function collisionRow(event: CollisionEvent, text: string): EventRow {
  const [first, second] = event.collisions;
  const start = msOf(event.start_time);
  const moment = msOf(event.collision_time);
  const end = msOf(event.end_time);
  const [longitude, latitude] = first?.position?.coordinates ?? [];
  const time = end ?? moment ?? start ?? 0;
  return {
    timeMs: time,
    values: {
      time,
      id: event.id,
      collision_type: event.collision_type,
      trackable_1: first?.id,
      trackable_2: second?.id,
      start_time: start,
      collision_time: moment,
      end_time: end,
      longitude,
      latitude,
      distance: event.center_distance,
      event: text,
    },
  };
}

function msOf(time: string | null | undefined): number | undefined {
  return time == null ? undefined : Date.parse(time);
}
