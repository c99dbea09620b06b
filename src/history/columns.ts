import type { HistoryTopic } from '../model/history.ts';

/** The columns of the files, by topic, in their order. Times are UTC, in microseconds; null is what is not known. */

/** The columns of locations and motions. `id`: of the provider, or of the trackable that it has moved. */
export const PLACE_COLUMNS = {
  time: 'TIMESTAMP',
  id: 'VARCHAR',
  provider_id: 'VARCHAR',
  source: 'VARCHAR',
  /** Of the zone in whose metres x and y are. */
  zone_id: 'VARCHAR',
  floor: 'DOUBLE',
  longitude: 'DOUBLE',
  latitude: 'DOUBLE',
  z: 'DOUBLE',
  x: 'DOUBLE',
  y: 'DOUBLE',
  accuracy: 'DOUBLE',
  speed: 'DOUBLE',
  course: 'DOUBLE',
  /** JSON, with history_properties. */
  properties: 'VARCHAR',
  received: 'TIMESTAMP',
} as const;

/** `time`: of the exit, or else of the entry. `event`: as it was published. */
const FENCE_EVENT_COLUMNS = {
  time: 'TIMESTAMP',
  id: 'VARCHAR',
  event_type: 'VARCHAR',
  fence_id: 'VARCHAR',
  foreign_id: 'VARCHAR',
  /** trackable or provider. */
  object_type: 'VARCHAR',
  object_id: 'VARCHAR',
  trackable_id: 'VARCHAR',
  provider_id: 'VARCHAR',
  /** A JSON array. */
  trackables: 'VARCHAR',
  entry_time: 'TIMESTAMP',
  exit_time: 'TIMESTAMP',
  properties: 'VARCHAR',
  event: 'VARCHAR',
} as const;

/** `time`: of the end, of the moment of a collision that goes on, or of the start. */
const COLLISION_EVENT_COLUMNS = {
  time: 'TIMESTAMP',
  id: 'VARCHAR',
  collision_type: 'VARCHAR',
  trackable_1: 'VARCHAR',
  trackable_2: 'VARCHAR',
  start_time: 'TIMESTAMP',
  collision_time: 'TIMESTAMP',
  end_time: 'TIMESTAMP',
  longitude: 'DOUBLE',
  latitude: 'DOUBLE',
  distance: 'DOUBLE',
  event: 'VARCHAR',
} as const;

export type ColumnType = 'TIMESTAMP' | 'VARCHAR' | 'DOUBLE';

export const COLUMNS: Readonly<Record<HistoryTopic, Readonly<Record<string, ColumnType>>>> = {
  locations: PLACE_COLUMNS,
  motions: PLACE_COLUMNS,
  fence_events: FENCE_EVENT_COLUMNS,
  collision_events: COLLISION_EVENT_COLUMNS,
};

/** What the rows of a file are sorted by. */
export const ORDER: Readonly<Record<HistoryTopic, readonly [by: string, then: string]>> = {
  locations: ['id', 'time'],
  motions: ['id', 'time'],
  fence_events: ['fence_id', 'time'],
  collision_events: ['trackable_1', 'time'],
};
