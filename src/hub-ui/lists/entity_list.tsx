import { useMemo, useState } from 'preact/hooks';
import { BulkDialog } from '../bulk/bulk_dialog.tsx';
import { CopyDialog } from '../bulk/copy_dialog.tsx';
import { undoNote } from '../bulk/undo_deletion.ts';
import { Button } from '../controls/button.tsx';
import { confirm } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { pageOf, sortedBy } from '../controls/sort_and_page.ts';
import { Table } from '../controls/table.tsx';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, kindsText, kindText, labelOf } from '../hub/entity_kinds.ts';
import { entityPath } from '../hub/rest.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { AssignDialog } from './assign_dialog.tsx';
import { choiceColumn, columnsOf } from './entity_columns.tsx';
import { EntityDialog } from './entity_dialog.tsx';
import { FACTS } from './entity_facts.ts';
import styles from './entity_list.module.css';
import { isActivityLoaded } from './fleet_summary.ts';
import { Pager, SIZES } from './pager.tsx';

/** Interval at which rows are sorted again by a live column. */
const SORT_AGAIN_MS = 5_000;
/** Maximum number of names in the confirmation of a deletion. */
const NAMED_MAX = 500;

/** Table of the entities that match the search: sorted, paged, selectable. */
export function EntityList<K extends Kind>({
  kind,
  found,
  onDelete,
}: {
  readonly kind: K;
  readonly found: readonly Entities[K][];
  /** Called with the ids to delete, after confirmation. */
  readonly onDelete: (ids: readonly string[]) => void;
}) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const sorting = useSorting(kind);
  const nowMs = useNow(SORT_AGAIN_MS);
  const rows = useMemo(
    () => sortedBy(found, sorting.value, sorting.descending),
    [found, kind, sorting.key, sorting.descending, sorting.isLive && [nowMs, isActivityLoaded.value].join(' ')],
  );
  const size = SIZES.find((each) => String(each) === urlParam('size')) ?? SIZES[0];
  const part = pageOf(rows, Number(urlParam('page') ?? 1), size);
  // Ignore selected ids that no longer match the search or that another user has deleted.
  const selection = useMemo(() => rows.filter(({ id }) => selected.has(id)).map(({ id }) => id), [rows, selected]);
  const shownId = urlParam('json');
  const shown = shownId === undefined ? undefined : found.find(({ id }) => id === shownId);
  const unassigned = kind === 'providers' ? storeOf('providers').items.value.get(urlParam('assign') ?? '') : undefined;
  const ask = async (): Promise<void> => {
    const isOne = selection.length === 1;
    const yes = await confirm({
      title: t('Delete {what}?', {
        what: isOne
          ? t('this {kind}', { kind: kindText(kind) })
          : t('these {count} {kind}', { count: countText(selection.length), kind: kindsText(kind) }),
      }),
      text: <DeletionList kind={kind} labels={rows.filter(({ id }) => selected.has(id)).map(labelOf)} />,
      action: isOne
        ? t('Delete')
        : t('Delete {count} {kind}', { count: countText(selection.length), kind: kindsText(kind) }),
    });
    if (yes) onDelete(selection);
  };
  const choose = (ids: readonly string[], isOn: boolean): void => {
    const next = new Set(selection);
    for (const id of ids) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    setSelected(next);
  };
  const mayDelete = can('DELETE', entityPath(kind, 'any'));
  const mayChange = can('UPDATE', entityPath(kind, 'any'));
  const [dialog, setDialog] = useState<'change' | 'copy'>();
  const columns = [
    ...(mayDelete || mayChange ? [choiceColumn<K>({ shown: part.rows, selection: new Set(selection), choose })] : []),
    ...columnsOf(kind),
  ];
  return (
    <>
      {selection.length > 0 && (
        <div class={styles.selection} role="status">
          <strong>{t('{count} selected', { count: countText(selection.length) })}</strong>
          {selection.length < rows.length && (
            <Button kind="quiet" onClick={() => setSelected(new Set(rows.map(({ id }) => id)))}>
              {t('Select all {count} found', { count: countText(rows.length) })}
            </Button>
          )}
          <Button kind="quiet" onClick={() => setSelected(new Set())}>
            {t('Clear')}
          </Button>
          <span class={flow.space} />
          {mayChange && (
            <Button icon="edit" onClick={() => setDialog('change')}>
              {t('Change')}
            </Button>
          )}
          {kind === 'fences' && can('CREATE', '/fences') && (
            <Button icon="copy" onClick={() => setDialog('copy')}>
              {t('Copy')}
            </Button>
          )}
          {mayDelete && (
            <Button kind="danger" icon="trash" onClick={() => void ask()}>
              {t('Delete')}
            </Button>
          )}
        </div>
      )}
      <Table
        label={t('All {kind}', { kind: kindsText(kind) })}
        columns={columns}
        rows={part.rows}
        keyOf={({ id }) => id}
        sorting={sorting}
        onSort={({ key, descending }) => setUrlParams({ sort: descending ? `-${key}` : key, page: undefined })}
        isSelected={({ id }) => selected.has(id)}
      />
      <Pager {...part} total={rows.length} size={size} />
      {dialog === 'change' && (
        <BulkDialog
          kind={kind}
          entities={rows.filter(({ id }) => selected.has(id))}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'copy' && <CopyDialog ids={selection} onClose={() => setDialog(undefined)} />}
      {unassigned && <AssignDialog provider={unassigned} onClose={() => setUrlParams({ assign: undefined })} />}
      {shown && <EntityDialog kind={kind} entity={shown} onClose={() => setUrlParams({ json: undefined })} />}
    </>
  );
}

/** Names of the entities to delete, since a search may match more than intended. */
function DeletionList({ kind, labels }: { readonly kind: Kind; readonly labels: readonly string[] }) {
  const more = labels.length - NAMED_MAX;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable list needs keyboard focus */}
      <ul class={styles.deletions} tabIndex={0} aria-label={t('To be deleted')}>
        {labels.slice(0, NAMED_MAX).map((label, index) => (
          <li key={index} class={typography.cut}>
            {label}
          </li>
        ))}
        {more > 0 && <li>{t('… and {count} more', { count: countText(more) })}</li>}
      </ul>
      <p>{undoNote(kind)}</p>
    </>
  );
}

function useSorting<K extends Kind>(kind: K) {
  const text = urlParam('sort') ?? 'name';
  const requestedKey = text.replace(/^-/, '');
  const fact = FACTS[kind].find(({ key }) => key === requestedKey);
  const key = fact?.key ?? (requestedKey === 'id' ? 'id' : 'name');
  const value = fact?.value ?? ((entity: Entities[K]) => (key === 'id' ? entity.id : labelOf(entity)));
  return { key, descending: text.startsWith('-'), value, isLive: fact?.isLive === true };
}
