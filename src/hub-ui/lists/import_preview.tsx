import { idKey } from '../../model/id.ts';
import type { Import } from '../../model/import.ts';
import { Disclosure } from '../controls/disclosure.tsx';
import { Check } from '../controls/field.tsx';
import { Notice } from '../controls/notice.tsx';
import progress from '../controls/progress.module.css';
import tableStyles from '../controls/table.module.css';
import typography from '../controls/typography.module.css';
import { type DocumentNote, type HubDocument, type HubEntities, NEEDED_ORDER } from '../formats/entity_document.ts';
import { DEFINITIONS, DEFINITION_NAMES, type DefinitionName } from '../hub/definitions.ts';
import { kindsText } from '../hub/entity_kinds.ts';
import type { Deletions } from '../hub/import_job.ts';
import { get, listEntities } from '../hub/rest.ts';
import { t, tParts } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { MemberChanges } from './import_changes.tsx';
import styles from './import_dialog.module.css';
import { ImportProblems } from './import_problems.tsx';
import kindStyles from './kind.module.css';

/** Parsed import file. */
export interface ParsedFile {
  readonly name: string;
  readonly document: HubDocument;
  /** Warnings about the file as a whole. */
  readonly notes: readonly string[];
  /** Number of invalid entities that were omitted. */
  readonly leftOut: number;
  /** Whether the file is a full export of a hub, and not a drawing or table from elsewhere. */
  readonly isWhole: boolean;
}

/** Parsed import file, compared with the hub. */
export interface ComparedFile extends ParsedFile {
  readonly deletes: Deletions;
  /** Entities of the hub, of the kinds in the file. */
  readonly hub: HubEntities;
  readonly plan: Import;
  /** Probable mistakes. */
  readonly warnings: readonly DocumentNote[];
  /** Number of alert rules and views that only the hub has. */
  readonly definedMissing: Readonly<Partial<Record<DefinitionName, number>>>;
}

/** Preview of an import, member by member. Offers to delete entities and members that the file does not contain. */
export function Preview({
  onDelete,
  onLeaveOut,
  ...checked
}: ComparedFile & { readonly onDelete: (deletes: Deletions) => void; readonly onLeaveOut: () => void }) {
  const { name, document, plan, deletes, hub, leftOut, isWhole, definedMissing, notes, warnings } = checked;
  const missing = new Map(
    NEEDED_ORDER.map((kind) => [kind, missingIn(document.lists.get(kind), hub.get(kind)?.keys() ?? [])]),
  );
  const allMissing = [...missing.values(), ...Object.values(definedMissing)].reduce((sum, count) => sum + count, 0);
  const { member_changes: changes = [], member_change_count: count = 0, missing_count: missingCount = 0 } = plan;
  return (
    <>
      <p class={typography.soft}>
        {tParts(changesOf(plan) === 0 ? '{file} contains no changes.' : '{file} compared with the hub:', {
          file: <strong>{name}</strong>,
        })}
      </p>
      <div class={tableStyles.box}>
        <table class={tableStyles.table} aria-label={t('Preview')}>
          <thead>
            <tr>
              <th scope="col">{t('Kind')}</th>
              {[t('New'), t('Changed'), t('Unchanged'), t('Only in the hub')].map((title) => (
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
                  <Count count={missing.get(kind) ?? 0} tone={deletes.others ? 'danger' : undefined} />
                </tr>
              );
            })}
            {DEFINITION_NAMES.map((list) => {
              const counts = plan.counts?.[list];
              if (counts === undefined) return null;
              return (
                <tr key={list}>
                  <th scope="row">{DEFINITIONS[list].label}</th>
                  <Count count={counts.created} tone="ok" />
                  <Count count={counts.changed} tone="info" />
                  <Count count={counts.unchanged} />
                  <Count count={definedMissing[list] ?? 0} tone={deletes.others ? 'danger' : undefined} />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <Disclosure title={t('Changed members: {count}', { count: countText(count) })} isOpen={count > 0}>
        <MemberChanges label={t('Changes')} {...{ changes, count, document, hub }} />
      </Disclosure>
      {plan.rules === 'changed' && <p class={typography.soft}>{t('The locating rules of the hub are replaced.')}</p>}
      {leftOut === 1 && <Notice>{t('1 item is skipped.')}</Notice>}
      {leftOut > 1 && <Notice>{t('{count} items are skipped.', { count: countText(leftOut) })}</Notice>}
      {notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      <DocumentNotes notes={[...(document.notes ?? []), ...warnings]} />
      <ImportProblems plan={plan} document={document} onLeaveOut={onLeaveOut} />
      {missingCount > 0 && (
        <>
          <Check
            label={t('Delete values that are missing in the file: {count}', { count: countText(missingCount) })}
            checked={deletes.members}
            onChange={(members) => onDelete({ ...deletes, members })}
          />
          <Disclosure
            title={deletes.members ? t('Values that are deleted') : t('Values that are missing in the file')}
            isOpen={deletes.members}
          >
            <MemberChanges
              label={t('Values that are missing in the file')}
              changes={plan.missing ?? []}
              count={missingCount}
              {...{ document, hub }}
            />
          </Disclosure>
        </>
      )}
      {isWhole && allMissing > 0 && (
        <Check
          label={t('Delete items that are only in the hub: {count}', { count: countText(allMissing) })}
          checked={deletes.others}
          onChange={(others) => onDelete({ ...deletes, others })}
        />
      )}
    </>
  );
}

const NOTES_SHOWN = 50;

/** List of notes about values that could not be used unchanged. */
function DocumentNotes({ notes }: { readonly notes: readonly DocumentNote[] }) {
  if (notes.length === 0) return null;
  return (
    <Notice tone="warn">
      <ul class={progress.failures} aria-label={t('Notes')}>
        {notes.slice(0, NOTES_SHOWN).map(({ where, what }, index) => (
          <li key={index}>
            <strong>{where}:</strong> {what}
          </li>
        ))}
        {notes.length > NOTES_SHOWN && <li>{t('{count} more', { count: countText(notes.length - NOTES_SHOWN) })}</li>}
      </ul>
    </Notice>
  );
}

/** Number of changes that an import makes; rules count as one. */
export function changesOf({ counts = {}, rules }: Import): number {
  const entities = Object.values(counts).map(({ created, changed, deleted }) => created + changed + deleted);
  return entities.reduce((sum, each) => sum + each, rules === 'changed' ? 1 : 0);
}

/** Number of ids on the hub that are not in the list; 0 without a list. */
function missingIn(list: readonly { readonly id: string }[] | undefined, stored: Iterable<string>): number {
  if (list === undefined) return 0;
  const named = new Set(list.map(({ id }) => id.toLowerCase()));
  return [...stored].filter((id) => !named.has(id.toLowerCase())).length;
}

/** Fetches the hub's entities of the kinds in the file: the page may not have received all of them yet. */
export async function entitiesOfHub({ lists }: HubDocument): Promise<HubEntities> {
  const listed = [...lists.keys()].map(async (kind) => {
    return [kind, new Map((await listEntities(kind)).map((each) => [idKey(each.id), each]))] as const;
  });
  return new Map(await Promise.all(listed));
}

/** Number of alert rules and views that only the hub has. Requires a file that the hub has accepted. */
export async function missingDefined(document: HubDocument): Promise<ComparedFile['definedMissing']> {
  const counts = definedIn(document).map(async (name) => {
    const stored = await get<readonly { readonly id: string }[]>(DEFINITIONS[name].path);
    return [
      name,
      missingIn(
        document.defined?.[name] as typeof stored,
        stored.map(({ id }) => id),
      ),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

export function definedIn({ defined = {} }: HubDocument): readonly DefinitionName[] {
  return DEFINITION_NAMES.filter((name) => defined[name] !== undefined);
}

function Count({ count, tone }: { readonly count: number; readonly tone?: string | undefined }) {
  return (
    <td class={`${tableStyles.number} ${styles.count}`} data-tone={count > 0 ? tone : undefined}>
      {countText(count)}
    </td>
  );
}
