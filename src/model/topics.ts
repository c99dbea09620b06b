/**
 * The topics of the WebSocket API. A row lists the fields by which a topic's events can be filtered; an event carries
 * the values of these fields in this order (its FilterFields), so that nobody parses its text again.
 */
export const TOPICS = {
  location_updates: ['provider_id', 'source', 'provider_type', 'associated', 'accuracy', 'floor'],
  trackable_motions: ['id', 'provider_id', 'name', 'accuracy', 'floor'],
  fence_events: ['fence_id', 'foreign_id', 'provider_id', 'trackable_id', 'event_type', 'object_type'],
  collision_events: ['id_1', 'id_2', 'collision_type', 'floor_1', 'floor_2'],
  proximity_updates: ['provider_id', 'source', 'provider_type'],
  provider_changes: ['id', 'event_type'],
  trackable_changes: ['id', 'event_type'],
  fence_changes: ['id', 'event_type'],
  zone_changes: ['id', 'event_type'],
  anchor_changes: ['id', 'event_type'],
  xcmd_broadcast: [],
  alert_changes: [
    'id',
    'event_type',
    'rule_id',
    'state',
    'fence_id',
    'trackable_id',
    'other_trackable_id',
    'provider_id',
  ],
} as const;

export type Topic = keyof typeof TOPICS;

/** Topics that the shards render. The events of all others are rendered where they arise. */
export const SHARD_TOPICS: readonly Topic[] = [
  'location_updates',
  'trackable_motions',
  'fence_events',
  'collision_events',
];

/** Whether the shards must be told when somebody subscribes. */
export function isRenderedByShards(topic: Topic): boolean {
  return SHARD_TOPICS.includes(topic);
}

/** The values of a topic's filter fields, in the order of TOPICS; undefined where the event has no such value. */
export type FilterFields = readonly (string | number | boolean | undefined)[];

/** How coordinates are wanted: a CRS, and for `local` the zone whose coordinates they shall be. */
export interface View {
  /** `EPSG:4326`, `local`, a UTM or a UPS code. */
  readonly crs: string;
  /** Id of the zone for `local`; undefined: the location's own source zone. */
  readonly zoneId?: string | undefined;
  readonly geojson?: boolean | undefined;
  /** Fence events lack properties of the fence that are longer than that, in characters of JSON. */
  readonly propertiesMax?: number | undefined;
}

/** A rendering of a topic that somebody has subscribed to. `id` is the hub's short name for it. */
export interface Variant extends View {
  readonly id: number;
  readonly topic: Topic;
  /** Nobody filters: its events need no fields. */
  readonly unfiltered?: boolean | undefined;
  /** What somebody may get; other events need not be rendered. Undefined: all of them. */
  readonly wanted?: EventSelector | undefined;
}

/** Events that somebody may get: those that fit one of the keys or one of the limits. */
export interface EventSelector {
  readonly keys: readonly FilterKey[];
  readonly limits: readonly FilterLimit[];
}

/** A field, by its place, and the values that it may have, each as keyOf makes it. */
export interface FilterKey {
  readonly at: number;
  readonly values: readonly KeyValue[];
}

/** A field, by its place, and the greatest number that it may be. */
export interface FilterLimit {
  readonly at: number;
  readonly most: number;
}

export type KeyValue = string | number | boolean;

const UUID_LENGTH = 36;

/** A value as filters look it up: a text that may be a UUID is the same in any case. */
export function keyOf(value: KeyValue): KeyValue {
  return typeof value === 'string' && value.length === UUID_LENGTH ? value.toLowerCase() : value;
}

/** One event, rendered once for one variant: the payload element as JSON text. */
export interface SerializedEvent {
  readonly variant: number;
  readonly fields: FilterFields;
  readonly text: string;
}
