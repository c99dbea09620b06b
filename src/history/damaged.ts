import { COLUMNS, sqlText } from './columns.ts';
import { type Duck, isInterrupted } from './duck.ts';
import type { HistoryFile } from './files.ts';
import { messageOf } from '../errors.ts';

/** A file that cannot be read completely. */
export interface Damaged {
  readonly path: string;
  readonly why: string;
}

/**
 * Returns a table expression with the rows of one or more files of one topic. Earlier versions wrote UTC times without
 * a time zone. The cast converts these to instants; for current files it does nothing, and filters still skip row
 * groups. DuckDB takes the types from the first file, so the newest file comes first.
 */
export function parquet(files: readonly HistoryFile[]): string {
  const newestFirst = files.toSorted((a, b) => b.writtenMs - a.writtenMs);
  const topic = newestFirst[0]?.topic;
  const times = Object.entries(topic === undefined ? {} : COLUMNS[topic]).filter(([, type]) => type === 'TIMESTAMPTZ');
  const asInstants = times.map(([name]) => `${name}::TIMESTAMPTZ AS ${name}`).join();
  return `(SELECT * REPLACE (${asInstants}) FROM ${asWritten(newestFirst)})`;
}

function asWritten(files: readonly HistoryFile[]): string {
  return `read_parquet([${files.map(({ path }) => sqlText(path)).join()}], hive_partitioning = false)`;
}

/** Returns the files that cannot be read completely. Rejects if checking takes too long. */
export async function damagedAmong(duck: Duck, files: readonly HistoryFile[]): Promise<readonly Damaged[]> {
  const damaged: Damaged[] = [];
  for (const file of files) {
    try {
      await duck.run(`SELECT count(COLUMNS(*)) FROM ${asWritten([file])}`);
    } catch (error) {
      if (isInterrupted(error)) throw error;
      damaged.push({ path: file.path, why: messageOf(error) });
    }
  }
  return damaged;
}
