import { POSITION_NAMES } from '../core/history_rows.ts';
import type { HistoryTopic } from '../model/history.ts';
import type { EventTopic } from './event_rows.ts';

/**
 * Columns of the history files by topic, and the in-memory tables for rows that wait to be written. Times are instants
 * in microseconds (isAdjustedToUTC in Parquet), so queries find the same rows in any time zone. An unknown value is
 * null.
 */

/** Columns of locations and motions. `id` is the provider of a location or the trackable of a motion. */
export const POSITION_COLUMNS = {
  time: 'TIMESTAMPTZ',
  id: 'VARCHAR',
  provider_id: 'VARCHAR',
  source: 'VARCHAR',
  /** Zone whose local coordinates are x and y. */
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
  /** JSON; recorded only with the setting history_properties. */
  properties: 'VARCHAR',
  received: 'TIMESTAMPTZ',
} as const;

/** `time` is that of the exit or, for an entry, of the entry. `event` is the published JSON. */
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

/** `time` is that of the start, the update or the end, depending on the type of the event. */
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

/** Rows of a row group: fewer than DuckDB's default, since a query for one object reads a whole row group. */
const ROW_GROUP = 65_536;
/**
 * Maximum number of distinct values for a dictionary in a row group. With more values, building the dictionary is
 * wasted effort.
 */
const DICTIONARY_MAX = 2000;

/** Options of COPY. DuckDB writes to the given path directly, because its temporary file would remain after a crash. */
const PARQUET =
  `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP}, DICTIONARY_SIZE_LIMIT ${DICTIONARY_MAX}, ` +
  'USE_TMP_FILE false';
/** Compression of a file that will be merged. The file is a quarter larger and takes three quarters of the time. */
const QUICKLY = 'COMPRESSION_LEVEL 1';

/** Properties of positions, by number. */
export const PROPERTIES_TABLE = 'CREATE TABLE properties(number INTEGER, text VARCHAR)';

/** Returns the statement for a table of events to write, with the columns of the file. */
export function eventTable(topic: EventTopic): string {
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) => `${name} ${type}`);
  return `CREATE TABLE ${topic}(${columns.join()})`;
}

function isName(column: string): boolean {
  return POSITION_NAMES.some((name) => name === column);
}

/**
 * Returns a query that converts a table of positions to the columns of a file, in order of arrival. Names are
 * enumerations whose first value means none. They are converted to strings: as enumerations, every row group would
 * contain all values, and queries could skip none by its minimum and maximum. Properties are looked up in a list, since
 * a join would change the order of rows. `known` are the columns with at least one value.
 */
export function positionsForFile(table: string, known: readonly string[]): string {
  const columns = Object.entries(POSITION_COLUMNS).map(([name, type]) => {
    // Without a provider column, each object is its own provider.
    if (name === 'provider_id' && !known.includes(name)) return `id::VARCHAR AS ${name}`;
    if (!known.includes(name)) return `NULL::${type} AS ${name}`;
    if (type === 'TIMESTAMPTZ') return `make_timestamptz((1000 * ${name})::BIGINT) AS ${name}`;
    if (type === 'DOUBLE') return `CASE WHEN isnan(${name}) THEN NULL ELSE ${name} END AS ${name}`;
    if (isName(name)) return `nullif(${name}::VARCHAR, '') AS ${name}`;
    // The first string means none. Lists count from 1, so index 0 returns null.
    return `texts[${name}] AS ${name}`;
  });
  const texts = 'SELECT list(text ORDER BY number) AS texts FROM properties WHERE number > 0';
  return `SELECT ${columns.join()} FROM ${table}${known.includes('properties') ? `, (${texts})` : ''}`;
}

/** Returns the statement that writes the rows of a query to a file. */
export function copyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET})`;
}

/** Like copyTo, for a file that will be merged with others. */
export function copyQuicklyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (${PARQUET}, ${QUICKLY})`;
}

/** Returns a query for the rows of a table or table expression in the sort order of files. */
export function inOrder(topic: HistoryTopic, table: string): string {
  return `SELECT * FROM ${table} ORDER BY ${ORDER[topic].join()}`;
}

/** Returns a string as an SQL literal. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
