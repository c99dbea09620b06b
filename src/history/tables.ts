import { PLACE_NUMBERS, type PlaceTopic } from '../core/recorded.ts';
import type { HistoryTopic } from '../model/history.ts';
import { ORDER, PLACE_COLUMNS } from './columns.ts';
import { sqlText } from './duck.ts';
import { TEXT_COLUMNS } from './place_rows.ts';

/** Smaller than DuckDB's own: whoever asks for one object reads one of them. */
const ROW_GROUP = 65_536;

/** The texts of places, by their numbers. */
export const NAMES_TABLE = 'CREATE TABLE names(number INTEGER, name VARCHAR)';

/** A table of what is to be written next: places as numbers, events as they are in the file. */
export function tableOf(topic: HistoryTopic, columns: Readonly<Record<string, string>>): string {
  const isPlace = topic === 'locations' || topic === 'motions';
  const of = isPlace
    ? [...PLACE_NUMBERS.map((name) => `${name} DOUBLE`), ...TEXT_COLUMNS.map((name) => `${name} INTEGER`)]
    : Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return `CREATE TABLE ${topic}(${of.join()})`;
}

/** Places as they are in a file, in the order in which they were added. */
export function placesAsWritten(topic: PlaceTopic): string {
  const columns = Object.entries(PLACE_COLUMNS).map(([name, type]) => {
    if (type === 'TIMESTAMP') return `make_timestamp((1000 * ${name})::BIGINT) AS ${name}`;
    if (type === 'DOUBLE') return `CASE WHEN isnan(${name}) THEN NULL ELSE ${name} END AS ${name}`;
    return name === 'id' ? 'n_id.name AS id' : `n_${name}.name AS ${name}`;
  });
  const joins = TEXT_COLUMNS.map((name) => {
    const none = name === 'id' ? '' : ` AND n_${name}.number > 0`;
    return `LEFT JOIN names n_${name} ON n_${name}.number = p.${name}${none}`;
  });
  return `SELECT ${columns.join()} FROM ${topic} p ${joins.join(' ')}`;
}

/** Writes the rows of a query into a file. */
export function copyTo(path: string, sql: string): string {
  return `COPY (${sql}) TO ${sqlText(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`;
}

/** The rows of a table, or what stands for one, in the order of the files. */
export function inOrder(topic: HistoryTopic, table: string): string {
  return `SELECT * FROM ${table} ORDER BY ${ORDER[topic].join()}`;
}
