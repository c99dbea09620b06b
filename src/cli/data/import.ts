import { randomUUID } from 'node:crypto';
import { openShapeChecks } from '../../fence_index/shape_checks.ts';
import { SqliteStore } from '../../store/sqlite.ts';
import { reasonOf } from '../../store/start_errors.ts';
import { CommandError } from '../command_error.ts';
import { interruption } from '../options.ts';
import { type EntityDocument, readDocument, refused } from './document.ts';
import { type Overlay, overlay } from './overlay.ts';
import { databaseHere } from './place.ts';
import { Steps } from './steps.ts';

/**
 * `import FILE`: takes the entities of a document into the database of a stopped hub, all of them in one transaction or,
 * when one does not fit, none.
 */
export async function importCommand(from: string, { replace = false }: { readonly replace?: boolean }): Promise<void> {
  const path = databaseHere();
  const document = readDocument(from);
  const steps = new Steps();
  const store = new SqliteStore(path, randomUUID, { nowMs: Date.now(), stage: steps.show });
  try {
    const plan = await planOf(store, { document, replace, from, steps });
    steps.show({ text: `Writing ${plan.batch.entities.length} entities`, part: 0.95 });
    commit(store, { plan, path });
    const { created, changed, unchanged, deleted } = plan;
    const counts = `${created} created, ${changed} changed, ${unchanged} as they were, ${deleted} deleted`;
    steps.done(`Imported ${from} into ${path} in ${steps.seconds}: ${counts}`);
  } finally {
    store.close();
  }
}

function commit(store: SqliteStore, { plan, path }: { plan: Overlay; path: string }): void {
  try {
    store.commit(plan.batch);
  } catch (error) {
    throw new CommandError(`Cannot write ${path}: ${reasonOf(error)}; nothing was changed`, { cause: error });
  }
}

async function planOf(
  store: SqliteStore,
  { document, replace, from, steps }: { document: EntityDocument; replace: boolean; from: string; steps: Steps },
): Promise<Overlay> {
  const count = document.entities.length;
  const signal = interruption();
  try {
    const plan = await overlay(store.load(), document, {
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
    if (signal.aborted) throw new CommandError('Interrupted: nothing was changed');
    throw error;
  }
}
