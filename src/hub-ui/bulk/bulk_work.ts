import { countedText } from '../controls/number_text.ts';
import { type ToastAction, toast } from '../controls/toasts.tsx';
import { type Kind, SINGULAR } from '../hub/kinds.ts';
import { type Draft, deleteEntity, patchEntity } from '../hub/rest.ts';
import { type Failure, runAll } from '../lists/run_all.ts';
import { undone, type Write } from './bulk_plan.ts';

interface WorkOptions {
  readonly signal: AbortSignal;
  readonly onDone: () => void;
}

/** Sends writes, several at once; returns those that were done and those that could not be. */
export async function sendWrites(
  writes: readonly Write[],
  options: WorkOptions,
): Promise<{ readonly done: readonly Write[]; readonly failures: readonly Failure<Write>[] }> {
  const done: Write[] = [];
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

/** Takes all writes back with one click. */
export function undoingWrites(done: readonly Write[], what: string): ToastAction {
  const act = async (): Promise<void> => {
    const { failures } = await sendWrites(undone(done), quietly());
    if (failures.length === 0) {
      toast(`${what} as before`);
      return;
    }
    const left = failures.map(({ item }) => undone([item])[0] as Write);
    toast(
      `${countedText(left.length, 'change')} could not be taken back. ${failures[0]?.reason ?? ''}`,
      'danger',
      undoingWrites(left, what),
    );
  };
  return { label: 'Undo', act: () => void act() };
}

/** Takes away everything that was created with one click, what was created last first. */
export function undoingCreations(created: readonly { readonly kind: Kind; readonly id: string }[]): ToastAction {
  const act = async (): Promise<void> => {
    const failures = await runAll([...created].reverse(), ({ kind, id }) => deleteEntity(kind, id), quietly());
    const [first] = failures;
    if (first === undefined) toast('What was made is gone again');
    else {
      const text = countedText(failures.length, SINGULAR[first.item.kind]);
      toast(
        `${text} could not be taken away. ${first.reason}`,
        'danger',
        undoingCreations(failures.map(({ item }) => item)),
      );
    }
  };
  return { label: 'Undo', act: () => void act() };
}

function quietly(): WorkOptions {
  return { signal: new AbortController().signal, onDone: () => undefined };
}
