import { useRoute } from 'wouter-preact';
import type { Sink, SinkStatus } from '../../model/sink.ts';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { sortedBy } from '../controls/sort_and_page.ts';
import { type Column, Table } from '../controls/table.tsx';
import { ago, durationText, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import { failureText, loadMessages } from '../problems/sentences.ts';
import { SinkDialog } from './sink_dialog.tsx';
import { SinkPage } from './sink_page.tsx';
import { STATE_LOOKS, typeLabel } from './sink_text.ts';
import styles from './sinks.module.css';

// Errors in the states are shown in the user's language.
await loadMessages();

const EVERY_MS = 3_000;

interface Row {
  readonly sink: Sink;
  readonly status: SinkStatus | undefined;
  readonly nowMs: number;
}

/** The sinks of the hub, or the one that the URL names. */
export function SinksPage() {
  const [, params] = useRoute('/sinks/:id');
  const id = params?.['id'];
  return id === undefined ? <SinkList /> : <SinkPage key={id} id={decodeURIComponent(id)} />;
}

function SinkList() {
  const sinks = usePolled<readonly Sink[]>('/sinks', EVERY_MS);
  const statuses = usePolled<readonly SinkStatus[]>('/sinks/status', EVERY_MS);
  const nowMs = useNow(1_000);
  const found = new Map(statuses.value?.map((status) => [status.id, status]));
  const rows = (sinks.value ?? []).map((sink): Row => ({ sink, status: found.get(sink.id), nowMs }));
  const isNew = urlParam('new') !== undefined;
  const key = urlParam('sort') ?? 'name';
  const sorting = { key: key.replace(/^-/, ''), descending: key.startsWith('-') };
  const value = COLUMNS.find((column) => column.key === sorting.key)?.value ?? (({ sink }: Row) => sink.name);
  return (
    <Page
      title={t('Sinks')}
      lead={t('Targets to which the hub delivers events: other systems, queues, mailboxes.')}
      actions={
        can('CREATE', '/sinks') && (
          <Button kind="main" icon="plus" onClick={() => setUrlParams({ new: 1 })}>
            {t('New sink')}
          </Button>
        )
      }
    >
      <ProblemNotice problem={sinks.problem ?? statuses.problem} />
      {sinks.value === undefined && sinks.problem === undefined && <Spinner />}
      {sinks.value !== undefined && (
        <Card flush>
          {rows.length === 0 ? (
            <Empty icon="sink" title={t('No sinks yet')}>
              <p>{t('A sink receives the events of the hub although no client is connected.')}</p>
            </Empty>
          ) : (
            <Table
              label={t('Sinks')}
              columns={COLUMNS}
              rows={sortedBy(rows, value, sorting.descending)}
              keyOf={({ sink: { id } }) => id}
              sorting={sorting}
              onSort={({ key, descending }) => setUrlParams({ sort: descending ? `-${key}` : key })}
            />
          )}
        </Card>
      )}
      {isNew && (
        <SinkDialog sink={undefined} onClose={() => setUrlParams({ new: undefined })} onSaved={sinks.refresh} />
      )}
    </Page>
  );
}

const nothing = <span class={typography.faint}>–</span>;

const COLUMNS: readonly (Column<Row> & { readonly value: (row: Row) => string | number | undefined })[] = [
  {
    key: 'name',
    title: t('Name'),
    sorts: true,
    class: styles.name,
    value: ({ sink }) => sink.name,
    cell: ({ sink, status }) => (
      <>
        <Link href={`/sinks/${encodeURIComponent(sink.id)}`}>{sink.name}</Link>
        {status?.error !== undefined && <p class={styles.error}>{failureText(status.error, status)}</p>}
      </>
    ),
  },
  {
    key: 'state',
    title: t('State'),
    sorts: true,
    value: ({ status }) => status?.state,
    cell: ({ status }) => status && <State status={status} />,
  },
  {
    key: 'type',
    title: t('Type'),
    sorts: true,
    class: flow.wideOnly,
    value: ({ sink }) => typeLabel(sink.type),
    cell: ({ sink }) => typeLabel(sink.type),
  },
  {
    key: 'target',
    title: t('Target'),
    sorts: true,
    class: flow.wideOnly,
    value: ({ sink }) => sink.url,
    cell: ({ sink }) => (
      <span class={`${typography.cut} ${styles.target}`} title={sink.url}>
        {sink.url}
      </span>
    ),
  },
  {
    key: 'topics',
    title: t('Topics'),
    class: flow.wideOnly,
    value: ({ sink }) => sink.topics.length,
    cell: ({ sink: { topics } }) => (topics.length === 0 ? nothing : <Topics topics={topics} />),
  },
  {
    key: 'waiting',
    title: t('Waiting'),
    sorts: true,
    isNumber: true,
    class: flow.wideOnly,
    value: ({ status }) => status?.waiting,
    cell: ({ status }) => (status?.waiting === undefined ? nothing : countText(status.waiting)),
  },
  {
    key: 'lag',
    title: t('Lag'),
    sorts: true,
    isNumber: true,
    class: flow.wideOnly,
    value: ({ status }) => status?.lag,
    cell: ({ status }) => (status?.lag === undefined ? nothing : durationText(status.lag)),
  },
  {
    key: 'last',
    title: t('Last delivery'),
    sorts: true,
    class: flow.wideOnly,
    value: ({ status }) => status?.last_delivered_at,
    cell: ({ status, nowMs }) => {
      const at = status?.last_delivered_at;
      return at === undefined ? nothing : ago(Math.max(0, nowMs - Date.parse(at)));
    },
  },
];

/** The first topics, and the number of further ones. */
function Topics({ topics: [first = '', ...others] }: { readonly topics: readonly string[] }) {
  return (
    <span title={[first, ...others].join(', ')}>
      <code>{first}</code>
      {others.length > 0 && ` ${t('and {count} more', { count: countText(others.length) })}`}
    </span>
  );
}

function State({ status }: { readonly status: SinkStatus }) {
  const { label, tone } = STATE_LOOKS[status.state];
  return (
    <Badge tone={tone} dot>
      {label}
    </Badge>
  );
}
