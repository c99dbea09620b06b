import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button, IconButton, IconLink } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import { confirm } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { type Column, Table } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, labelOf, SINGULAR } from '../hub/kinds.ts';
import { entityPath } from '../hub/rest.ts';
import { setUrlParams, urlParam } from '../shell/url_state.ts';
import { curlOf } from './curl.ts';
import { EntityDialog } from './entity_dialog.tsx';
import { FACTS } from './entity_facts.ts';
import styles from './entity_list.module.css';
import { readKept } from './exportable.ts';
import { Pager, SIZES } from './pager.tsx';
import { pageOf, sortedBy } from './sort_and_page.ts';

/** Names in the question before a deletion. */
const NAMED_MAX = 8;

/** The entities of a kind that match the search: sorted, a page at a time, to be selected and looked at. */
export function EntityList<K extends Kind>({
  kind,
  found,
  onDelete,
}: {
  readonly kind: K;
  readonly found: readonly Entities[K][];
  /** Called with the ids of what is to be deleted, once that is confirmed. */
  readonly onDelete: (ids: readonly string[]) => void;
}) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const sorting = useSorting(kind);
  const rows = useMemo(
    () => sortedBy(found, sorting.value, sorting.descending),
    [found, kind, sorting.key, sorting.descending],
  );
  const size = SIZES.find((each) => String(each) === urlParam('size')) ?? SIZES[0];
  const part = pageOf(rows, Number(urlParam('page') ?? 1), size);
  // What is not found any more, or was deleted by somebody else, is not selected either.
  const chosen = useMemo(() => rows.filter(({ id }) => selected.has(id)).map(({ id }) => id), [rows, selected]);
  const shownId = urlParam('json');
  const shown = shownId === undefined ? undefined : found.find(({ id }) => id === shownId);
  const ask = async (): Promise<void> => {
    const isOne = chosen.length === 1;
    const yes = await confirm({
      title: `Delete ${isOne ? `this ${SINGULAR[kind]}` : `these ${chosen.length} ${kind}`}?`,
      text: <Doomed labels={rows.filter(({ id }) => selected.has(id)).map(labelOf)} />,
      action: isOne ? 'Delete' : `Delete ${chosen.length} ${kind}`,
    });
    if (yes) onDelete(chosen);
  };
  const choose = (ids: readonly string[], isOn: boolean): void => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    setSelected(next);
  };
  const maySelect = can('DELETE', entityPath(kind, 'any'));
  const columns = [
    ...(maySelect ? [choiceColumn<K>({ shown: part.rows, chosen: new Set(chosen), choose })] : []),
    ...columnsOf(kind),
  ];
  return (
    <>
      {chosen.length > 0 && (
        <div class={styles.chosen} role="status">
          <strong>{`${chosen.length} selected`}</strong>
          {chosen.length < rows.length && (
            <Button kind="quiet" onClick={() => setSelected(new Set(rows.map(({ id }) => id)))}>
              {`Select all ${rows.length} found`}
            </Button>
          )}
          <Button kind="quiet" onClick={() => setSelected(new Set())}>
            Clear
          </Button>
          <span class={flow.space} />
          <Button kind="danger" icon="trash" onClick={() => void ask()}>
            Delete
          </Button>
        </div>
      )}
      <Table
        label={`All ${kind}`}
        columns={columns}
        rows={part.rows}
        keyOf={({ id }) => id}
        sorting={sorting}
        onSort={({ key, descending }) => setUrlParams({ sort: descending ? `-${key}` : key, page: undefined })}
        isSelected={({ id }) => selected.has(id)}
      />
      <Pager {...part} total={rows.length} size={size} />
      {shown && <EntityDialog kind={kind} entity={shown} onClose={() => setUrlParams({ json: undefined })} />}
    </>
  );
}

/** The first of what is to be deleted, and how many there are besides: a search may have found more than was meant. */
function Doomed({ labels }: { readonly labels: readonly string[] }) {
  const more = labels.length - NAMED_MAX;
  return (
    <>
      <ul class={styles.doomed}>
        {labels.slice(0, NAMED_MAX).map((label, index) => (
          <li key={index} class={typography.cut}>
            {label}
          </li>
        ))}
        {more > 0 && <li>{`… and ${more} more`}</li>}
      </ul>
      <p>This cannot be undone.</p>
    </>
  );
}

function useSorting<K extends Kind>(kind: K) {
  const text = urlParam('sort') ?? 'name';
  const asked = text.replace(/^-/, '');
  const fact = FACTS[kind].find(({ key }) => key === asked);
  const key = fact?.key ?? (asked === 'id' ? 'id' : 'name');
  const value = fact?.value ?? ((entity: Entities[K]) => (key === 'id' ? entity.id : labelOf(entity)));
  return { key, descending: text.startsWith('-'), value };
}

interface Choosing<K extends Kind> {
  readonly shown: readonly Entities[K][];
  readonly chosen: ReadonlySet<string>;
  readonly choose: (ids: readonly string[], isOn: boolean) => void;
}

function choiceColumn<K extends Kind>({ shown, chosen, choose }: Choosing<K>): Column<Entities[K]> {
  const count = shown.filter(({ id }) => chosen.has(id)).length;
  const ids = shown.map(({ id }) => id);
  return {
    key: 'choice',
    title: 'Selected',
    class: styles.choice,
    head: (
      <CheckAll
        state={count === 0 ? 'none' : count < ids.length ? 'some' : 'all'}
        onChange={(isOn) => choose(ids, isOn)}
      />
    ),
    cell: (entity) => (
      <input
        type="checkbox"
        aria-label={`Select ${labelOf(entity)}`}
        checked={chosen.has(entity.id)}
        onChange={(event) => choose([entity.id], event.currentTarget.checked)}
      />
    ),
  };
}

function CheckAll({
  state,
  onChange,
}: {
  readonly state: 'none' | 'some' | 'all';
  readonly onChange: (isOn: boolean) => void;
}) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = state === 'some';
  }, [state]);
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label="Select this page"
      checked={state === 'all'}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

function columnsOf<K extends Kind>(kind: K): Column<Entities[K]>[] {
  const facts = FACTS[kind].map(({ key, title, isNumber = false, value }, index): Column<Entities[K]> => {
    const cell = (entity: Entities[K]) => (
      <span class={`${typography.cut} ${styles.fact}`}>{value(entity) ?? <span class={typography.faint}>–</span>}</span>
    );
    return { key, title, isNumber, sorts: true, cell, ...(index > 0 && { class: flow.wideOnly }) };
  });
  return [
    {
      key: 'name',
      title: 'Name',
      sorts: true,
      class: styles.name,
      cell: (entity) => <Name kind={kind} entity={entity} />,
    },
    ...facts,
    {
      key: 'id',
      title: 'Id',
      sorts: true,
      class: flow.wideOnly,
      cell: ({ id }) => (
        <span class={`${typography.cut} ${typography.mono} ${styles.id}`} title={id}>
          {id}
        </span>
      ),
    },
    {
      key: 'actions',
      title: 'Actions',
      head: <span class={typography.hidden}>Actions</span>,
      class: styles.actions,
      cell: (entity) => <Actions kind={kind} entity={entity} />,
    },
  ];
}

function Name({ kind, entity }: { readonly kind: Kind; readonly entity: Entities[Kind] }) {
  const label = labelOf(entity);
  return <Link href={`/${entityPath(kind, entity.id).slice(1)}`}>{label}</Link>;
}

function Actions<K extends Kind>({ kind, entity }: { readonly kind: K; readonly entity: Entities[K] }) {
  const label = labelOf(entity);
  const copy = async (): Promise<void> => {
    const kept = await readKept(kind, entity).catch(() => entity);
    await copyText(curlOf('PUT', kind, kept), 'Command');
  };
  return (
    <span class={styles.buttons}>
      <IconLink
        href={`/?sel=${kind}:${encodeURIComponent(entity.id)}`}
        icon="map"
        label={`Show ${label} on the map`}
        title="Show on the map"
      />
      <IconButton icon="code" label={`JSON of ${label}`} onClick={() => setUrlParams({ json: entity.id })} />
      <IconButton class={flow.wideOnly} icon="copy" label={`Copy ${label} as curl`} onClick={() => void copy()} />
    </span>
  );
}
