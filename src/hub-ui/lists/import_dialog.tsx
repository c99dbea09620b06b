import { useState } from 'preact/hooks';
import type { LocatingRule } from '../../model/rule.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Check } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice, Spinner } from '../controls/notice.tsx';
import { countText } from '../controls/number_text.ts';
import tableStyles from '../controls/table.module.css';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { SINGULAR } from '../hub/kinds.ts';
import { get } from '../hub/rest.ts';
import { errorText } from '../problems/sentences.ts';
import { readDocument } from './entity_document.ts';
import { listAllKept } from './exportable.ts';
import styles from './import_dialog.module.css';
import { type Plan, planOf, runSteps, type Step, stepsOf } from './import_plan.ts';
import kindStyles from './kind.module.css';
import { Failures, Progress, useCount } from './progress.tsx';
import type { Failure } from './run_all.ts';

type Stage =
  | { readonly at: 'choosing'; readonly problem?: string }
  | { readonly at: 'reading' }
  | { readonly at: 'preview'; readonly name: string; readonly plan: Plan }
  | { readonly at: 'running'; readonly total: number }
  | { readonly at: 'done'; readonly total: number; readonly failures: readonly Failure<Step>[] };

/** Reads a file, shows what it would change, and does that. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [stage, setStage] = useState<Stage>({ at: 'choosing' });
  const [withDeletions, setWithDeletions] = useState(false);
  const [stop] = useState(() => new AbortController());
  const { count, add } = useCount();
  const read = async (file: File): Promise<void> => {
    setStage({ at: 'reading' });
    try {
      const document = readDocument(await file.text());
      const lists = await listAllKept([...document.lists.keys()]);
      const rules = document.rules && (await get<readonly LocatingRule[]>('/trackables/rules/locating'));
      setStage({ at: 'preview', name: file.name, plan: planOf(document, { lists, rules }) });
    } catch (error) {
      setStage({ at: 'choosing', problem: errorText(error) });
    }
  };
  const run = async (groups: readonly (readonly Step[])[]): Promise<void> => {
    const total = groups.flat().length;
    setStage({ at: 'running', total });
    const failures = await runSteps(groups, { signal: stop.signal, onDone: add });
    setStage({ at: 'done', total, failures });
    if (failures.length === 0 && !stop.signal.aborted) toast('Import finished');
  };
  const close = (): void => {
    stop.abort();
    onClose();
  };
  const groups = stage.at === 'preview' ? stepsOf(stage.plan, { withDeletions }) : [];
  const changes = groups.flat().length;
  return (
    <Dialog
      wide={stage.at === 'preview'}
      title="Import from a file"
      onClose={close}
      foot={
        <>
          <Button onClick={close}>{stage.at === 'running' ? 'Stop' : stage.at === 'done' ? 'Close' : 'Cancel'}</Button>
          {stage.at === 'preview' && (
            <Button kind="main" icon="upload" disabled={changes === 0} onClick={() => void run(groups)}>
              {changes === 1 ? 'Make 1 change' : `Make ${changes} changes`}
            </Button>
          )}
        </>
      }
    >
      <div class={flow.stack}>
        {stage.at === 'choosing' && <Choosing problem={stage.problem} onFile={(file) => void read(file)} />}
        {stage.at === 'reading' && <Spinner label="Comparing the file with the hub" />}
        {stage.at === 'preview' && (
          <Preview {...stage} withDeletions={withDeletions} onWithDeletions={setWithDeletions} changes={changes} />
        )}
        {stage.at === 'running' && (
          <Progress label="Importing" done={Math.min(count, stage.total)} total={stage.total} />
        )}
        {stage.at === 'done' && <Done {...stage} isStopped={stop.signal.aborted} />}
      </div>
    </Dialog>
  );
}

function Choosing({
  problem,
  onFile,
}: {
  readonly problem: string | undefined;
  readonly onFile: (file: File) => void;
}) {
  const [isOver, setOver] = useState(false);
  return (
    <>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      <label
        class={styles.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const file = event.dataTransfer?.files[0];
          if (file !== undefined) onFile(file);
        }}
      >
        <strong>Choose a file</strong>
        <span class={typography.soft}>or drop it here. Nothing changes before you have seen what would.</span>
        <input
          type="file"
          class={typography.hidden}
          accept=".json,application/json"
          aria-label="File to import"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) onFile(file);
          }}
        />
      </label>
    </>
  );
}

function Preview(props: {
  readonly name: string;
  readonly plan: Plan;
  readonly withDeletions: boolean;
  readonly onWithDeletions: (isOn: boolean) => void;
  readonly changes: number;
}) {
  const { name, plan, withDeletions } = props;
  const missing = plan.kinds.reduce((sum, kind) => sum + kind.missing.length, 0);
  return (
    <>
      <p class={typography.soft}>
        <strong>{name}</strong>
        {props.changes === 0 ? ' has nothing that the hub does not have.' : ' compared with the hub:'}
      </p>
      <div class={tableStyles.box}>
        <table class={tableStyles.table} aria-label="Preview">
          <thead>
            <tr>
              <th scope="col">Kind</th>
              {['New', 'Changed', 'As it is', 'Only in the hub'].map((title) => (
                <th scope="col" class={tableStyles.number} key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {plan.kinds.map(({ kind, created, changed, unchanged, missing: only }) => (
              <tr key={kind}>
                <th scope="row" class={kindStyles.kind}>
                  {kind}
                </th>
                <Count count={created.length} tone="ok" />
                <Count count={changed.length} tone="info" />
                <Count count={unchanged} />
                <Count count={only.length} tone={withDeletions ? 'danger' : undefined} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {plan.rules !== undefined && <p class={typography.soft}>The locating rules of the hub are replaced.</p>}
      {missing > 0 && (
        <Check
          label={`Delete what is only in the hub: ${missing}`}
          checked={withDeletions}
          onChange={props.onWithDeletions}
        />
      )}
    </>
  );
}

function Count({ count, tone }: { readonly count: number; readonly tone?: string | undefined }) {
  return (
    <td class={`${tableStyles.number} ${styles.count}`} data-tone={count > 0 ? tone : undefined}>
      {countText(count)}
    </td>
  );
}

function Done(props: {
  readonly total: number;
  readonly failures: readonly Failure<Step>[];
  readonly isStopped: boolean;
}) {
  const { total, failures, isStopped } = props;
  const done = total - failures.length;
  return (
    <>
      <p>{isStopped ? 'The import was stopped.' : `${countText(done)} of ${countText(total)} changes made.`}</p>
      <Failures
        title={`${countText(failures.length)} could not be made`}
        rows={failures.map(({ item, reason }) => [
          `${item.what === 'rules' ? '' : `${item.what} ${item.kind && SINGULAR[item.kind]} `}${item.id}:`,
          reason,
        ])}
      />
    </>
  );
}
