import type { PlaceTopic } from '../core/recorded.ts';
import type { HistoryTopic } from '../model/history.ts';
import type { EventTopic } from './event_rows.ts';

/**
 * The columns of the files, by topic, in their order, and the tables that rows lie in before they are written. Times are UTC,
 * in microseconds; null is what is not known.
 */

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

/** Texts of a place, which lie in its table as their numbers. */
export const TEXT_COLUMNS = ['id', 'provider_id', 'source', 'zone_id', 'properties'] as const;

/** Smaller than DuckDB's own: whoever asks for one object reads one of them. */
const ROW_GROUP = 65_536;
/** Values of a column in a row group for which a dictionary is made; with more it is given up, and was for nothing. */
const DICTIONARY_MAX = 2000;

/** Written where it is to be at once: DuckDB's own detour by another name would be left there by a hub that dies. */
const PARQUET =
  `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP}, DICTIONARY_SIZE_LIMIT ${DICTIONARY_MAX}, ` +
  'USE_TMP_FILE false';

/** The texts of places, by their numbers. */
export const NAMES_TABLE = 'CREATE TABLE names(number INTEGER, name VARCHAR)';

/** A table of events that are to be written next, as they are in the file. */
export function eventTable(topic: EventTopic): string {
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) => `${name} ${type}`);
  return `CREATE TABLE ${topic}(${columns.join()})`;
}

/** A location names no provider beside its id. */
const MOVER = 'CASE WHEN provider_id = 0 THEN id ELSE provider_id END';

/** A table of places that are to be written next, as numbers: of those columns alone in which anything is known. */
export function placeTable(topic: PlaceTopic, known: readonly string[]): string {
  const isText = (name: string): boolean => TEXT_COLUMNS.some((text) => text === name);
  return `CREATE OR REPLACE TABLE ${topic}(${known.map((name) => `${name} ${isText(name) ? 'INTEGER' : 'DOUBLE'}`).join()})`;
}

/**
 * Places as they are in a file, in the order in which they were added. Texts are looked up in a list: a join would hand the
 * rows out in another order. `known`: the columns of their table.
 */
export function placesAsWritten(topic: PlaceTopic, known: readonly string[]): string {
  const columns = Object.entries(PLACE_COLUMNS).map(([name, type]) => {
    if (name === 'provider_id') return `texts[${known.includes(name) ? MOVER : 'id'}] AS ${name}`;
    if (!known.includes(name)) return `NULL::${type} AS ${name}`;
    if (type === 'TIMESTAMP') return `make_timestamp((1000 * ${name})::BIGINT) AS ${name}`;
    if (type === 'DOUBLE') return `CASE WHEN isnan(${name}) THEN NULL ELSE ${name} END AS ${name}`;
    // The first text stands for none, and nothing lies at 0.
    return `texts[${name}] AS ${name}`;
  });
  const texts = 'SELECT list(name ORDER BY number) AS texts FROM names WHERE number > 0';
  return `SELECT ${columns.join()} FROM ${topic}, (${texts})`;
}

/** Writes the rows of a query into a file. */
export function copyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET})`;
}

/** The rows of a table, or what stands for one, in the order of the files. */
export function inOrder(topic: HistoryTopic, table: string): string {
  return `SELECT * FROM ${table} ORDER BY ${ORDER[topic].join()}`;
}

/** A text as SQL has it. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
