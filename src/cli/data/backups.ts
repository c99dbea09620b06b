import { existsSync } from 'node:fs';
import { StartupError } from '../../errors.ts';
import { backUp } from '../../store/backup.ts';
import { restore } from '../../store/restore.ts';
import { reasonOf } from '../../store/start_errors.ts';
import { CommandError } from '../command_error.ts';
import { interruption } from '../options.ts';
import { databaseHere, refuseOwnFiles } from './place.ts';
import { megabytes, Steps } from './steps.ts';

/** `backup FILE`: copies the database, whether or not a hub is running on it. */
export async function backupCommand(to: string, { overwrite }: { readonly overwrite?: boolean }): Promise<void> {
  const path = databaseHere();
  refuseOwnFiles(to, path);
  if (existsSync(to) && overwrite !== true) {
    throw new CommandError(`Cannot write ${to}: it exists already; --overwrite replaces it`);
  }
  const signal = interruption();
  const steps = new Steps();
  try {
    const bytes = await backUp(path, to, {
      progress(part) {
        signal.throwIfAborted();
        steps.show({ text: `Copying ${path}`, part });
      },
    });
    steps.done(`Backed up ${path} to ${to}: ${megabytes(bytes)} in ${steps.seconds}, checked`);
  } catch (error) {
    if (signal.aborted) throw new CommandError(`Interrupted: ${to} was not written`);
    if (error instanceof StartupError) throw error;
    throw new CommandError(`Cannot write ${to}: ${reasonOf(error)}`, { cause: error });
  }
}

/** `restore FILE`: puts a backup in the place of the database of a stopped hub. */
export function restoreCommand(from: string): void {
  const path = databaseHere();
  const steps = new Steps();
  const { version, replaced } = restore(path, from, { nowMs: Date.now(), stage: steps.show });
  const before = replaced === undefined ? 'there was none before' : `the one before is ${replaced}`;
  steps.done(`Restored ${path} from ${from} (version ${version}); ${before}`);
}
