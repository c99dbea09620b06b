import { randomUUID } from 'node:crypto';
import type { OfflineConfig } from '../../cluster/config/offline_config.ts';
import type { StoredState } from '../../core/entity_write.ts';
import type { EntityDocument } from '../../entities/import_document.ts';
import { openShapeChecks } from '../../fence_index/shape_checks.ts';
import { SqliteStore } from '../../store/sqlite.ts';
import { reasonOf } from '../../store/start_errors.ts';
import { CliError } from '../command_error.ts';
import { interruption } from '../options.ts';
import { readDocumentFile, refused } from './document.ts';
import { type Overlay, overlay } from './overlay.ts';
import { clusterHere, databaseHere } from './place.ts';
import { Steps } from './steps.ts';

/** Maximum number of attempts to import into a cluster. */
const TRIES_MAX = 5;

/**
 * `import FILE`: imports the entities of a document into the database of a stopped hub, all in one transaction or none;
 * or into a cluster, whose hubs may be running.
 */
export async function importCommand(from: string, { replace = false }: { readonly replace?: boolean }): Promise<void> {
  await importDocument({ document: readDocumentFile(from), replace, from, steps: new Steps() });
}

/** Imports a document. `from` names its file in messages. */
export async function importDocument(what: Import): Promise<void> {
  const { from, steps } = what;
  const cluster = await clusterHere();
  if (cluster !== undefined) {
    try {
      await importInto(cluster, what);
    } finally {
      await cluster.close();
    }
    return;
  }
  const path = databaseHere();
  const store = new SqliteStore(path, randomUUID, { nowMs: Date.now(), stage: steps.show });
  try {
    const plan = await planOf(store.load(), what);
    steps.show({ text: `Writing ${plan.batch.entities.length} entities`, part: 0.95 });
    commit(store, { plan, path });
    steps.done(`Imported ${from} into ${path} in ${steps.seconds}: ${countsOf(plan)}`);
  } finally {
    store.close();
  }
}

function commit(store: SqliteStore, { plan, path }: { plan: Overlay; path: string }): void {
  try {
    store.commit(plan.batch);
  } catch (error) {
    throw new CliError(`Cannot write ${path}: ${reasonOf(error)}; nothing was changed`, { cause: error });
  }
}

interface Import {
  readonly document: EntityDocument;
  readonly replace: boolean;
  readonly from: string;
  readonly steps: Steps;
}

/** Imports into a cluster. Makes a new plan if concurrent changes have invalidated the previous one. */
async function importInto(cluster: OfflineConfig, what: Import): Promise<void> {
  const { from, steps } = what;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { sequence, entities } = cluster;
    const plan = await planOf({ entities }, what);
    steps.show({ text: `Writing ${plan.batch.entities.length} entities`, part: 0.95 });
    const changed = await cluster.change(plan.batch.entities, sequence);
    if (changed.at === 'committed') {
      steps.done(`Imported ${from} into the cluster in ${steps.seconds}: ${countsOf(plan)}`);
      return;
    }
    if (changed.committed === 0) continue;
    const part = `${changed.committed} of ${plan.batch.entities.length} changes were made`;
    throw new CliError(
      `Cannot import all of ${from}: other clients changed entities during the import; ${part}. Try again`,
    );
  }
  throw new CliError(`Cannot import ${from}: other clients keep changing entities; nothing was changed`);
}

function countsOf({ created, changed, unchanged, deleted }: Overlay): string {
  return `${created} created, ${changed} changed, ${unchanged} unchanged, ${deleted} deleted`;
}

async function planOf(
  stored: Pick<StoredState, 'entities'>,
  { document, replace, from, steps }: Import,
): Promise<Overlay> {
  const count = document.entities.length;
  const signal = interruption();
  try {
    const plan = await overlay(stored, document, {
      replace,
      shapes: await openShapeChecks(),
      checked(done) {
        signal.throwIfAborted();
        steps.show({ text: `Checking ${done} of ${count} entities`, part: (0.9 * done) / count });
      },
    });
    if ('batch' in plan) return plan;
    throw refused(from, plan);
  } catch (error) {
    if (signal.aborted) throw new CliError('Interrupted: nothing was changed');
    throw error;
  }
}
