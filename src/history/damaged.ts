import { sqlText } from './columns.ts';
import { type Duck, isInterrupted } from './duck.ts';
import type { HistoryFile } from './files.ts';
import { messageOf } from '../errors.ts';

/** A file that cannot be read completely. */
export interface Damaged {
  readonly path: string;
  readonly why: string;
}

/** Returns a table expression with the rows of one or more files of one topic. */
export function parquet(files: readonly Pick<HistoryFile, 'path'>[]): string {
  return `read_parquet([${files.map(({ path }) => sqlText(path)).join()}], hive_partitioning = false)`;
}

/** Returns the files that cannot be read completely. Rejects if checking takes too long. */
export async function damagedAmong(duck: Duck, files: readonly HistoryFile[]): Promise<readonly Damaged[]> {
  const damaged: Damaged[] = [];
  for (const file of files) {
    try {
      await duck.run(`SELECT count(COLUMNS(*)) FROM ${parquet([file])}`);
    } catch (error) {
      if (isInterrupted(error)) throw error;
      damaged.push({ path: file.path, why: messageOf(error) });
    }
  }
  return damaged;
}
