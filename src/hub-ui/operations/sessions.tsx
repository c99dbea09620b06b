import type { ComponentChildren } from 'preact';
import type { HubSockets, SocketHealth } from '../../model/health.ts';
import { Card } from '../controls/card.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { Spinner } from '../controls/notice.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { bytesText, countText, rateText } from '../languages/numbers.ts';
import { labeled, levels, rates, type TopicTraffic, samples, sentOf, useMetrics } from './metrics.ts';
import { type Polled, ProblemNotice, usePolled } from './polled.tsx';
import styles from './sessions.module.css';

const LAST_SENT: Readonly<Record<string, Exclude<keyof SocketHealth, 'hubs'>>> = {
  location_updates: 'last_location_update_sent',
  trackable_motions: 'last_trackable_motion_update_sent',
  fence_events: 'last_fence_event_sent',
  collision_events: 'last_collision_event_sent',
};

interface Row extends TopicTraffic {
  readonly last: string | undefined;
}

interface SessionsProps {
  readonly socket: Polled<SocketHealth>;
}

/** WebSocket clients, and their traffic by topic. */
export function Sessions() {
  const socket = usePolled<SocketHealth>('/health/ws', 3_000);
  const { value: health, problem } = socket;
  if (health === undefined) return problem === undefined ? <Spinner /> : <ProblemNotice problem={problem} />;
  return health.hubs === undefined ? <OfOneHub socket={socket} /> : <OfAllHubs socket={socket} />;
}

/** Traffic of a single hub, from its metrics. */
function OfOneHub({ socket }: SessionsProps) {
  useMetrics();
  const all = samples.value;
  const sent = labeled(all.at(-1), 'hub_subscriptions', 'topic').map(([topic, name]): TopicTraffic => {
    const delivered = `hub_fanout_delivered_total{topic="${topic}"}`;
    return {
      topic,
      subscriptions: all.at(-1)?.values.get(name) ?? 0,
      perSecond: rates(all, delivered).at(-1) ?? null,
      total: all.at(-1)?.values.get(delivered) ?? 0,
    };
  });
  return <SessionCards socket={socket} waitingBytes={levels(all, 'hub_websocket_waiting_bytes').at(-1)} sent={sent} />;
}

/** Traffic of a cluster: metrics cover one hub only, but the health of any hub has the totals. */
function OfAllHubs({ socket }: SessionsProps) {
  const hubs = socket.value?.hubs ?? [];
  const waitingBytes = hubs.reduce((sum, hub) => sum + hub.waiting_bytes, 0);
  return (
    <SessionCards socket={socket} waitingBytes={waitingBytes} sent={sentOf(socket)}>
      <Card title={t('Hubs')} flush>
        <Table label={t('Clients by hub')} columns={HUB_COLUMNS} rows={hubs} keyOf={({ hub }) => hub} />
      </Card>
    </SessionCards>
  );
}

function SessionCards({
  socket: { value: health, problem },
  waitingBytes,
  sent,
  children,
}: SessionsProps & {
  readonly waitingBytes: number | null | undefined;
  readonly sent: readonly TopicTraffic[];
  readonly children?: ComponentChildren;
}) {
  const nowMs = useNow(1_000);
  const rows = sent.map((each): Row => {
    const at = LAST_SENT[each.topic];
    return { ...each, last: at === undefined ? undefined : sentText(health?.[at], nowMs) };
  });
  return (
    <>
      <ProblemNotice problem={problem} />
      <Card title={t('Connections')}>
        <Facts
          rows={[
            [t('Clients'), countText(health?.number_of_clients ?? 0)],
            [t('Subscriptions'), countText(health?.number_of_subscribers ?? 0)],
            [t('Waiting in send queues'), waitingBytes == null ? undefined : bytesText(waitingBytes)],
          ]}
        />
        <p class={`${typography.faint} ${styles.note}`}>{t('This page is one of the clients.')}</p>
      </Card>
      {children}
      <Card title={t('Topics')} flush>
        <Table label={t('Traffic by topic')} columns={COLUMNS} rows={rows} keyOf={({ topic }) => topic} />
      </Card>
    </>
  );
}

function sentText(time: string | number | undefined, nowMs: number): string {
  return time === undefined ? t('never') : ago(Math.max(0, nowMs - Date.parse(String(time))));
}

function subscriptionsOf({ topics }: HubSockets): number {
  return topics.reduce((sum, { subscriptions }) => sum + subscriptions, 0);
}

const HUB_COLUMNS: readonly Column<HubSockets>[] = [
  { key: 'hub', title: t('Hub'), cell: ({ hub }) => hub },
  { key: 'clients', title: t('Clients'), isNumber: true, cell: (hub) => countText(hub.number_of_clients) },
  { key: 'subscriptions', title: t('Subscriptions'), isNumber: true, cell: (hub) => countText(subscriptionsOf(hub)) },
  { key: 'waiting', title: t('Waiting'), isNumber: true, cell: (hub) => bytesText(hub.waiting_bytes) },
];

const COLUMNS: readonly Column<Row>[] = [
  { key: 'topic', title: t('Topic'), cell: ({ topic }) => <code>{topic}</code> },
  { key: 'subscriptions', title: t('Subscriptions'), isNumber: true, cell: (row) => countText(row.subscriptions) },
  {
    key: 'rate',
    title: t('Sent'),
    isNumber: true,
    cell: (row) => (row.perSecond === null ? '–' : rateText(row.perSecond)),
  },
  {
    key: 'total',
    title: t('Since the start'),
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ total }) => countText(total),
  },
  {
    key: 'last',
    title: t('Last'),
    class: flow.wideOnly,
    cell: ({ last }) => last ?? <span class={typography.faint}>–</span>,
  },
];
