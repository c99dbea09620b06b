import { useRoute } from 'wouter-preact';
import type { Sink, SinkStatus } from '../../model/sink.ts';
import flow from '../controls/flow.module.css';
import { ago, durationText, useNow } from '../controls/time.ts';
import {
  addressColumn,
  type ExchangeColumn,
  ExchangeList,
  nameColumn,
  nothing,
  numberColumn,
  StateBadge,
} from '../exchange/exchange_list.tsx';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { usePolled } from '../operations/polled.tsx';
import { failureText, loadMessages } from '../problems/sentences.ts';
import { SinkDialog } from './sink_dialog.tsx';
import { SinkPage } from './sink_page.tsx';
import { sinkPath } from './sink_test.tsx';
import { STATE_LOOKS, typeLabel } from './sink_text.ts';

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
  return (
    <ExchangeList
      title={t('Sinks')}
      lead={t('Targets to which the hub delivers events: other systems, queues, mailboxes.')}
      path="/sinks"
      add={t('New sink')}
      empty={{
        icon: 'sink',
        title: t('No sinks yet'),
        text: t('A sink receives the events of the hub although no client is connected.'),
      }}
      rows={sinks.value?.map((sink): Row => ({ sink, status: found.get(sink.id), nowMs }))}
      problem={sinks.problem ?? statuses.problem}
      columns={COLUMNS}
      keyOf={({ sink: { id } }) => id}
      dialog={(onClose) => <SinkDialog sink={undefined} onClose={onClose} onSaved={sinks.refresh} />}
    />
  );
}

const COLUMNS: readonly ExchangeColumn<Row>[] = [
  nameColumn({
    itemOf: ({ sink }) => sink,
    pathOf: sinkPath,
    errorOf: ({ status }) => status && failureText(status.error, status),
  }),
  {
    key: 'state',
    title: t('State'),
    sorts: true,
    value: ({ status }) => status?.state,
    cell: ({ status }) => status && <StateBadge {...STATE_LOOKS[status.state]} />,
  },
  {
    key: 'type',
    title: t('Type'),
    sorts: true,
    class: flow.wideOnly,
    value: ({ sink }) => typeLabel(sink.type),
    cell: ({ sink }) => typeLabel(sink.type),
  },
  addressColumn('target', t('Target'), { urlOf: ({ sink }) => sink.url }),
  {
    key: 'topics',
    title: t('Topics'),
    class: flow.wideOnly,
    value: ({ sink }) => sink.topics.length,
    cell: ({ sink: { topics } }) => (topics.length === 0 ? nothing : <Topics topics={topics} />),
  },
  numberColumn('waiting', t('Waiting'), { value: ({ status }) => status?.waiting, text: countText }),
  numberColumn('lag', t('Lag'), { value: ({ status }) => status?.lag, text: durationText }),
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
