import { POSITION_NAMES } from '../core/history_rows.ts';
import type { HistoryTopic } from '../model/history.ts';
import type { EventTopic } from './event_rows.ts';

/**
 * The columns of the files, by topic, in their order, and the tables that rows lie in before they are written. Times are
 * instants in microseconds (isAdjustedToUTC in Parquet), so that readers in any time zone find the same rows. An unknown
 * value is null.
 */

/** The columns of locations and motions. `id`: of the provider, or of the trackable that it has moved. */
export const PLACE_COLUMNS = {
  time: 'TIMESTAMPTZ',
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
  received: 'TIMESTAMPTZ',
} as const;

/** `time`: of the exit, or else of the entry. `event`: as it was published. */
const FENCE_EVENT_COLUMNS = {
  time: 'TIMESTAMPTZ',
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
  entry_time: 'TIMESTAMPTZ',
  exit_time: 'TIMESTAMPTZ',
  properties: 'VARCHAR',
  event: 'VARCHAR',
} as const;

/** `time`: of the end, of the moment of a collision that goes on, or of the start. */
const COLLISION_EVENT_COLUMNS = {
  time: 'TIMESTAMPTZ',
  id: 'VARCHAR',
  collision_type: 'VARCHAR',
  trackable_1: 'VARCHAR',
  trackable_2: 'VARCHAR',
  start_time: 'TIMESTAMPTZ',
  collision_time: 'TIMESTAMPTZ',
  end_time: 'TIMESTAMPTZ',
  longitude: 'DOUBLE',
  latitude: 'DOUBLE',
  distance: 'DOUBLE',
  event: 'VARCHAR',
} as const;

export type ColumnType = 'TIMESTAMPTZ' | 'VARCHAR' | 'DOUBLE';

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

/** Smaller than DuckDB's own: whoever asks for one object reads one of them. */
const ROW_GROUP = 65_536;
/** Values of a column in a row group for which a dictionary is made; with more it is given up, and was for nothing. */
const DICTIONARY_MAX = 2000;

/** Written where it is to be at once: DuckDB's own detour by another name would be left there by a hub that dies. */
const PARQUET =
  `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP}, DICTIONARY_SIZE_LIMIT ${DICTIONARY_MAX}, ` +
  'USE_TMP_FILE false';
/** Of a file that will be merged: a quarter larger, in three quarters of the time. */
const QUICKLY = 'COMPRESSION_LEVEL 1';

/** Properties of places, by their numbers. */
export const PROPERTIES_TABLE = 'CREATE TABLE properties(number INTEGER, text VARCHAR)';

/** A table of events that are to be written next, as they are in the file. */
export function eventTable(topic: EventTopic): string {
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) => `${name} ${type}`);
  return `CREATE TABLE ${topic}(${columns.join()})`;
}

function isName(column: string): boolean {
  return POSITION_NAMES.some((name) => name === column);
}

/**
 * The rows of a table with places as they are in a file, in the order in which they come. Names, values of an enumeration
 * whose first one stands for none, are written as texts: otherwise each row group would have all values, and none could be
 * passed over by its least and greatest one. Properties are looked up in a list: a join would hand the rows out in another
 * order. `known`: the columns that there are, those in which anything is known.
 */
export function placesAsWritten(table: string, known: readonly string[]): string {
  const columns = Object.entries(PLACE_COLUMNS).map(([name, type]) => {
    // What moves itself names no provider besides.
    if (name === 'provider_id' && !known.includes(name)) return `id::VARCHAR AS ${name}`;
    if (!known.includes(name)) return `NULL::${type} AS ${name}`;
    if (type === 'TIMESTAMPTZ') return `make_timestamptz((1000 * ${name})::BIGINT) AS ${name}`;
    if (type === 'DOUBLE') return `CASE WHEN isnan(${name}) THEN NULL ELSE ${name} END AS ${name}`;
    if (isName(name)) return `nullif(${name}::VARCHAR, '') AS ${name}`;
    // The first text stands for none, and nothing lies at 0.
    return `texts[${name}] AS ${name}`;
  });
  const texts = 'SELECT list(text ORDER BY number) AS texts FROM properties WHERE number > 0';
  return `SELECT ${columns.join()} FROM ${table}${known.includes('properties') ? `, (${texts})` : ''}`;
}

/** Writes the rows of a query into a file. */
export function copyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET})`;
}

/** Writes the rows of a query into a file that will be merged with others. */
export function copyQuicklyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET}, ${QUICKLY})`;
}

/** The rows of a table, or what stands for one, in the order of the files. */
export function inOrder(topic: HistoryTopic, table: string): string {
  return `SELECT * FROM ${table} ORDER BY ${ORDER[topic].join()}`;
}

/** A text as SQL has it. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
