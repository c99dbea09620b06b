import { type ToastAction, toast, undoBy } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, labelOf, SINGULAR } from '../hub/entity_kinds.ts';
import { createEntity } from '../hub/rest.ts';
import { runAll } from '../hub/run_all.ts';
import { listWritable, readWritable } from '../hub/writable_entities.ts';
import { t } from '../languages/language.ts';
import { countedText } from '../languages/numbers.ts';

/** Reads entities in the form in which undo recreates them. Omits entities that are already deleted. */
export async function writableCopies<K extends Kind>(
  kind: K,
  entities: readonly Entities[K][],
): Promise<readonly Entities[K][]> {
  const [only] = entities;
  if (entities.length === 1 && only !== undefined) return [await readWritable(kind, only)];
  const ids = new Set(entities.map(({ id }) => id));
  return (await listWritable(kind)).filter(({ id }) => ids.has(id));
}

/** States in the confirmation of a deletion whether undo is possible. */
export function undoNote(kind: Kind): string {
  return mayUndo(kind) ? t('You can undo this for half a minute.') : t('This cannot be undone.');
}

/** Returns the undo action of a deletion; undefined if the user may not create the kind. */
export function undoing<K extends Kind>(kind: K, deleted: readonly Entities[K][]): ToastAction | undefined {
  if (!mayUndo(kind) || deleted.length === 0) return undefined;
  return undoBy(() => restore(kind, deleted));
}

function mayUndo(kind: Kind): boolean {
  return can('CREATE', `/${kind}`);
}

/** Recreates entities. Retries entities that depend on other deleted ones, such as a parent, once those exist. */
async function restore<K extends Kind>(kind: K, deleted: readonly Entities[K][]): Promise<void> {
  const { signal } = new AbortController();
  let left = deleted;
  let reason = '';
  for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
    before = left.length;
    const failures = await runAll(left, async (entity) => void (await createEntity(kind, entity)), {
      signal,
      onDone: () => undefined,
    });
    left = failures.map(({ item }) => item);
    reason = failures[0]?.reason ?? '';
  }
  const [only] = deleted;
  const what = deleted.length === 1 && only !== undefined ? labelOf(only) : countedText(deleted.length, SINGULAR[kind]);
  if (left.length === 0) toast(t('{what} restored', { what }));
  else
    toast(
      t('{what} could not be restored. {reason}', { what: countedText(left.length, SINGULAR[kind]), reason }),
      'danger',
      undoing(kind, left),
    );
}
