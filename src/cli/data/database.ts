import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { StartupError } from '../../errors.ts';
import { backUp } from '../../store/backup.ts';
import { SCHEMA_VERSION } from '../../store/migration/steps.ts';
import { rehearse, stepsDue } from '../../store/rehearse.ts';
import { type Report, reportOn } from '../../store/report.ts';
import { restore } from '../../store/restore.ts';
import { SqliteStore } from '../../store/sqlite.ts';
import { reasonOf } from '../../store/start_errors.ts';
import { CliError } from '../command_error.ts';
import { interruption } from '../options.ts';
import { databaseHere, refuseOwnFiles } from './place.ts';
import { megabytes, Steps } from './steps.ts';

/** `backup FILE`: copies the database, whether or not a hub is running on it. */
export async function backupCommand(to: string, { overwrite }: { readonly overwrite?: boolean }): Promise<void> {
  const path = databaseHere();
  refuseOwnFiles(to, path);
  if (existsSync(to) && overwrite !== true) {
    throw new CliError(`Cannot write ${to}: it exists already; --overwrite replaces it`);
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
    if (signal.aborted) throw new CliError(`Interrupted: ${to} was not written`);
    if (error instanceof StartupError) throw error;
    throw new CliError(`Cannot write ${to}: ${reasonOf(error)}`, { cause: error });
  }
}

/** `restore FILE`: replaces the database of a stopped hub by a backup. */
export function restoreCommand(from: string): void {
  const path = databaseHere();
  const steps = new Steps();
  const { version, replaced } = restore(path, from, { nowMs: Date.now(), stage: steps.show });
  const before = replaced === undefined ? 'there was no previous database' : `the previous one is ${replaced}`;
  steps.done(`Restored ${path} from ${from} (version ${version}); ${before}`);
}

/** `check`: checks the database and prints its contents. Throws a CliError if it has problems. */
export function checkCommand(): void {
  const path = databaseHere();
  const steps = new Steps();
  steps.show({ text: `Checking ${path}`, part: 0 });
  const report = reportOn(path);
  steps.done(describe(path, report).join('\n'));
  if (report.problems.length === 0) return;
  throw new CliError(`${path} is damaged: restore a backup with npm run hub -- restore FILE`);
}

function describe(path: string, report: Report): string[] {
  const { version, hubId, bytes, logBytes, eventBytes, counts, migrations, problems, notes } = report;
  const events = eventBytes === 0 ? '' : `, and ${megabytes(eventBytes)} of events`;
  const log = logBytes === 0 ? '' : `, and ${megabytes(logBytes)} of log`;
  return [
    `${path}: ${megabytes(bytes)}${events}${log}`,
    `version ${version}${version === SCHEMA_VERSION ? ' (current)' : ''}; hub ${hubId}`,
    ...migrations.map((each) => `version ${each.version} since ${new Date(each.atMs).toISOString()}: ${each.name}`),
    [...counts].map(([kind, count]) => `${kind} ${count}`).join(', '),
    ...notes.map((note) => `Note: ${note}`),
    ...problems.map((problem) => `Problem: ${problem}`),
    problems.length === 0 ? 'No problems found' : `${problems.length} problems`,
  ];
}

/** `migrate`: migrates the database of a stopped hub, as a start would; `--dry-run` migrates a copy. */
export async function migrateCommand({ dryRun }: { readonly dryRun?: boolean }): Promise<void> {
  const path = databaseHere();
  const { version, due } = stepsDue(path);
  const steps = new Steps();
  if (due.length === 0) {
    steps.done(`${path} has the current version ${version}: nothing to migrate`);
    return;
  }
  const opening = { nowMs: Date.now(), stage: steps.show };
  if (dryRun === true) await rehearse(path, opening);
  else new SqliteStore(path, randomUUID, opening).close();
  const names = due.map((step) => `  ${step.version}. ${step.name}`).join('\n');
  const how = dryRun === true ? 'can be migrated (tested on a copy, nothing was changed)' : 'was migrated';
  steps.done(`${path} ${how} from version ${version} to ${SCHEMA_VERSION} in ${steps.seconds}:\n${names}`);
}
