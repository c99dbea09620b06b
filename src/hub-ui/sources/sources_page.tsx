import type { Source, SourceStatus } from '../../model/source.ts';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { ago, useNow } from '../controls/time.ts';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import { SourceDialog } from './source_dialog.tsx';
import styles from './sources.module.css';

const EVERY_MS = 3_000;

const STATE_LOOKS = {
  disabled: { label: t('Disabled'), tone: 'neutral' },
  elsewhere: { label: t('On another hub'), tone: 'neutral' },
  connecting: { label: t('Connecting'), tone: 'info' },
  receiving: { label: t('Receiving'), tone: 'ok' },
  failing: { label: t('Failing'), tone: 'danger' },
} as const satisfies Readonly<Record<SourceStatus['state'], object>>;

interface Row {
  readonly source: Source;
  readonly status: SourceStatus | undefined;
  readonly nowMs: number;
}

/** The data sources of the hub. The URL names the one that is edited. */
export function SourcesPage() {
  const sources = usePolled<readonly Source[]>('/sources', EVERY_MS);
  const statuses = usePolled<readonly SourceStatus[]>('/sources/status', EVERY_MS);
  const nowMs = useNow(1_000);
  const found = new Map(statuses.value?.map((status) => [status.id, status]));
  const rows = (sources.value ?? []).map((source): Row => ({ source, status: found.get(source.id), nowMs }));
  const isNew = urlParam('new') !== undefined;
  const edited = sources.value?.find(({ id }) => id === urlParam('edit'));
  const refresh = (): void => {
    sources.refresh();
    statuses.refresh();
  };
  return (
    <Page
      title={t('Data sources')}
      lead={t('Systems whose payloads the hub maps to locations.')}
      actions={
        can('CREATE', '/sources') && (
          <Button kind="main" icon="plus" onClick={() => setUrlParams({ new: 1 })}>
            {t('New source')}
          </Button>
        )
      }
    >
      <ProblemNotice problem={sources.problem ?? statuses.problem} />
      {sources.value === undefined && sources.problem === undefined && <Spinner />}
      {sources.value !== undefined && (
        <Card flush>
          {rows.length === 0 ? (
            <Empty icon="provider" title={t('No data sources yet')}>
              <p>{t('A data source needs no program between a system and the hub.')}</p>
            </Empty>
          ) : (
            <Table label={t('Data sources')} columns={COLUMNS} rows={rows} keyOf={({ source: { id } }) => id} />
          )}
        </Card>
      )}
      {(isNew || edited !== undefined) && (
        <SourceDialog
          key={edited?.id ?? ''}
          source={edited}
          onClose={() => setUrlParams({ new: undefined, edit: undefined })}
          onSaved={refresh}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    key: 'name',
    title: t('Name'),
    class: styles.name,
    cell: ({ source, status }) => (
      <>
        {can('UPDATE', `/sources/${source.id}`) ? (
          <Link href={`/sources?edit=${encodeURIComponent(source.id)}`}>{source.name}</Link>
        ) : (
          source.name
        )}
        <Trouble status={status} />
      </>
    ),
  },
  {
    key: 'state',
    title: t('State'),
    cell: ({ status }) =>
      status && (
        <Badge tone={STATE_LOOKS[status.state].tone} dot>
          {STATE_LOOKS[status.state].label}
        </Badge>
      ),
  },
  { key: 'kind', title: t('Type'), class: flow.wideOnly, cell: ({ source }) => <code>{source.kind}</code> },
  ...(
    [
      ['received', t('Received')],
      ['mapped', t('Mapped')],
      ['refused', t('Refused')],
      ['throttled', t('Throttled')],
    ] as const
  ).map(([key, title]) => ({
    key,
    title,
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ status }: Row) => status && countText(status[key]),
  })),
  {
    key: 'last',
    title: t('Last payload'),
    class: flow.wideOnly,
    cell: ({ status, nowMs }) =>
      status?.last_received_at && ago(Math.max(0, nowMs - Date.parse(status.last_received_at))),
  },
];

/** The error of the connection, or else the last refused payload. */
function Trouble({ status }: { readonly status: SourceStatus | undefined }) {
  const text = status?.error ?? status?.last_refused?.message;
  return text === undefined ? null : <p class={styles.error}>{text}</p>;
}
