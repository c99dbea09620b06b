import { sqlText } from './columns.ts';
import { type Duck, isInterrupted } from './duck.ts';
import type { HistoryFile } from './files.ts';

/** A file that cannot be read to its end. */
export interface Damaged {
  readonly path: string;
  readonly why: string;
}

/** The rows of files, of which there is one at least. */
export function parquet(files: readonly HistoryFile[]): string {
  return `read_parquet([${files.map(({ path }) => sqlText(path)).join()}], hive_partitioning = false)`;
}

/** Files that cannot be read to their end. Rejects when that takes longer than it may. */
export async function damagedAmong(duck: Duck, files: readonly HistoryFile[]): Promise<readonly Damaged[]> {
  const damaged: Damaged[] = [];
  for (const file of files) {
    try {
      await duck.run(`SELECT count(COLUMNS(*)) FROM ${parquet([file])}`);
    } catch (error) {
      if (isInterrupted(error)) throw error;
      damaged.push({ path: file.path, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return damaged;
}
