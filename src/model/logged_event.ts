import type { Topic } from './topics.ts';

/** Topics whose events are in the event log. */
export const EVENT_TOPICS = [
  'fence_events',
  'collision_events',
  'alert_changes',
  'provider_changes',
  'trackable_changes',
  'fence_changes',
  'zone_changes',
  'anchor_changes',
] as const satisfies readonly Topic[];

export type EventTopic = (typeof EVENT_TOPICS)[number];

/** Kinds of entries in logs: events of the event log by topic, and entries of the audit log. */
export const LOG_TOPICS = [...EVENT_TOPICS, 'audit'] as const;

export type LogTopic = (typeof LOG_TOPICS)[number];

/** Whether events of the topic are in the event log. */
export function isLogged(topic: Topic): topic is EventTopic {
  return (EVENT_TOPICS as readonly Topic[]).includes(topic);
}

/** An event of the event log. */
export interface LoggedEvent {
  /** Position of the event: opaque, valid after restarts. Reading after it continues with the next event. */
  readonly cursor: string;
  /** Stable id, unique in the hub. */
  readonly id: string;
  readonly topic: EventTopic;
  /** Events with the same key are in order: id of the trackable, the provider or the entity; both ids of a collision. */
  readonly key: string;
  /** Time of the event in milliseconds since 1970. */
  readonly timeMs: number;
  /** The event as the WebSocket topic sends it, as JSON. */
  readonly json: string;
}

/** Selects events of the log. */
export interface ReadEvents {
  /** Empty for all topics. */
  readonly topics: readonly EventTopic[];
  /** Filters of WebSocket subscriptions, applied to the topics that have them. */
  readonly filters: Readonly<Record<string, string>>;
  /** Further topics, of which all events are read. */
  readonly unfiltered?: readonly EventTopic[] | undefined;
  /** Maximum number of events, up to 1,000. */
  readonly limit: number;
}

/** A part of the log. */
export interface EventPage {
  readonly events: readonly LoggedEvent[];
  /** Cursor after the last event that was examined, also if the filters exclude it. */
  readonly next: string;
  /** Whether the log has events after `next`. */
  readonly hasMore: boolean;
}

/**
 * Reads the event log.
 * @public
 */
export interface EventLogReader {
  /**
   * Returns events after a cursor, in order; without a cursor from the oldest event. Rejects with HUB_GONE
   * (`cursor_too_old`, whose params name the oldest cursor) and HUB_BAD_REQUEST (`cursor_unknown`).
   */
  read(after: string | undefined, what: ReadEvents): Promise<EventPage>;
  /** Cursor after the newest event. */
  readonly newest: string;
  /** Returns the cursor before the oldest event that was stored at or after a time. */
  cursorAt(timeMs: number): Promise<string>;
  /**
   * Calls `listener` after events were committed, at most once per turn of the event loop. Returns a function that
   * removes it.
   */
  onAppended(listener: () => void): () => void;
}
