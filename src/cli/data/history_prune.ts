import { realpathSync, statSync } from 'node:fs';
import { expiredHours, filesFound, unlinkFile } from '../../history/files.ts';
import { formatTime } from '../../model/time.ts';
import { lockFile } from '../../store/lock.ts';
import { CliError } from '../command_error.ts';
import { filesInWords } from './history_info.ts';
import type { PruneOptions } from './history_options.ts';
import { historyHere, lockedByHub } from './place.ts';
import { megabytes, Steps } from './steps.ts';

/**
 * `history prune`: deletes whole hours, as the hub itself does according to its settings. The hub must be stopped,
 * because it caches its list of files and would report deleted ones as damaged. The lock on its database shows whether
 * it runs.
 */
export function historyPruneCommand({ before, maxSize, dryRun = false, stopped = false }: PruneOptions): void {
  if (before === undefined && maxSize === undefined) {
    throw new CliError('Cannot prune the history: specify --before or --max-size');
  }
  const folder = historyHere();
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CliError(`Cannot find the history: there is no folder ${folder}`);
  }
  const unlock = dryRun ? () => undefined : lockOut(stopped);
  const steps = new Steps();
  try {
    const files = filesFound(folder).map((file) => ({ ...file, bytes: statSync(file.path).size }));
    const hours = expiredHours(files, {
      nowMs: before ?? 0,
      retentionMs: 0,
      bytesMax: maxSize === undefined ? Number.POSITIVE_INFINITY : maxSize * 2 ** 20,
    });
    const going = files.filter(({ hourMs }) => hours.includes(hourMs));
    const bytes = megabytes(going.reduce((sum, file) => sum + file.bytes, 0));
    if (!dryRun) for (const { path } of going) unlinkFile(path);
    const [first] = hours;
    const last = hours.at(-1);
    const span = first === undefined || last === undefined ? '' : `, hours ${formatTime(first)} to ${formatTime(last)}`;
    const what = `${filesInWords(going.length)}, ${bytes}${span}`;
    steps.done(dryRun ? `Would delete ${what}` : `Deleted ${what}`);
  } finally {
    unlock();
  }
}

/** Locks the database, so that no hub starts while files are deleted. Throws a StartupError if a hub is running. */
function lockOut(isStopped: boolean): () => void {
  const database = lockedByHub();
  if (database !== undefined) {
    const file = statSync(database, { throwIfNoEntry: false }) === undefined ? database : realpathSync(database);
    return lockFile(database, file).unlock;
  }
  if (isStopped) return () => undefined;
  throw new CliError(
    'Cannot prune the history: the hub stores its data in another database, which does not show whether it is running. If it is stopped, add --stopped',
  );
}
