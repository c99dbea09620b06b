import { useEffect, useState } from 'preact/hooks';
import { useCount } from '../controls/progress.tsx';
import { type ToastAction, toast, undoBy } from '../controls/toasts.tsx';
import { type Kind, SINGULAR } from '../hub/entity_kinds.ts';
import { type Draft, deleteEntity, patchEntity } from '../hub/rest.ts';
import { type Failure, runAll } from '../hub/run_all.ts';
import { t } from '../languages/language.ts';
import { countedText } from '../languages/numbers.ts';
import { undone, type BulkWrite } from './bulk_plan.ts';

export interface WorkOptions {
  readonly signal: AbortSignal;
  readonly onDone: () => void;
}

/** Failure with the label of its entity. */
export interface NamedFailure {
  readonly label: string;
  readonly reason: string;
}

/**
 * Background work of a dialog, with progress and failures. The dialog closes when all of it has succeeded; closing the
 * dialog stops the work.
 */
export function useWork(onClose: () => void) {
  const [controller, setController] = useState<AbortController>();
  const [failures, setFailures] = useState<readonly NamedFailure[]>([]);
  const { count, add, reset } = useCount();
  useEffect(() => () => controller?.abort(), [controller]);
  const run = async (work: (options: WorkOptions) => Promise<readonly NamedFailure[]>): Promise<void> => {
    const started = new AbortController();
    reset();
    setFailures([]);
    setController(started);
    const failed = await work({ signal: started.signal, onDone: add });
    if (failed.length === 0) return onClose();
    setController(undefined);
    setFailures(failed);
  };
  return { isRunning: controller !== undefined, failures, count, run };
}

/** Sends writes, several concurrently; returns the successful ones and the failures. */
export async function sendWrites(
  writes: readonly BulkWrite[],
  options: WorkOptions,
): Promise<{ readonly done: readonly BulkWrite[]; readonly failures: readonly Failure<BulkWrite>[] }> {
  const done: BulkWrite[] = [];
  const failures = await runAll(
    writes,
    async (write) => {
      const { kind, id, before, after } = write;
      await patchEntity(kind, id, { before: before as Draft<Kind>, after: after as Draft<Kind> });
      done.push(write);
    },
    options,
  );
  return { done, failures };
}

/** Returns the undo action of writes. */
export function undoingWrites(done: readonly BulkWrite[], what: string): ToastAction {
  return undoBy(async () => {
    const { failures } = await sendWrites(undone(done), quietly());
    if (failures.length === 0) {
      toast(t('{what} restored', { what }));
      return;
    }
    const left = failures.map(({ item }) => undone([item])[0] as BulkWrite);
    toast(
      t('{what} could not be undone. {reason}', {
        what: countedText(left.length, 'change'),
        reason: failures[0]?.reason ?? '',
      }),
      'danger',
      undoingWrites(left, what),
    );
  });
}

/** Returns the undo action of creations, which deletes the newest first. */
export function undoingCreations(created: readonly { readonly kind: Kind; readonly id: string }[]): ToastAction {
  return undoBy(async () => {
    const failures = await runAll([...created].reverse(), ({ kind, id }) => deleteEntity(kind, id), quietly());
    const [first] = failures;
    if (first === undefined) toast(t('Copies deleted'));
    else {
      const text = countedText(failures.length, SINGULAR[first.item.kind]);
      toast(
        t('{what} could not be deleted. {reason}', { what: text, reason: first.reason }),
        'danger',
        undoingCreations(failures.map(({ item }) => item)),
      );
    }
  });
}

function quietly(): WorkOptions {
  return { signal: new AbortController().signal, onDone: () => undefined };
}
