import { useEffect, useRef } from 'preact/hooks';
import { Badge } from '../controls/badge.tsx';
import { Button, IconButton, IconLink } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import type { Column } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams } from '../controls/url_state.ts';
import { mayAssign } from '../hub/access.ts';
import { type Entities, type Kind, labelOf } from '../hub/entity_kinds.ts';
import { mirrorOf } from '../hub/mirrors.ts';
import { editorPath, mapPath } from '../hub/page_paths.ts';
import { readWritable } from '../hub/writable_entities.ts';
import { t } from '../languages/language.ts';
import { curlOf } from './curl.ts';
import styles from './entity_columns.module.css';
import { FACTS } from './entity_facts.ts';
import { isTagKind, isUnassigned } from './fleet_summary.ts';

interface SelectionProps<K extends Kind> {
  readonly shown: readonly Entities[K][];
  readonly selection: ReadonlySet<string>;
  readonly choose: (ids: readonly string[], isOn: boolean) => void;
}

/** Column of check boxes; the one in the heading selects the whole page. */
export function choiceColumn<K extends Kind>({ shown, selection, choose }: SelectionProps<K>): Column<Entities[K]> {
  const count = shown.filter(({ id }) => selection.has(id)).length;
  const ids = shown.map(({ id }) => id);
  return {
    key: 'choice',
    title: t('Selected'),
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
        aria-label={t('Select {name}', { name: labelOf(entity) })}
        checked={selection.has(entity.id)}
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
      aria-label={t('Select this page')}
      checked={state === 'all'}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** Columns of the list of a kind. */
export function columnsOf<K extends Kind>(kind: K): Column<Entities[K]>[] {
  const hasNarrow = FACTS[kind].some(({ isNarrow }) => isNarrow);
  const facts = FACTS[kind].map((fact, index): Column<Entities[K]> => {
    const { key, title, isNumber = false, value, text = value } = fact;
    const isShown = hasNarrow ? fact.isNarrow === true : index === 0;
    const cell = (entity: Entities[K]) =>
      key === 'trackables' && isTagKind(kind) && isUnassigned(kind, entity as Entities[typeof kind]) ? (
        <AssignButton provider={entity as Entities['providers']} />
      ) : (
        <span class={`${typography.cut} ${styles.fact}`}>
          {text(entity) ?? <span class={typography.faint}>–</span>}
        </span>
      );
    return { key, title, isNumber, sorts: true, cell, ...(!isShown && { class: flow.wideOnly }) };
  });
  return [
    {
      key: 'name',
      title: t('Name'),
      sorts: true,
      class: styles.name,
      cell: (entity) => <Name kind={kind} entity={entity} />,
    },
    ...facts,
    {
      key: 'id',
      title: t('Id'),
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
      title: t('Actions'),
      head: <span class={typography.hidden}>{t('Actions')}</span>,
      class: styles.actions,
      cell: (entity) => <Actions kind={kind} entity={entity} />,
    },
  ];
}

/** Button that assigns an unassigned provider; a badge without permission. */
function AssignButton({ provider }: { readonly provider: Entities['providers'] }) {
  if (!mayAssign()) return <Badge tone="warn">{t('Unassigned')}</Badge>;
  return (
    <Button
      class={styles.assign}
      icon="plus"
      aria-label={t('Assign {name}', { name: labelOf(provider) })}
      onClick={() => setUrlParams({ assign: provider.id })}
    >
      {t('Assign')}
    </Button>
  );
}

function Name({ kind, entity }: { readonly kind: Kind; readonly entity: Entities[Kind] }) {
  const label = labelOf(entity);
  return (
    <>
      <Link href={editorPath(kind, entity.id)}>{label}</Link>
      {mirrorOf(entity) !== undefined && (
        <>
          {' '}
          <Badge tone="info">{t('Mirrored')}</Badge>
        </>
      )}
    </>
  );
}

function Actions<K extends Kind>({ kind, entity }: { readonly kind: K; readonly entity: Entities[K] }) {
  const label = labelOf(entity);
  const copy = async (): Promise<void> => {
    const writable = await readWritable(kind, entity).catch(() => entity);
    await copyText(curlOf('PUT', kind, writable), t('Command'));
  };
  return (
    <span class={styles.buttons}>
      <IconLink
        href={mapPath(kind, entity.id)}
        icon="map"
        label={t('Show {name} on the map', { name: label })}
        title={t('Show on the map')}
      />
      <IconButton
        icon="code"
        label={t('JSON of {name}', { name: label })}
        onClick={() => setUrlParams({ json: entity.id })}
      />
      <IconButton
        class={flow.wideOnly}
        icon="copy"
        label={t('Copy {name} as curl', { name: label })}
        onClick={() => void copy()}
      />
    </span>
  );
}
