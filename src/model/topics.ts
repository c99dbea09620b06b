/**
 * Topics of the WebSocket API. A row lists the fields by which events of the topic can be filtered. An event has the
 * values of these fields in this order (its FilterFields), so that filters never parse its JSON.
 */
export const TOPICS = {
  location_updates: ['provider_id', 'source', 'provider_type', 'associated', 'accuracy', 'floor', 'lon', 'lat'],
  trackable_motions: ['id', 'provider_id', 'name', 'accuracy', 'floor', 'lon', 'lat'],
  fence_events: ['fence_id', 'foreign_id', 'provider_id', 'trackable_id', 'event_type', 'object_type'],
  collision_events: ['id_1', 'id_2', 'collision_type', 'floor_1', 'floor_2'],
  collision_forecast: ['id_1', 'id_2', 'floor'],
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

/** Topics rendered by the shards. Events of all other topics are rendered where they occur. */
export const SHARD_TOPICS: readonly Topic[] = [
  'location_updates',
  'trackable_motions',
  'fence_events',
  'collision_events',
];

/** Whether the shards must be notified of a subscription to the topic. */
export function isRenderedByShards(topic: Topic): boolean {
  return SHARD_TOPICS.includes(topic);
}

/** Values of a topic's filter fields, in the order of TOPICS. A field without a value is undefined. */
export type FilterFields = readonly (string | number | boolean | undefined)[];

/** Requested form of coordinates: a CRS, and for `local` the zone whose coordinates to use. */
export interface View {
  /** `EPSG:4326`, `local`, a UTM or a UPS code. */
  readonly crs: string;
  /** Id of the zone for `local`; undefined for the location's own source zone. */
  readonly zoneId?: string | undefined;
  readonly geojson?: boolean | undefined;
  /** Maximum length of a fence's properties in fence events, in characters of JSON. Longer properties are left out. */
  readonly propertiesMax?: number | undefined;
}

/** A subscribed rendering of a topic. `id` is assigned by the hub. */
export interface Variant extends View {
  readonly id: number;
  readonly topic: Topic;
  /** Whether no subscriber filters, so that events need no fields. */
  readonly unfiltered?: boolean | undefined;
  /** Events that may match subscribers; other events need not be rendered. Undefined for all events. */
  readonly wanted?: EventSelector | undefined;
}

/** Selects events by filter fields: an event matches any of the keys, of the limits or of the boxes. */
export interface EventSelector {
  readonly keys: readonly FilterKey[];
  readonly limits: readonly FilterLimit[];
  readonly boxes?: readonly FilterBox[] | undefined;
}

/** The field of a longitude, by its index, the next one of a latitude, and their bounds in degrees. */
export interface FilterBox {
  readonly at: number;
  readonly west: number;
  readonly south: number;
  /** May exceed `west` by up to 720: longitudes are compared modulo 360. */
  readonly east: number;
  readonly north: number;
}

/** Whether a position is in a box. */
// hot
export function isInBox({ west, south, east, north }: Omit<FilterBox, 'at'>, lon: number, lat: number): boolean {
  if (lat < south || lat > north) return false;
  const turn = 360 * Math.ceil((west - lon) / 360);
  return lon + turn <= east;
}

/** A field, by its index, and its allowed values, each normalized by keyOf. */
export interface FilterKey {
  readonly at: number;
  readonly values: readonly KeyValue[];
}

/** A field, by its index, and the largest number it may have. */
export interface FilterLimit {
  readonly at: number;
  readonly most: number;
}

export type KeyValue = string | number | boolean;

const UUID_LENGTH = 36;

/** Normalizes a value for filters: strings of the length of a UUID are compared case-insensitively. */
export function keyOf(value: KeyValue): KeyValue {
  return typeof value === 'string' && value.length === UUID_LENGTH ? value.toLowerCase() : value;
}

/** One event, rendered once for one variant: the payload element as JSON. */
export interface SerializedEvent {
  readonly variant: number;
  readonly fields: FilterFields;
  readonly text: string;
}
