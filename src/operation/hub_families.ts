import type { Entities, Kind } from '../entities/entities.ts';
import type { Fanout, TopicCounts } from '../fanout/fanout.ts';
import type { SendQueue } from '../fanout/send_queue.ts';
import type { IngressPath } from '../model/health.ts';
import { RPC_ERRORS } from '../model/rpc.ts';
import { TOPICS, type Topic } from '../model/topics.ts';
import type { RpcCounts } from '../rpc/rpc.ts';
import type { CollisionLane } from '../shards/collision_lane.ts';
import type { Shards } from '../shards/shards.ts';
import type { StoreWriter } from '../store/writer.ts';
import type { HubCounts } from './counts.ts';
import { waitingBytes } from './health.ts';
import { type Family, labelled, single } from './metrics.ts';

/** Parts of the hub that are measured. */
export interface Measured {
  counts(): HubCounts;
  /** Rejected locations, by reason. */
  rejections(): ReadonlyMap<string, number>;
  /** Accepted locations and proximities, by ingress path. */
  accepted(): Readonly<Record<IngressPath, number>>;
  readonly entities: Entities;
  readonly fanout: Fanout;
  /** Send queues of the open connections. */
  readonly open: ReadonlySet<SendQueue>;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly writer: StoreWriter;
  /** Events that wait for the database. */
  held(): number;
  /** Remote procedure calls. */
  rpc(): RpcCounts;
  readonly alerts?: MeasuredAlerts | undefined;
}

/** Alerts, and the rules that raise them. */
export interface MeasuredAlerts {
  counts(): {
    readonly rules: number;
    /** By their states. */
    readonly states: Readonly<Record<string, number>>;
    readonly raisedTotal: number;
    readonly dropped: number;
    readonly displaced: number;
    readonly notRaised: Readonly<Record<string, number>>;
  };
}

const KINDS: readonly Kind[] = ['zone', 'fence', 'provider', 'trackable', 'anchor'];
const NAMES = Object.keys(TOPICS) as Topic[];

/** Returns the metrics of the hub, in the order in which a location passes through it. */
export function hubFamilies(hub: Measured): readonly Family[] {
  return [
    ...locationFamilies(hub),
    ...laneFamilies(hub),
    ...eventFamilies(hub),
    ...stateFamilies(hub),
    ...rpcFamilies(hub),
    ...(hub.alerts === undefined ? [] : alertFamilies(hub.alerts)),
  ];
}

function locationFamilies({ counts, rejections, accepted }: Measured): readonly Family[] {
  return [
    counter('hub_locations_received_total', 'Locations and proximities received.', () => counts().received),
    {
      name: 'hub_locations_accepted_total',
      help: 'Locations and proximities that were accepted, by ingress path.',
      kind: 'counter',
      labels: ['via'],
      read: () => labelled('via', Object.entries(accepted())),
    },
    counter('hub_locations_processed_total', 'Locations that were evaluated.', () => counts().processed),
    counter(
      'hub_locations_outdated_total',
      'Locations older than the last of their provider.',
      () => counts().outdated,
    ),
    {
      name: 'hub_locations_rejected_total',
      help: 'Rejected locations: by the invalid field, shape, list (rejected with another one), full, database or shard.',
      kind: 'counter',
      labels: ['reason'],
      read() {
        const byReason = new Map(rejections());
        let atShards = counts().rejected;
        for (const values of byReason.values()) atShards -= values;
        return labelled('reason', byReason.set('shard', atShards));
      },
    },
  ];
}

function laneFamilies({ shards, collisions }: Measured): readonly Family[] {
  const lanes = () => [
    ...shards.lanes.map(({ lane }, index) => [`shard ${index}`, lane] as const),
    ['collisions', collisions.lane] as const,
  ];
  return [
    {
      name: 'hub_lane_pending',
      help: 'Items that wait for a thread.',
      kind: 'gauge',
      labels: ['lane'],
      read: () =>
        labelled(
          'lane',
          lanes().map(([name, lane]) => [name, lane.pending]),
        ),
    },
    {
      name: 'hub_lane_items_total',
      help: 'Items and ticks that a thread has done.',
      kind: 'counter',
      labels: ['lane'],
      read: () =>
        labelled(
          'lane',
          lanes().map(([name, lane]) => [name, lane.done]),
        ),
    },
    {
      name: 'hub_lane_batches_total',
      help: 'Batches that a thread has done.',
      kind: 'counter',
      labels: ['lane'],
      read: () =>
        labelled(
          'lane',
          lanes().map(([name, lane]) => [name, lane.batches]),
        ),
    },
    gauge('hub_collision_waiting_bytes', 'Motions that wait for the collision stage.', () => collisions.waitingBytes),
  ];
}

function eventFamilies({ counts, fanout, open }: Measured): readonly Family[] {
  const byTopic = (name: keyof TopicCounts) => {
    const topics = fanout.counts();
    return labelled(
      'topic',
      NAMES.map((topic) => [topic, topics[topic][name]]),
    );
  };
  return [
    {
      name: 'hub_events_total',
      help: 'Events by type, with or without subscriptions.',
      kind: 'counter',
      labels: ['type'],
      read() {
        const { entries, exits, motions, collisionsStarted, collisionsColliding, collisionsEnded } = counts();
        return labelled('type', [
          ['region_entry', entries],
          ['region_exit', exits],
          ['trackable_motion', motions],
          ['collision_start', collisionsStarted],
          ['colliding', collisionsColliding],
          ['collision_end', collisionsEnded],
        ]);
      },
    },
    {
      name: 'hub_fanout_published_total',
      help: 'Events offered to subscriptions, once per rendering that a subscription may want.',
      kind: 'counter',
      labels: ['topic'],
      read: () => byTopic('published'),
    },
    {
      name: 'hub_fanout_delivered_total',
      help: 'Events that were handed to subscriptions.',
      kind: 'counter',
      labels: ['topic'],
      read: () => byTopic('delivered'),
    },
    {
      name: 'hub_subscriptions',
      help: 'Subscriptions, plain and GeoJSON.',
      kind: 'gauge',
      labels: ['topic'],
      read: () =>
        labelled(
          'topic',
          NAMES.map((topic) => [topic, fanout.subscribers(topic)]),
        ),
    },
    gauge('hub_websocket_clients', 'Open WebSocket connections.', () => open.size),
    gauge('hub_websocket_waiting_bytes', 'Bytes that wait for WebSocket clients to take them.', () =>
      waitingBytes(open),
    ),
  ];
}

function rpcFamilies({ rpc }: Measured): readonly Family[] {
  return [
    {
      name: 'hub_rpc_calls_total',
      help: 'Calls by outcome.',
      kind: 'counter',
      labels: ['end'],
      read: () => labelled('end', Object.entries(rpc().calls)),
    },
    {
      name: 'hub_rpc_refused_total',
      help: 'Rejected requests, and calls aborted by a bound, by error code.',
      kind: 'counter',
      labels: ['code'],
      read() {
        const byCode = [...rpc().refused].map(([name, count]) => [`${RPC_ERRORS[name]}`, count] as const);
        return labelled('code', byCode);
      },
    },
    counter('hub_rpc_requests_total', 'Requests that went to handlers.', () => rpc().forwarded),
    counter('hub_rpc_responses_total', 'Answers of handlers to open requests.', () => rpc().responses),
    counter('hub_rpc_late_responses_total', 'Answers to unknown or closed requests.', () => rpc().late),
    gauge('hub_rpc_open_calls', 'Calls that wait for answers.', () => rpc().open),
    {
      name: 'hub_rpc_handlers',
      help: 'Handlers of methods, by the way they are reached.',
      kind: 'gauge',
      labels: ['way'],
      read: () => labelled('way', rpc().handlers),
    },
  ];
}

function alertFamilies(alerts: MeasuredAlerts): readonly Family[] {
  return [
    gauge('hub_alert_rules', 'Defined alert rules.', () => alerts.counts().rules),
    {
      name: 'hub_alerts',
      help: 'Stored alerts, by state.',
      kind: 'gauge',
      labels: ['state'],
      read: () => labelled('state', Object.entries(alerts.counts().states)),
    },
    counter(
      'hub_alerts_raised_total',
      'Alerts raised by this hub since it watches.',
      () => alerts.counts().raisedTotal,
    ),
    counter(
      'hub_alerts_dropped_total',
      'Conditions that began without an alert, because open alerts left no room.',
      () => alerts.counts().dropped,
    ),
    counter(
      'hub_alerts_displaced_total',
      'Open alerts that were removed to make room for others.',
      () => alerts.counts().displaced,
    ),
    {
      name: 'hub_alerts_not_raised',
      help: 'Conditions that hold without an open alert, because open alerts leave no room.',
      kind: 'gauge',
      labels: ['severity'],
      read: () => labelled('severity', Object.entries(alerts.counts().notRaised)),
    },
  ];
}

function stateFamilies({ counts, entities, writer, held }: Measured): readonly Family[] {
  return [
    {
      name: 'hub_entities',
      help: 'Configured entities.',
      kind: 'gauge',
      labels: ['kind'],
      read: () =>
        labelled(
          'kind',
          KINDS.map((kind) => [kind, entities.count(kind)]),
        ),
    },
    gauge('hub_store_pending_rows', 'Last-known locations that wait to be written.', () => writer.pendingRows),
    gauge('hub_store_held_events', 'Events that wait for their rows to be written.', held),
    gauge('hub_store_failing', 'Whether the database rejects writes, or is late.', () => (writer.failing ? 1 : 0)),
    {
      name: 'hub_store_attempts_failed_total',
      help: 'Attempts to write to a wide-column database that have failed; most are repeated.',
      kind: 'counter',
      labels: ['reason'],
      read: () => labelled('reason', writer.failures),
    },
    counter('hub_worker_restarts_total', 'Failed threads that were replaced.', () => counts().workerRestarts),
  ];
}

function counter(name: string, help: string, value: () => number): Family {
  return { name, help, kind: 'counter', labels: [], read: () => single(value()) };
}

function gauge(name: string, help: string, value: () => number): Family {
  return { name, help, kind: 'gauge', labels: [], read: () => single(value()) };
}
