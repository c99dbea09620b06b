import type { Topic } from './topics.ts';

/** How MQTT topics are written: with a leading slash as omlox does, without as DeepHub does, or both. */
export const TOPIC_STYLES = ['slash', 'plain', 'both'] as const;
export type TopicStyle = (typeof TOPIC_STYLES)[number];

/** What the hub can publish: the topic of the hub, the CRS, and the place of the fields that name the MQTT topic. */
export const PUBLICATIONS = {
  'location_updates/local': { topic: 'location_updates', crs: 'local', isEvent: false },
  'location_updates/epsg4326': { topic: 'location_updates', crs: 'EPSG:4326', isEvent: false },
  'trackable_motions/local': { topic: 'trackable_motions', crs: 'local', isEvent: false },
  'trackable_motions/epsg4326': { topic: 'trackable_motions', crs: 'EPSG:4326', isEvent: false },
  fence_events: { topic: 'fence_events', crs: 'EPSG:4326', isEvent: true },
  collision_events: { topic: 'collision_events', crs: 'EPSG:4326', isEvent: true },
  zone_changes: { topic: 'zone_changes', crs: 'EPSG:4326', isEvent: true },
  fence_changes: { topic: 'fence_changes', crs: 'EPSG:4326', isEvent: true },
  trackable_changes: { topic: 'trackable_changes', crs: 'EPSG:4326', isEvent: true },
  provider_changes: { topic: 'provider_changes', crs: 'EPSG:4326', isEvent: true },
  anchor_changes: { topic: 'anchor_changes', crs: 'EPSG:4326', isEvent: true },
} as const satisfies Readonly<Record<string, { topic: Topic; crs: string; isEvent: boolean }>>;

export type Publication = keyof typeof PUBLICATIONS;
export const PUBLICATION_NAMES = Object.keys(PUBLICATIONS) as readonly Publication[];

/** Events and changes are told at least once; of places a newer one follows. */
export function qosOf(publication: Publication): 0 | 1 {
  return PUBLICATIONS[publication].isEvent ? 1 : 0;
}
