import { type FilterFields, TOPICS, type Topic } from './topics.ts';

/** Styles of MQTT topics: with a leading slash like omlox, without one like DeepHub, or both. */
export const TOPIC_STYLES = ['slash', 'plain', 'both'] as const;
export type TopicStyle = (typeof TOPIC_STYLES)[number];

/** Prefixes of the topics of sources below `omlox/json/`: locations and proximities. */
export const SOURCE_TOPICS = ['location_updates/pub', 'proximity_updates'] as const;

/** Publications of the hub: the topic of the WebSocket API, the CRS, and whether the fields name an event. */
export const PUBLICATIONS = {
  'location_updates/local': { topic: 'location_updates', crs: 'local', isEvent: false },
  'location_updates/epsg4326': { topic: 'location_updates', crs: 'EPSG:4326', isEvent: false },
  'trackable_motions/local': { topic: 'trackable_motions', crs: 'local', isEvent: false },
  'trackable_motions/epsg4326': { topic: 'trackable_motions', crs: 'EPSG:4326', isEvent: false },
  fence_events: { topic: 'fence_events', crs: 'EPSG:4326', isEvent: true },
  collision_events: { topic: 'collision_events', crs: 'EPSG:4326', isEvent: true },
  collision_forecast: { topic: 'collision_forecast', crs: 'EPSG:4326', isEvent: false },
  zone_changes: { topic: 'zone_changes', crs: 'EPSG:4326', isEvent: true },
  fence_changes: { topic: 'fence_changes', crs: 'EPSG:4326', isEvent: true },
  trackable_changes: { topic: 'trackable_changes', crs: 'EPSG:4326', isEvent: true },
  provider_changes: { topic: 'provider_changes', crs: 'EPSG:4326', isEvent: true },
  anchor_changes: { topic: 'anchor_changes', crs: 'EPSG:4326', isEvent: true },
} as const satisfies Readonly<Record<string, { topic: Topic; crs: string; isEvent: boolean }>>;

export type Publication = keyof typeof PUBLICATIONS;
export const PUBLICATION_NAMES = Object.keys(PUBLICATIONS) as readonly Publication[];

/**
 * Returns the QoS of a publication. Events and changes are delivered at least once; a newer location supersedes a lost
 * one.
 */
export function qosOf(publication: Publication): 0 | 1 {
  return PUBLICATIONS[publication].isEvent ? 1 : 0;
}

/** Prefix of the settings that store the owner of a topic of the unified namespace. */
export const UNS_OWNER_PREFIX = 'uns_owner ';

/** Kinds of published messages that usage statistics count separately. */
export const SENT_KINDS = [
  'location_updates',
  'trackable_motions',
  'region_entry',
  'region_exit',
  'collision_start',
  'colliding',
  'collision_end',
] as const;
export type SentKind = (typeof SENT_KINDS)[number];
export type SentCounts = Readonly<Record<SentKind, number>>;

export const NOTHING_SENT = Object.fromEntries(SENT_KINDS.map((kind) => [kind, 0])) as SentCounts;

const EVENT_TYPE = TOPICS.fence_events.indexOf('event_type');
const COLLISION_TYPE = TOPICS.collision_events.indexOf('collision_type');

/**
 * Returns the kind of an event in usage statistics, by its filter fields; undefined for changes, which are not counted.
 * hot
 */
export function sentKindOf(publication: Publication, fields: FilterFields): SentKind | undefined {
  switch (PUBLICATIONS[publication].topic) {
    case 'location_updates':
      return 'location_updates';
    case 'trackable_motions':
      return 'trackable_motions';
    case 'fence_events':
      return fields[EVENT_TYPE] as SentKind;
    case 'collision_events':
      return fields[COLLISION_TYPE] as SentKind;
    default:
      return undefined;
  }
}
