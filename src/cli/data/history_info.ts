import { parquet } from '../../history/damaged.ts';
import type { Duck } from '../../history/duck.ts';
import type { HistoryFile } from '../../history/files.ts';
import { HISTORY_TOPICS } from '../../model/history.ts';
import { formatTime } from '../../model/time.ts';
import { CliError } from '../command_error.ts';
import { onFiles, withDuck } from './history_files.ts';
import { historyHere } from './place.ts';
import { megabytes, Steps } from './steps.ts';

/** `history info`: prints the contents of the files. Throws a CliError if some are damaged, or there is no history. */
export async function historyInfoCommand(): Promise<void> {
  const folder = historyHere();
  const steps = new Steps();
  const { lines, damaged } = await withDuck(undefined, (duck) =>
    onFiles(folder, {
      duck,
      async work({ files, damaged }) {
        const lines = [`${folder}: ${filesInWords(files.length)}, ${megabytes(bytesOf(files))}`];
        for (const topic of HISTORY_TOPICS) {
          // An erasure may leave a file without rows.
          const of = files.filter((file) => file.topic === topic && file.rows > 0);
          lines.push(`${topic}: ${await describe(of, duck)}`);
        }
        return { lines, damaged };
      },
    }),
  );
  const problems = damaged.map(({ path, why }) => `Problem: ${path}: ${why}`);
  steps.done([...lines, ...problems].join('\n'));
  if (damaged.length > 0) throw new CliError(`Cannot read ${filesInWords(damaged.length)} in ${folder}`);
}

async function describe(files: readonly HistoryFile[], duck: Duck): Promise<string> {
  if (files.length === 0) return 'nothing';
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  // An hour's files contain all of its rows, so the first and last hours have the first and last rows.
  const hours = files.map(({ hourMs }) => hourMs);
  const ofHour = (hourMs: number) => parquet(files.filter((file) => file.hourMs === hourMs));
  const timeOf = async (which: 'min' | 'max', hourMs: number): Promise<string> => {
    const [row] = await duck.rows(`SELECT epoch_ms(${which}(time))::VARCHAR AS ms FROM ${ofHour(hourMs)}`);
    return formatTime(Number(row?.['ms']));
  };
  const first = await timeOf('min', Math.min(...hours));
  const last = await timeOf('max', Math.max(...hours));
  return `${rows} rows from ${first} to ${last}, ${filesInWords(files.length)}, ${megabytes(bytesOf(files))}`;
}

function bytesOf(files: readonly HistoryFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function filesInWords(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
