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
import type { MeasuredSinks, MeasuredSources } from './health.ts';
import { SINK_STATES, type SinkStatus } from '../model/sink.ts';
import { SOURCE_STATES, type SourceStatus } from '../model/source.ts';
import { type Family, metric, metricBy } from './metrics.ts';

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
  readonly sinks?: MeasuredSinks | undefined;
  readonly sources?: MeasuredSources | undefined;
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
    ...(hub.sinks === undefined ? [] : sinkFamilies(hub.sinks)),
    ...(hub.sources === undefined ? [] : sourceFamilies(hub.sources)),
  ];
}

function locationFamilies({ counts, rejections, accepted }: Measured): readonly Family[] {
  return [
    metric('hub_locations_received_total', 'Locations and proximities received.', () => counts().received),
    metricBy(
      'via',
      'hub_locations_accepted_total',
      'Locations and proximities that were accepted, by ingress path.',
      () => Object.entries(accepted()),
    ),
    metric('hub_locations_processed_total', 'Locations that were evaluated.', () => counts().processed),
    metric('hub_locations_outdated_total', 'Locations older than the last of their provider.', () => counts().outdated),
    metric('hub_locations_outliers_total', 'Processed locations that a filter rejected.', () => counts().outliers),
    metricBy(
      'reason',
      'hub_locations_rejected_total',
      'Rejected locations: by the invalid field, shape, list (rejected with another one), full, database or shard.',
      () => {
        const byReason = new Map(rejections());
        let atShards = counts().rejected;
        for (const values of byReason.values()) atShards -= values;
        return byReason.set('shard', atShards);
      },
    ),
  ];
}

function laneFamilies({ shards, collisions }: Measured): readonly Family[] {
  const lanes = () => [
    ...shards.lanes.map(({ lane }, index) => [`shard ${index}`, lane] as const),
    ['collisions', collisions.lane] as const,
  ];
  return [
    metricBy('lane', 'hub_lane_pending', 'Items that wait for a thread.', () =>
      lanes().map(([name, lane]) => [name, lane.pending]),
    ),
    metricBy('lane', 'hub_lane_items_total', 'Items and ticks that a thread has done.', () =>
      lanes().map(([name, lane]) => [name, lane.done]),
    ),
    metricBy('lane', 'hub_lane_batches_total', 'Batches that a thread has done.', () =>
      lanes().map(([name, lane]) => [name, lane.batches]),
    ),
    metric('hub_collision_waiting_bytes', 'Motions that wait for the collision stage.', () => collisions.waitingBytes),
  ];
}

function eventFamilies({ counts, fanout, open }: Measured): readonly Family[] {
  const byTopic = (name: keyof TopicCounts) => {
    const topics = fanout.counts();
    return NAMES.map((topic) => [topic, topics[topic][name]] as const);
  };
  return [
    metricBy('type', 'hub_events_total', 'Events by type, with or without subscriptions.', () => {
      const { entries, exits, motions, collisionsStarted, collisionsColliding, collisionsEnded } = counts();
      return Object.entries({
        region_entry: entries,
        region_exit: exits,
        trackable_motion: motions,
        collision_start: collisionsStarted,
        colliding: collisionsColliding,
        collision_end: collisionsEnded,
      });
    }),
    metricBy(
      'topic',
      'hub_fanout_published_total',
      'Events offered to subscriptions, once per rendering that a subscription may want.',
      () => byTopic('published'),
    ),
    metricBy('topic', 'hub_fanout_delivered_total', 'Events that were handed to subscriptions.', () =>
      byTopic('delivered'),
    ),
    metricBy('topic', 'hub_subscriptions', 'Subscriptions, plain and GeoJSON.', () =>
      NAMES.map((topic) => [topic, fanout.subscribers(topic)]),
    ),
    metric('hub_websocket_clients', 'Open WebSocket connections.', () => open.size),
    metric('hub_websocket_waiting_bytes', 'Bytes that wait for WebSocket clients to take them.', () =>
      waitingBytes(open),
    ),
  ];
}

function rpcFamilies({ rpc }: Measured): readonly Family[] {
  return [
    metricBy('end', 'hub_rpc_calls_total', 'Calls by outcome.', () => Object.entries(rpc().calls)),
    metricBy('code', 'hub_rpc_refused_total', 'Rejected requests, and calls aborted by a bound, by error code.', () =>
      [...rpc().refused].map(([name, count]) => [`${RPC_ERRORS[name]}`, count] as const),
    ),
    metric('hub_rpc_requests_total', 'Requests that went to handlers.', () => rpc().forwarded),
    metric('hub_rpc_responses_total', 'Answers of handlers to open requests.', () => rpc().responses),
    metric('hub_rpc_late_responses_total', 'Answers to unknown or closed requests.', () => rpc().late),
    metric('hub_rpc_open_calls', 'Calls that wait for answers.', () => rpc().open),
    metricBy('way', 'hub_rpc_handlers', 'Handlers of methods, by the way they are reached.', () => rpc().handlers),
  ];
}

function alertFamilies(alerts: MeasuredAlerts): readonly Family[] {
  return [
    metric('hub_alert_rules', 'Defined alert rules.', () => alerts.counts().rules),
    metricBy('state', 'hub_alerts', 'Stored alerts, by state.', () => Object.entries(alerts.counts().states)),
    metric('hub_alerts_raised_total', 'Alerts raised by this hub since it watches.', () => alerts.counts().raisedTotal),
    metric(
      'hub_alerts_dropped_total',
      'Conditions that began without an alert, because open alerts left no room.',
      () => alerts.counts().dropped,
    ),
    metric(
      'hub_alerts_displaced_total',
      'Open alerts that were removed to make room for others.',
      () => alerts.counts().displaced,
    ),
    metricBy(
      'severity',
      'hub_alerts_not_raised',
      'Conditions that hold without an open alert, because open alerts leave no room.',
      () => Object.entries(alerts.counts().notRaised),
    ),
  ];
}

/** Numbers of the sinks that this hub delivers to, by their ids. */
function sinkFamilies(sinks: MeasuredSinks): readonly Family[] {
  const here = (): readonly SinkStatus[] => sinks.statuses().filter(({ delivering }) => delivering);
  const byId = (name: string, help: string, of: (status: SinkStatus) => number | undefined): Family => {
    return metricBy('sink', name, help, () => here().map((status) => [status.id, of(status) ?? 0]));
  };
  return [
    metricBy('state', 'hub_sinks', 'Sinks that this hub delivers to, by state.', () =>
      SINK_STATES.map((state) => [state, here().filter((status) => status.state === state).length]),
    ),
    byId('hub_sink_events_total', 'Events taken from the event log and live topics.', ({ added }) => added),
    byId('hub_sink_delivered_total', 'Events that the target has accepted.', ({ delivered }) => delivered),
    byId('hub_sink_rejected_total', 'Events that the target will never accept.', ({ rejected }) => rejected),
    byId('hub_sink_dropped_total', 'Live events dropped because the target is too slow.', ({ dropped }) => dropped),
    byId('hub_sink_failures_total', 'Failed requests.', ({ failures }) => failures),
    byId('hub_sink_waiting', 'Events in the queue.', ({ waiting }) => waiting),
    byId('hub_sink_lag_seconds', 'Age of the oldest undelivered event in the queue.', ({ lag }) => (lag ?? 0) / 1000),
  ];
}

function stateFamilies({ counts, entities, writer, held }: Measured): readonly Family[] {
  return [
    metricBy('kind', 'hub_entities', 'Configured entities.', () => KINDS.map((kind) => [kind, entities.count(kind)])),
    metric('hub_store_pending_rows', 'Last-known locations that wait to be written.', () => writer.pendingRows),
    metric('hub_store_held_events', 'Events that wait for their rows to be written.', held),
    metric('hub_store_failing', 'Whether the database rejects writes, or is late.', () => (writer.failing ? 1 : 0)),
    metricBy(
      'reason',
      'hub_store_attempts_failed_total',
      'Attempts to write to a wide-column database that have failed; most are repeated.',
      () => writer.failures,
    ),
    metric('hub_worker_restarts_total', 'Failed threads that were replaced.', () => counts().workerRestarts),
  ];
}

/** Numbers of the sources, by their ids, at this hub. */
function sourceFamilies(sources: MeasuredSources): readonly Family[] {
  const byId = (name: string, help: string, of: (status: SourceStatus) => number): Family => {
    return metricBy('source', name, help, () => sources.statuses().map((status) => [status.id, of(status)]));
  };
  return [
    metricBy('state', 'hub_sources', 'Sources of locations, by their state at this hub.', () =>
      SOURCE_STATES.map((state) => [state, sources.statuses().filter((status) => status.state === state).length]),
    ),
    byId('hub_source_received_total', 'Received payloads.', ({ received }) => received),
    byId('hub_source_mapped_total', 'Items mapped to an accepted location or proximity.', ({ mapped }) => mapped),
    byId('hub_source_skipped_total', 'Items that do not meet the conditions of the map.', ({ skipped }) => skipped),
    byId('hub_source_refused_total', 'Refused payloads and items.', ({ refused }) => refused),
    byId('hub_source_throttled_total', 'Payloads and items dropped at a limit.', ({ throttled }) => throttled),
    byId('hub_source_failures_total', 'Failed connections and requests.', ({ failures }) => failures),
    byId('hub_source_clock_offset_seconds', 'Time of the source minus that of the hub.', (status) => {
      return (status.clock_offset ?? 0) / 1000;
    }),
  ];
}
