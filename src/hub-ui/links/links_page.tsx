import { useRoute } from 'wouter-preact';
import { durationText, useNow } from '../controls/time.ts';
import {
  addressColumn,
  type ExchangeColumn,
  ExchangeList,
  nameColumn,
  numberColumn,
  StateBadge,
} from '../exchange/exchange_list.tsx';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { usePolled } from '../operations/polled.tsx';
import { loadMessages } from '../problems/sentences.ts';
import { LinkDialog } from './link_dialog.tsx';
import { LinkPage } from './link_page.tsx';
import { linkPath, type LinkWithState, problemText, STATUS_LOOKS, statusOf } from './link_text.ts';

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
  return (
    <ExchangeList
      title={t('Links')}
      lead={t('Other hubs whose locations this hub accepts as its own.')}
      path="/links"
      add={t('New link')}
      empty={{
        icon: 'hubs',
        title: t('No links yet'),
        text: t('A link subscribes to another hub, so its objects move and cause events here as well.'),
      }}
      rows={links?.map((link): Row => ({ link, nowMs }))}
      problem={problem}
      columns={COLUMNS}
      keyOf={({ link: { id } }) => id}
      dialog={(onClose) => <LinkDialog link={undefined} onClose={onClose} onSaved={refresh} />}
    />
  );
}

const COLUMNS: readonly ExchangeColumn<Row>[] = [
  nameColumn({
    itemOf: ({ link }) => link,
    pathOf: linkPath,
    errorOf: ({ link, nowMs }) => (['waiting', 'self'].includes(statusOf(link)) ? problemText(link, nowMs) : undefined),
  }),
  {
    key: 'state',
    title: t('State'),
    sorts: true,
    value: ({ link }) => statusOf(link),
    cell: ({ link }) => <StateBadge {...STATUS_LOOKS[statusOf(link)]} />,
  },
  addressColumn('hub', t('Other hub'), {
    urlOf: ({ link }) => link.url,
    nameOf: ({ link }) => link.state?.hub_name ?? link.url,
  }),
  numberColumn('lag', t('Lag'), { value: ({ link }) => link.state?.lag_ms ?? undefined, text: durationText }),
  ...(
    [
      ['received', t('Received'), ({ state }: LinkWithState) => state?.received],
      ['duplicates', t('Duplicates'), ({ state }: LinkWithState) => state?.duplicates],
      ['loops', t('Loops'), ({ state }: LinkWithState) => state?.looped],
      ['dropped', t('Dropped'), ({ state }: LinkWithState) => state?.dropped],
    ] as const
  ).map(([key, title, count]) => numberColumn(key, title, { value: ({ link }: Row) => count(link), text: countText })),
];
