import { TOPICS, type Topic } from '../model/topics.ts';

/** A parsed topic name: a topic, and whether its payload is GeoJSON. */
export interface TopicName {
  readonly topic: Topic;
  readonly geojson: boolean;
}

/** Topics with a GeoJSON form, because their events have a position. */
const GEOJSON_TOPICS: readonly Topic[] = ['location_updates', 'trackable_motions', 'fence_events'];

const NAMES: ReadonlyMap<string, TopicName> = new Map<string, TopicName>([
  ...(Object.keys(TOPICS) as Topic[]).map((topic) => [topic, { topic, geojson: false }] as const),
  ...GEOJSON_TOPICS.map((topic) => [`${topic}:geojson`, { topic, geojson: true }] as const),
]);

/** All topic names that clients may use. */
export const TOPIC_NAMES: readonly string[] = [...NAMES.keys()];

/** Parses a topic name, such as `fence_events:geojson`; undefined if there is no such topic. */
export function topicName(name: unknown): TopicName | undefined {
  return typeof name === 'string' ? NAMES.get(name) : undefined;
}

/** Whether the topic has a GeoJSON form. */
export function hasGeojson(topic: Topic): boolean {
  return GEOJSON_TOPICS.includes(topic);
}
