import { statSync } from 'node:fs';
import { sqlText } from '../../history/columns.ts';
import { Duck } from '../../history/duck.ts';
import { filesFound, type HistoryFile } from '../../history/files.ts';
import type { PartName } from '../../history/layout.ts';
import { CommandError } from '../command_error.ts';

interface DamagedFile extends PartName {
  readonly path: string;
  readonly why: string;
}

/** What is in the folder of a history at a moment. */
export interface FoundHistory {
  readonly files: readonly HistoryFile[];
  readonly damaged: readonly DamagedFile[];
}

const MEMORY_MB = 512;
/** A hub that runs may merge files while they are looked at: then all is looked at again. */
const TRIES = 5;

/** A database for as long as the work takes. `spillFolder`: for what does not fit into memory. */
export async function withDuck<Result>(
  spillFolder: string | undefined,
  work: (duck: Duck) => Promise<Result>,
): Promise<Result> {
  const duck = await Duck.open({ memoryMb: MEMORY_MB, spillFolder });
  try {
    return await work(duck);
  } finally {
    duck.close();
  }
}

/**
 * Works on the files in a folder, and again from the beginning when one of them has gone meanwhile, as those do that a
 * running hub merges. Throws a CommandError where there is no history.
 */
export async function onFiles<Result>(
  folder: string,
  { duck, work }: { duck: Duck; work(found: FoundHistory): Promise<Result> },
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work(await look(folder, duck));
    } catch (error) {
      if (tries === TRIES || !/ENOENT|No such file|No files found/i.test(String(error))) throw error;
    }
  }
}

async function look(folder: string, duck: Duck): Promise<FoundHistory> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandError(`There is no history in ${folder}: no such folder`);
  }
  const files: HistoryFile[] = [];
  const damaged: DamagedFile[] = [];
  for (const part of filesFound(folder)) {
    const { path } = part;
    const { size, mtimeMs } = statSync(path);
    try {
      const [row] = await duck.rows(`SELECT num_rows FROM parquet_file_metadata(${sqlText(path)})`);
      files.push({ ...part, rows: Number(row?.['num_rows']), bytes: size, writtenMs: mtimeMs });
    } catch (error) {
      // One that has gone is no damage: this throws.
      statSync(path);
      damaged.push({ ...part, why: (error as Error).message.split('\n')[0] as string });
    }
  }
  return { files, damaged };
}
