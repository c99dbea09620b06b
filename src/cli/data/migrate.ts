import { randomUUID } from 'node:crypto';
import { SCHEMA_VERSION } from '../../store/migration/steps.ts';
import { rehearse, stepsDue } from '../../store/rehearse.ts';
import { SqliteStore } from '../../store/sqlite.ts';
import { databaseHere } from './place.ts';
import { Steps } from './steps.ts';

/** `migrate`: brings the database of a stopped hub up to date, as a start would; `--dry-run` does so with a copy of it. */
export async function migrateCommand({ dryRun }: { readonly dryRun?: boolean }): Promise<void> {
  const path = databaseHere();
  const { version, due } = stepsDue(path);
  const steps = new Steps();
  if (due.length === 0) {
    steps.done(`${path} is of version ${version}, which is the present one: there is nothing to do`);
    return;
  }
  const opening = { nowMs: Date.now(), stage: steps.show };
  if (dryRun === true) await rehearse(path, opening);
  else new SqliteStore(path, randomUUID, opening).close();
  const names = due.map((step) => `  ${step.version}. ${step.name}`).join('\n');
  const how = dryRun === true ? 'can be migrated (tried on a copy, nothing was changed)' : 'was migrated';
  steps.done(`${path} ${how} from version ${version} to ${SCHEMA_VERSION} in ${steps.seconds}:\n${names}`);
}
