import { POSITION_NAMES } from '../core/history_rows.ts';
import type { HistoryTopic } from '../model/history.ts';
import type { EventTopic } from './event_rows.ts';

/**
 * Columns of the files by topic, in order, and the tables that hold rows before they are written. Times are instants in
 * microseconds (isAdjustedToUTC in Parquet), so that readers in any time zone find the same rows. An unknown value is
 * null.
 */

/** Columns of locations and motions. `id`: the provider, or the trackable that it has moved. */
export const POSITION_COLUMNS = {
  time: 'TIMESTAMPTZ',
  id: 'VARCHAR',
  provider_id: 'VARCHAR',
  source: 'VARCHAR',
  /** Zone in whose meters x and y are given. */
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

/** `time`: of the exit, or else of the entry. `event`: the published JSON. */
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

/** `time`: of the end, of the event of a continuing collision, or of the start. */
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
  locations: POSITION_COLUMNS,
  motions: POSITION_COLUMNS,
  fence_events: FENCE_EVENT_COLUMNS,
  collision_events: COLLISION_EVENT_COLUMNS,
};

/** Sort order of the rows of a file. */
export const ORDER: Readonly<Record<HistoryTopic, readonly [by: string, then: string]>> = {
  locations: ['id', 'time'],
  motions: ['id', 'time'],
  fence_events: ['fence_id', 'time'],
  collision_events: ['trackable_1', 'time'],
};

/** Smaller than DuckDB's default: a query for one object reads one row group. */
const ROW_GROUP = 65_536;
/** Most distinct values of a column in a row group for which a dictionary is made. Beyond it the attempt is wasted. */
const DICTIONARY_MAX = 2000;

/** Writes to the final path directly. DuckDB's temporary file would remain after a crash. */
const PARQUET =
  `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP}, DICTIONARY_SIZE_LIMIT ${DICTIONARY_MAX}, ` +
  'USE_TMP_FILE false';
/** Compression of a file that will be merged: a quarter larger, in three quarters of the time. */
const QUICKLY = 'COMPRESSION_LEVEL 1';

/** Properties of positions, by number. */
export const PROPERTIES_TABLE = 'CREATE TABLE properties(number INTEGER, text VARCHAR)';

/** Table of events that are written next, with the columns of the file. */
export function eventTable(topic: EventTopic): string {
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) => `${name} ${type}`);
  return `CREATE TABLE ${topic}(${columns.join()})`;
}

function isName(column: string): boolean {
  return POSITION_NAMES.some((name) => name === column);
}

/**
 * Rows of a table of positions as they are written to a file, in order of arrival. Names are enumerations whose first
 * value means none. They are written as strings: otherwise each row group would contain all values, and none could be
 * skipped by its minimum and maximum. Properties are looked up in a list, as a join would change the order of rows.
 * `known`: the columns with at least one value.
 */
export function positionsForFile(table: string, known: readonly string[]): string {
  const columns = Object.entries(POSITION_COLUMNS).map(([name, type]) => {
    // An object that moves by itself names no provider.
    if (name === 'provider_id' && !known.includes(name)) return `id::VARCHAR AS ${name}`;
    if (!known.includes(name)) return `NULL::${type} AS ${name}`;
    if (type === 'TIMESTAMPTZ') return `make_timestamptz((1000 * ${name})::BIGINT) AS ${name}`;
    if (type === 'DOUBLE') return `CASE WHEN isnan(${name}) THEN NULL ELSE ${name} END AS ${name}`;
    if (isName(name)) return `nullif(${name}::VARCHAR, '') AS ${name}`;
    // The first string means none, and index 0 is empty.
    return `texts[${name}] AS ${name}`;
  });
  const texts = 'SELECT list(text ORDER BY number) AS texts FROM properties WHERE number > 0';
  return `SELECT ${columns.join()} FROM ${table}${known.includes('properties') ? `, (${texts})` : ''}`;
}

/** Writes the rows of a query to a file. */
export function copyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET})`;
}

/** Writes the rows of a query to a file that will be merged with others. */
export function copyQuicklyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET}, ${QUICKLY})`;
}

/** Rows of a table or table expression, in the order of the files. */
export function inOrder(topic: HistoryTopic, table: string): string {
  return `SELECT * FROM ${table} ORDER BY ${ORDER[topic].join()}`;
}

/** An SQL string literal. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
