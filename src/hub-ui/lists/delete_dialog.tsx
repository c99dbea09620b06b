import { useEffect, useState } from 'preact/hooks';
import { writableCopies, undoing } from '../bulk/undo_deletion.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Failures, Progress, useCount } from '../controls/progress.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import { type Entities, type Kind, kindsText, SINGULAR } from '../hub/entity_kinds.ts';
import { deleteEntity, RequestError } from '../hub/rest.ts';
import { type Failure, runAll } from '../hub/run_all.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countedText, countText } from '../languages/numbers.ts';

/** Dialog that deletes entities, with progress and failures. */
export function DeleteDialog({
  kind,
  ids,
  onClose,
}: {
  readonly kind: Kind;
  readonly ids: readonly string[];
  readonly onClose: () => void;
}) {
  const { count, add } = useCount();
  const [failures, setFailures] = useState<readonly Failure<string>[]>();
  const [stop] = useState(() => new AbortController());
  useEffect(() => {
    const items: ReadonlyMap<string, Entities[Kind]> = storeOf(kind).items.peek();
    const entities = ids.flatMap((id) => items.get(id) ?? []);
    const removeAll = async (): Promise<void> => {
      const copies: readonly Entities[Kind][] = await writableCopies(kind, entities);
      const failed = await runAll(ids, (id) => removed(kind, id), { signal: stop.signal, onDone: add });
      // After a stop, undo covers the deletions so far.
      const remaining = new Set(storeOf(kind).items.peek().keys());
      const failedIds = new Set(failed.map(({ item }) => item));
      const deleted = copies.filter(({ id }) => !failedIds.has(id) && !(stop.signal.aborted && remaining.has(id)));
      const undo = undoing(kind, deleted);
      if (stop.signal.aborted || failed.length > 0) {
        if (deleted.length > 0)
          toast(t('{what} deleted', { what: countedText(deleted.length, SINGULAR[kind]) }), 'ok', undo);
        if (!stop.signal.aborted) setFailures(failed);
        return;
      }
      toast(t('{what} deleted', { what: countedText(ids.length, SINGULAR[kind]) }), 'ok', undo);
      onClose();
    };
    removeAll().catch((error: unknown) => {
      toastError(error);
      onClose();
    });
    return () => stop.abort();
  }, []);
  return (
    <Dialog
      title={t('Deleting {kind}', { kind: kindsText(kind) })}
      onClose={onClose}
      foot={<Button onClick={onClose}>{failures === undefined ? t('Stop') : t('Close')}</Button>}
    >
      {failures === undefined && (
        <Progress label={t('Deleting {kind}', { kind: kindsText(kind) })} done={count} total={ids.length} />
      )}
      <Failures
        title={t('{count} of {total} could not be deleted', {
          count: countText(failures?.length ?? 0),
          total: countText(ids.length),
        })}
        rows={(failures ?? []).map(({ item, reason }) => [item, reason])}
      />
    </Dialog>
  );
}

/** Deletes an entity. A concurrent deletion by another user counts as success. */
async function removed(kind: Kind, id: string): Promise<void> {
  try {
    await deleteEntity(kind, id);
  } catch (error) {
    if (!(error instanceof RequestError && error.status === 404)) throw error;
  }
}
