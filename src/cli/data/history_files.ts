import { statSync } from 'node:fs';
import { sqlText } from '../../history/columns.ts';
import { Duck } from '../../history/duck.ts';
import { filesFound, type HistoryFile } from '../../history/files.ts';
import type { PartName } from '../../history/layout.ts';
import { CliError } from '../command_error.ts';

interface DamagedFile extends PartName {
  readonly path: string;
  readonly why: string;
}

/** Contents of a history folder at a point in time. */
export interface FoundHistory {
  readonly files: readonly HistoryFile[];
  readonly damaged: readonly DamagedFile[];
}

const MEMORY_MB = 512;
/** Maximum number of attempts: the work starts again if a running hub merges files meanwhile. */
const TRIES = 5;

/** An open database for the duration of the work. `spillFolder`: for data that exceeds memory. */
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
 * Works on the files in a folder, and starts again if one of them was deleted meanwhile, as a running hub does when it
 * merges files. Throws a CliError if there is no history.
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
    throw new CliError(`Cannot find the history: there is no folder ${folder}`);
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
      // Throws if the file was deleted: a deleted file is not damaged.
      statSync(path);
      damaged.push({ ...part, why: (error as Error).message.split('\n')[0] as string });
    }
  }
  return { files, damaged };
}
