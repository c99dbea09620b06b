import { useState } from 'preact/hooks';
import type { Import } from '../../model/import.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Check } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice, Spinner } from '../controls/notice.tsx';
import { countText } from '../controls/number_text.ts';
import tableStyles from '../controls/table.module.css';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import type { FileContents } from '../formats/read_file.ts';
import { DEFINED, DEFINED_NAMES, type DefinedName } from '../hub/defined.ts';
import { importJob, isUnderWay, runImport } from '../hub/import_job.ts';
import { kindsText } from '../hub/kinds.ts';
import { get } from '../hub/rest.ts';
import { whyNoImportOf } from '../hub/rights.ts';
import { storeOf } from '../hub/stores.ts';
import { t, tParts } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { lazyPart } from '../shell/lazy.tsx';
import { bodyOf, type EntityDocument, NEEDED_ORDER } from './entity_document.ts';
import styles from './import_dialog.module.css';
import { ImportProblems } from './import_problems.tsx';
import { CancelImport, ImportProgress, ImportResult } from './import_status.tsx';
import kindStyles from './kind.module.css';
import { withoutPlaces } from './left_out.ts';

const MatchDrawing = lazyPart(async () => (await import('../formats/match_drawing.tsx')).MatchDrawing);
const MatchTable = lazyPart(async () => (await import('../formats/match_table.tsx')).MatchTable);

/** The endings of the files that can be read, for the browser's dialog. */
const ACCEPTED = '.json,.geojson,.kml,.csv,.zip,.dxf,application/json,application/geo+json,text/csv';

/** What has to be told what it becomes. */
type Matched = Exclude<FileContents, { readonly is: 'document' }>;

/** What was read, and what the hub says would become of it. */
interface Checked {
  readonly name: string;
  readonly document: EntityDocument;
  readonly plan: Import;
  /** How much the hub has that the file does not name, of what people define beside entities. */
  readonly definedMissing: Readonly<Partial<Record<DefinedName, number>>>;
  /** Entities that were left out since they do not fit. */
  readonly leftOut: number;
  /** Whether the file is all that a hub has of its kinds, and not a part that was drawn elsewhere. */
  readonly isWhole: boolean;
}

type Stage =
  | { readonly at: 'choosing'; readonly problem?: string }
  | { readonly at: 'reading' }
  | ({ readonly at: 'matching'; readonly name: string } & Matched)
  | ({ readonly at: 'preview' } & Checked)
  | { readonly at: 'running' };

/** Reads a file, shows what it would change, and has the hub do that, all of it or nothing. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [stage, setStage] = useState<Stage>({ at: isUnderWay(importJob.peek()) ? 'running' : 'choosing' });
  const [withDeletions, setWithDeletions] = useState(false);
  const attempt = async (work: () => Promise<Stage>): Promise<void> => {
    setStage({ at: 'reading' });
    try {
      setStage(await work());
    } catch (error) {
      setStage({ at: 'choosing', problem: errorText(error) });
    }
  };
  const check = async (read: Omit<Checked, 'plan' | 'definedMissing'>, deletions: boolean): Promise<Stage> => {
    const plan = await runImport(bodyOf(read.document), { isDry: true, withDeletions: deletions });
    if (plan.state === 'failed') throw new Error(plan.error);
    return { at: 'preview', ...read, plan, definedMissing: await missingDefined(read.document) };
  };
  const read = (file: File): Promise<void> => {
    return attempt(async () => {
      const contents = await (await import('../formats/read_file.ts')).readFile(file);
      if (contents.is !== 'document') return { at: 'matching', name: file.name, ...contents };
      const { document } = contents;
      return await check({ name: file.name, document, leftOut: 0, isWhole: true }, withDeletions);
    });
  };
  const matched = (name: string) => (document: EntityDocument) => {
    setWithDeletions(false);
    void attempt(() => check({ name, document, leftOut: 0, isWhole: false }, false));
  };
  const leaveOut = ({ name, document, plan, leftOut, isWhole }: Checked): Promise<void> => {
    return attempt(async () => {
      const { document: rest, count } = withoutPlaces(document, plan.problems?.map(({ place }) => place) ?? []);
      return await check({ name, document: rest, leftOut: leftOut + count, isWhole }, withDeletions);
    });
  };
  const run = async ({ document }: Checked): Promise<void> => {
    setStage({ at: 'running' });
    try {
      const job = await runImport(bodyOf(document), { isDry: false, withDeletions });
      if (job.state === 'done') toast(t('Import finished'));
    } catch (error) {
      setStage({ at: 'choosing', problem: errorText(error) });
    }
  };
  const isRunning = stage.at === 'running' && isUnderWay(importJob.value);
  return (
    <Dialog
      wide={stage.at === 'preview' || stage.at === 'matching'}
      title={t('Import from a file')}
      onClose={onClose}
      foot={
        <>
          {isRunning && <CancelImport />}
          <Button onClick={onClose}>{stage.at === 'running' ? t('Close') : t('Cancel')}</Button>
          {stage.at === 'preview' && <Begin {...stage} {...{ withDeletions }} onBegin={() => void run(stage)} />}
        </>
      }
    >
      <div class={flow.stack}>
        {stage.at === 'choosing' && <Choosing problem={stage.problem} onFile={(file) => void read(file)} />}
        {stage.at === 'reading' && <Reading />}
        {stage.at === 'matching' && stage.is === 'drawing' && (
          <MatchDrawing {...stage} onMatched={matched(stage.name)} />
        )}
        {stage.at === 'matching' && stage.is === 'table' && <MatchTable {...stage} onMatched={matched(stage.name)} />}
        {stage.at === 'preview' && (
          <Preview
            {...stage}
            withDeletions={withDeletions}
            onWithDeletions={(isOn) => {
              setWithDeletions(isOn);
              void attempt(() => check(stage, isOn));
            }}
            onLeaveOut={() => void leaveOut(stage)}
          />
        )}
        {stage.at === 'running' && <Running />}
      </div>
    </Dialog>
  );
}

function Begin({
  plan,
  document,
  withDeletions,
  onBegin,
}: Pick<Checked, 'plan' | 'document'> & { readonly withDeletions: boolean; readonly onBegin: () => void }) {
  const changes = changesOf(plan);
  const lists = [...document.lists.keys(), ...definedIn(document)];
  const off = whyNoImportOf(lists, { withRules: document.rules !== undefined, withDeletions });
  const isNothing = changes === 0 || plan.state !== 'done';
  return (
    <Button kind="main" icon="upload" disabled={isNothing} off={off} onClick={onBegin}>
      {changes === 1 ? t('Make 1 change') : t('Make {count} changes', { count: countText(changes) })}
    </Button>
  );
}

/** How many changes an import makes; rules count as one. */
function changesOf({ counts = {}, rules }: Import): number {
  const entities = Object.values(counts).map(({ created, changed, deleted }) => created + changed + deleted);
  return entities.reduce((sum, each) => sum + each, rules === 'changed' ? 1 : 0);
}

function Reading() {
  const job = importJob.value;
  return isUnderWay(job) ? <ImportProgress job={job} /> : <Spinner label={t('Reading the file')} />;
}

function Running() {
  const job = importJob.value;
  if (job === undefined) return <Spinner label={t('Sending the file')} />;
  if (!isUnderWay(job)) return <ImportResult job={job} />;
  return (
    <>
      <ImportProgress job={job} />
      <p class={typography.soft}>{t('It goes on when this page is left. The lists tell how far it is.')}</p>
    </>
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
        <strong>{t('Choose a file')}</strong>
        <span class={typography.soft}>{t('or drop it here. Nothing changes before you have seen what would.')}</span>
        <span class={typography.faint}>{t('An export of a hub, GeoJSON, KML, IMDF, DXF or CSV')}</span>
        <input
          type="file"
          class={typography.hidden}
          accept={ACCEPTED}
          aria-label={t('File to import')}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) onFile(file);
          }}
        />
      </label>
    </>
  );
}

function Preview(
  props: Checked & {
    readonly withDeletions: boolean;
    readonly onWithDeletions: (isOn: boolean) => void;
    readonly onLeaveOut: () => void;
  },
) {
  const { name, document, plan, withDeletions, leftOut, definedMissing } = props;
  const missing = new Map(
    NEEDED_ORDER.map((kind) => [kind, missingIn(document.lists.get(kind), storeOf(kind).items.value.keys())]),
  );
  const allMissing = [...missing.values(), ...Object.values(definedMissing)].reduce((sum, count) => sum + count, 0);
  return (
    <>
      <p class={typography.soft}>
        {tParts(
          changesOf(plan) === 0 ? '{file} has nothing that the hub does not have.' : '{file} compared with the hub:',
          {
            file: <strong>{name}</strong>,
          },
        )}
      </p>
      <div class={tableStyles.box}>
        <table class={tableStyles.table} aria-label={t('Preview')}>
          <thead>
            <tr>
              <th scope="col">{t('Kind')}</th>
              {[t('New'), t('Changed'), t('As it is'), t('Only in the hub')].map((title) => (
                <th scope="col" class={tableStyles.number} key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {NEEDED_ORDER.filter((kind) => document.lists.has(kind)).map((kind) => {
              const counts = plan.counts?.[kind];
              return (
                <tr key={kind}>
                  <th scope="row" class={kindStyles.kind}>
                    {kindsText(kind)}
                  </th>
                  <Count count={counts?.created ?? 0} tone="ok" />
                  <Count count={counts?.changed ?? 0} tone="info" />
                  <Count count={counts?.unchanged ?? 0} />
                  <Count count={missing.get(kind) ?? 0} tone={withDeletions ? 'danger' : undefined} />
                </tr>
              );
            })}
            {DEFINED_NAMES.map((list) => {
              const counts = plan.counts?.[list];
              if (counts === undefined) return null;
              return (
                <tr key={list}>
                  <th scope="row">{DEFINED[list].label}</th>
                  <Count count={counts.created} tone="ok" />
                  <Count count={counts.changed} tone="info" />
                  <Count count={counts.unchanged} />
                  <Count count={definedMissing[list] ?? 0} tone={withDeletions ? 'danger' : undefined} />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {plan.rules === 'changed' && <p class={typography.soft}>{t('The locating rules of the hub are replaced.')}</p>}
      {leftOut === 1 && <Notice>{t('1 entity is left out.')}</Notice>}
      {leftOut > 1 && <Notice>{t('{count} entities are left out.', { count: countText(leftOut) })}</Notice>}
      <ImportProblems plan={plan} document={document} onLeaveOut={props.onLeaveOut} />
      {props.isWhole && allMissing > 0 && (
        <Check
          label={t('Delete what is only in the hub: {count}', { count: countText(allMissing) })}
          checked={withDeletions}
          onChange={props.onWithDeletions}
        />
      )}
    </>
  );
}

/** How many of the hub a list does not name, where there is a list. */
function missingIn(list: readonly { readonly id: string }[] | undefined, kept: Iterable<string>): number {
  if (list === undefined) return 0;
  const named = new Set(list.map(({ id }) => id.toLowerCase()));
  return [...kept].filter((id) => !named.has(id.toLowerCase())).length;
}

/** The same of what people define beside entities, which the hub is asked for: it has found nothing wrong with the file. */
async function missingDefined(document: EntityDocument): Promise<Checked['definedMissing']> {
  const counts = definedIn(document).map(async (name) => {
    const kept = await get<readonly { readonly id: string }[]>(DEFINED[name].path);
    return [
      name,
      missingIn(
        document.defined?.[name] as typeof kept,
        kept.map(({ id }) => id),
      ),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

function definedIn({ defined = {} }: EntityDocument): readonly DefinedName[] {
  return DEFINED_NAMES.filter((name) => defined[name] !== undefined);
}

function Count({ count, tone }: { readonly count: number; readonly tone?: string | undefined }) {
  return (
    <td class={`${tableStyles.number} ${styles.count}`} data-tone={count > 0 ? tone : undefined}>
      {countText(count)}
    </td>
  );
}
