import { useRoute } from 'wouter-preact';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { sortedBy } from '../controls/sort_and_page.ts';
import { type Column, Table } from '../controls/table.tsx';
import { durationText, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import { loadMessages } from '../problems/sentences.ts';
import { LinkDialog } from './link_dialog.tsx';
import { LinkPage } from './link_page.tsx';
import { type LinkWithState, problemText, STATUS_LOOKS, statusOf } from './link_text.ts';
import styles from './links.module.css';

// Errors in the states are shown in the user's language.
await loadMessages();

const EVERY_MS = 3_000;

interface Row {
  readonly link: LinkWithState;
  readonly nowMs: number;
}

/** The links of the hub to others, or the one that the URL names. */
export function LinksPage() {
  const [, params] = useRoute('/links/:id');
  const id = params?.['id'];
  return id === undefined ? <LinkList /> : <LinkPage key={id} id={decodeURIComponent(id)} />;
}

function LinkList() {
  const { value: links, problem, refresh } = usePolled<readonly LinkWithState[]>('/links', EVERY_MS);
  const nowMs = useNow(1_000);
  const key = urlParam('sort') ?? 'name';
  const sorting = { key: key.replace(/^-/, ''), descending: key.startsWith('-') };
  const value = COLUMNS.find((column) => column.key === sorting.key)?.value ?? (({ link }: Row) => link.name);
  return (
    <Page
      title={t('Links')}
      lead={t('Other hubs whose locations this hub accepts as its own.')}
      actions={
        can('CREATE', '/links') && (
          <Button kind="main" icon="plus" onClick={() => setUrlParams({ new: 1 })}>
            {t('New link')}
          </Button>
        )
      }
    >
      <ProblemNotice problem={problem} />
      {links === undefined && problem === undefined && <Spinner />}
      {links !== undefined && (
        <Card flush>
          {links.length === 0 ? (
            <Empty icon="hubs" title={t('No links yet')}>
              <p>{t('A link subscribes to another hub, so its objects move and cause events here as well.')}</p>
            </Empty>
          ) : (
            <Table
              label={t('Links')}
              columns={COLUMNS}
              rows={sortedBy(
                links.map((link): Row => ({ link, nowMs })),
                value,
                sorting.descending,
              )}
              keyOf={({ link: { id } }) => id}
              sorting={sorting}
              onSort={(next) => setUrlParams({ sort: next.descending ? `-${next.key}` : next.key })}
            />
          )}
        </Card>
      )}
      {urlParam('new') !== undefined && (
        <LinkDialog link={undefined} onClose={() => setUrlParams({ new: undefined })} onSaved={refresh} />
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
    value: ({ link }) => link.name,
    cell: ({ link, nowMs }) => {
      return (
        <>
          <Link href={`/links/${encodeURIComponent(link.id)}`}>{link.name}</Link>
          {['waiting', 'self'].includes(statusOf(link)) && <p class={styles.error}>{problemText(link, nowMs)}</p>}
        </>
      );
    },
  },
  {
    key: 'state',
    title: t('State'),
    sorts: true,
    value: ({ link }) => statusOf(link),
    cell: ({ link }) => {
      const { label, tone } = STATUS_LOOKS[statusOf(link)];
      return (
        <Badge tone={tone} dot>
          {label}
        </Badge>
      );
    },
  },
  {
    key: 'hub',
    title: t('Other hub'),
    sorts: true,
    class: flow.wideOnly,
    value: ({ link }) => link.state?.hub_name ?? link.url,
    cell: ({ link }) => (
      <span class={`${typography.cut} ${styles.url}`} title={link.url}>
        {link.state?.hub_name ?? link.url}
      </span>
    ),
  },
  {
    key: 'lag',
    title: t('Lag'),
    sorts: true,
    isNumber: true,
    class: flow.wideOnly,
    value: ({ link }) => link.state?.lag_ms ?? undefined,
    cell: ({ link }) => (link.state?.lag_ms == null ? nothing : durationText(link.state.lag_ms)),
  },
  ...(
    [
      ['received', t('Received'), ({ state }: LinkWithState) => state?.received],
      ['duplicates', t('Duplicates'), ({ state }: LinkWithState) => state?.duplicates],
      ['loops', t('Loops'), ({ state }: LinkWithState) => state?.looped],
      ['dropped', t('Dropped'), ({ state }: LinkWithState) => state?.dropped],
    ] as const
  ).map(([key, title, count]) => ({
    key,
    title,
    sorts: true,
    isNumber: true,
    class: flow.wideOnly,
    value: ({ link }: Row) => count(link),
    cell: ({ link }: Row) => {
      const value = count(link);
      return value === undefined ? nothing : countText(value);
    },
  })),
];
