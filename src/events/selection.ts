import { hubError } from '../errors.ts';
import { compileFilter, type Filter } from '../fanout/filter.ts';
import { show } from '../model/error_value_text.ts';
import { EVENT_TOPICS, type EventTopic, type LogTopic, type ReadEvents } from '../model/logged_event.ts';

/** How a reader sees the events of one topic. */
export interface TopicSelection {
  /** Undefined for all events of the topic. */
  readonly filter?: Filter | undefined;
  /** Returns the JSON of an event for the reader: converted, and without what it may not see; undefined to skip it. */
  readonly rewrite?: ((json: string) => string | undefined) | undefined;
}

/** The selected topics. Events of other topics are not selected. */
export type Selection = ReadonlyMap<LogTopic, TopicSelection>;

/** Returns a topic of the event log. Throws HUB_BAD_REQUEST for any other value of the parameter `path`. */
export function eventTopic(value: unknown, path: string): EventTopic {
  const topic = EVENT_TOPICS.find((name) => name === value);
  if (topic !== undefined) return topic;
  throw hubError('out_of_choices', { path, allowed: EVENT_TOPICS, found: show(value) });
}

/**
 * Compiles topics and filters. As in subscriptions, a topic ignores filters that it does not have. Throws
 * HUB_BAD_REQUEST with the name of an invalid filter.
 */
export function selectionOf({ topics, filters, unfiltered = [] }: Omit<ReadEvents, 'limit'>): Selection {
  const isAll = topics.length === 0 && unfiltered.length === 0;
  const selected = isAll ? EVENT_TOPICS : topics;
  return new Map([
    ...selected.map((topic) => [topic, { filter: compileFilter(topic, filters) }] as const),
    ...unfiltered.map((topic) => [topic, {}] as const),
  ]);
}
