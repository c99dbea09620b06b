import type { SocketHealth } from '../../model/health.ts';
import { Card } from '../controls/card.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { Spinner } from '../controls/notice.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { labeled, levels, rates, samples, useMetrics } from './metrics.ts';
import { bytesText, countText, rateText } from './number_text.ts';
import { Problem, usePolled } from './polled.tsx';
import styles from './sessions.module.css';

const LAST_SENT: Readonly<Record<string, keyof SocketHealth>> = {
  location_updates: 'last_location_update_sent',
  trackable_motions: 'last_trackable_motion_update_sent',
  fence_events: 'last_fence_event_sent',
  collision_events: 'last_collision_event_sent',
};

interface Row {
  readonly topic: string;
  readonly subscriptions: number;
  readonly perSecond: number | null;
  readonly total: number;
  readonly last: string | undefined;
}

/** Who is connected by WebSocket, and what is sent to them. */
export function Sessions() {
  useMetrics();
  const { value: health, problem } = usePolled<SocketHealth>('/health/ws', 3_000);
  const nowMs = useNow(1_000);
  if (health === undefined) return problem === undefined ? <Spinner /> : <Problem text={problem} />;
  const all = samples.value;
  const rows = labeled(all.at(-1), 'hub_subscriptions', 'topic').map(([topic, name]): Row => {
    const delivered = `hub_fanout_delivered_total{topic="${topic}"}`;
    const at = LAST_SENT[topic];
    return {
      topic,
      subscriptions: all.at(-1)?.values.get(name) ?? 0,
      perSecond: rates(all, delivered).at(-1) ?? null,
      total: all.at(-1)?.values.get(delivered) ?? 0,
      last: at === undefined ? undefined : sentText(health[at], nowMs),
    };
  });
  const waiting = levels(all, 'hub_websocket_waiting_bytes').at(-1);
  return (
    <>
      <Problem text={problem} />
      <Card title="Connections">
        <Facts
          rows={[
            ['Clients', countText(health.number_of_clients)],
            ['Subscriptions', countText(health.number_of_subscribers)],
            ['Waiting to be taken', waiting == null ? undefined : bytesText(waiting)],
          ]}
        />
        <p class={`${typography.faint} ${styles.note}`}>This page is one of the clients.</p>
      </Card>
      <Card title="Topics" flush>
        <Table label="Topics" columns={COLUMNS} rows={rows} keyOf={({ topic }) => topic} />
      </Card>
    </>
  );
}

function sentText(time: string | number | undefined, nowMs: number): string {
  return time === undefined ? 'never' : ago(Math.max(0, nowMs - Date.parse(String(time))));
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'topic', title: 'Topic', cell: ({ topic }) => <code>{topic}</code> },
  { key: 'subscriptions', title: 'Subscriptions', isNumber: true, cell: (row) => countText(row.subscriptions) },
  {
    key: 'rate',
    title: 'Sent',
    isNumber: true,
    cell: (row) => (row.perSecond === null ? '–' : rateText(row.perSecond)),
  },
  {
    key: 'total',
    title: 'Since the start',
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ total }) => countText(total),
  },
  {
    key: 'last',
    title: 'Last',
    class: flow.wideOnly,
    cell: ({ last }) => last ?? <span class={typography.faint}>–</span>,
  },
];
