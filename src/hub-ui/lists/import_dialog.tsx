import { useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { lazyPart } from '../controls/lazy.tsx';
import { Notice, Spinner } from '../controls/notice.tsx';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { bodyOf, type HubDocument, membersGiven } from '../formats/entity_document.ts';
import type { FileContents } from '../formats/read_file.ts';
import { type Deletions, importJob, isInProgress, runImport } from '../hub/import_job.ts';
import { whyNoImportOf } from '../hub/rights.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { errorText, loadMessages, sentenceOf } from '../problems/sentences.ts';
import styles from './import_dialog.module.css';
import {
  type ComparedFile,
  changesOf,
  definedIn,
  entitiesOfHub,
  missingDefined,
  Preview,
  type ParsedFile,
} from './import_preview.tsx';
import { CancelImport, ImportProgress, ImportResult } from './import_status.tsx';
import { warningsOf } from './import_warnings.ts';
import { withoutEntitiesAt } from './left_out.ts';

await loadMessages();

const MatchDrawing = lazyPart(async () => (await import('../formats/match_drawing.tsx')).MatchDrawing);
const MatchTable = lazyPart(async () => (await import('../formats/match_table.tsx')).MatchTable);

/** File extensions and media types for the browser's file dialog. */
const ACCEPTED = '.json,.geojson,.kml,.kmz,.csv,.zip,.dxf,application/json,application/geo+json,text/csv';

/** File with layers or columns that the user has to map to entities. */
type Matched = Exclude<FileContents, { readonly is: 'document' }>;

const NO_DELETIONS: Deletions = { others: false, members: false };

type Stage =
  | { readonly at: 'choosing'; readonly problem?: string }
  | { readonly at: 'reading' }
  | ({ readonly at: 'matching'; readonly name: string } & Matched)
  | ({ readonly at: 'preview' } & ComparedFile)
  | { readonly at: 'running' };

/** Dialog that reads a file, previews its changes and has the hub apply all of them or none. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [stage, setStage] = useState<Stage>({ at: isInProgress(importJob.peek()) ? 'running' : 'choosing' });
  const attempt = async (work: () => Promise<Stage>): Promise<void> => {
    setStage({ at: 'reading' });
    try {
      setStage(await work());
    } catch (error) {
      setStage({ at: 'choosing', problem: errorText(error) });
    }
  };
  const check = async (read: ParsedFile, deletes: Deletions): Promise<Stage> => {
    const hub = await entitiesOfHub(read.document);
    const plan = await runImport(bodyOf(read.document, hub), { isDry: true, deletes });
    if (plan.state === 'failed') throw new Error(sentenceOf({ ...plan, message: plan.error ?? '' }));
    // A full export of a hub needs no warnings about its contents.
    const warnings = read.isWhole ? [] : warningsOf(read.document, hub);
    const definedMissing = await missingDefined(read.document);
    return { at: 'preview', ...read, deletes, hub, plan, warnings, definedMissing };
  };
  const read = (file: File): Promise<void> => {
    return attempt(async () => {
      const contents = await (await import('../formats/read_file.ts')).readFile(file);
      if (contents.is !== 'document') return { at: 'matching', name: file.name, ...contents };
      const { document, notes } = contents;
      return await check({ name: file.name, document, notes, leftOut: 0, isWhole: true }, NO_DELETIONS);
    });
  };
  const matched = ({ name, notes }: { readonly name: string; readonly notes: readonly string[] }) => {
    return (document: HubDocument): void => {
      void attempt(() =>
        check({ name, document: withScopes(document), notes, leftOut: 0, isWhole: false }, NO_DELETIONS),
      );
    };
  };
  const leaveOut = ({ document, plan, leftOut, deletes, ...read }: ComparedFile): Promise<void> => {
    return attempt(async () => {
      const { document: rest, count } = withoutEntitiesAt(document, plan.problems?.map(({ place }) => place) ?? []);
      return await check({ ...read, document: rest, leftOut: leftOut + count }, deletes);
    });
  };
  const run = async ({ document, hub, deletes }: ComparedFile): Promise<void> => {
    setStage({ at: 'running' });
    try {
      const job = await runImport(bodyOf(document, hub), { isDry: false, deletes });
      if (job.state === 'done') toast(t('Import finished'));
    } catch (error) {
      setStage({ at: 'choosing', problem: errorText(error) });
    }
  };
  const isRunning = stage.at === 'running' && isInProgress(importJob.value);
  return (
    <Dialog
      wide={stage.at === 'preview' || stage.at === 'matching'}
      title={t('Import from a file')}
      onClose={onClose}
      foot={
        <>
          {isRunning && <CancelImport />}
          <Button onClick={onClose}>{stage.at === 'running' ? t('Close') : t('Cancel')}</Button>
          {stage.at === 'preview' && <Begin {...stage} onBegin={() => void run(stage)} />}
        </>
      }
    >
      {stage.at === 'choosing' && <Choosing problem={stage.problem} onFile={(file) => void read(file)} />}
      {stage.at === 'reading' && <Reading />}
      {stage.at === 'matching' && stage.is === 'drawing' && <MatchDrawing {...stage} onMatched={matched(stage)} />}
      {stage.at === 'matching' && stage.is === 'table' && <MatchTable {...stage} onMatched={matched(stage)} />}
      {stage.at === 'preview' && (
        <Preview
          {...stage}
          onDelete={(deletes) => void attempt(() => check(stage, deletes))}
          onLeaveOut={() => void leaveOut(stage)}
        />
      )}
      {stage.at === 'running' && <Running />}
    </Dialog>
  );
}

/** Sets the scopes of a drawing or table, if its reader has not: the members of any of its entities. */
function withScopes(document: HubDocument): HubDocument {
  const scopes = new Map([...document.lists].map(([kind, list]) => [kind, membersGiven(list)] as const));
  return { scopes, ...document };
}

function Begin({ plan, document, deletes, onBegin }: ComparedFile & { readonly onBegin: () => void }) {
  const changes = changesOf(plan);
  const lists = [...document.lists.keys(), ...definedIn(document)];
  const off = whyNoImportOf(lists, { withRules: document.rules !== undefined, withDeletions: deletes.others });
  const isNothing = changes === 0 || plan.state !== 'done';
  return (
    <Button kind="main" icon="upload" disabled={isNothing} off={off} onClick={onBegin}>
      {changes === 1 ? t('Import 1 item') : t('Import {count} items', { count: countText(changes) })}
    </Button>
  );
}

function Reading() {
  const job = importJob.value;
  return isInProgress(job) ? <ImportProgress job={job} /> : <Spinner label={t('Reading the file')} />;
}

function Running() {
  const job = importJob.value;
  if (job === undefined) return <Spinner label={t('Sending the file')} />;
  if (!isInProgress(job)) return <ImportResult job={job} />;
  return (
    <>
      <ImportProgress job={job} />
      <p class={typography.soft}>{t('You may leave this page. The lists show the progress.')}</p>
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
        <span class={typography.soft}>{t('or drop it here. You see all changes before they are made.')}</span>
        <span class={typography.faint}>{t('Hub export, GeoJSON, KML, KMZ, IMDF, DXF or CSV')}</span>
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
