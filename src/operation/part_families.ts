import { HISTORY_TOPICS, type HistoryTopic, type TopicState } from '../model/history.ts';
import type { ThreadCounts } from '../mqtt/messages.ts';
import type { LinkState } from '../model/link.ts';
import type { MeasuredEventLog, MeasuredLinks } from './health.ts';
import { type Family, metric, metricBy } from './metrics.ts';

/** Metrics of the parts that only some hubs have: the cluster, the MQTT client, and the history. */

/** Counters of a hub as a cluster member, since it joined. */
export interface ClusterNumbers {
  readonly isOwner: boolean;
  /** Number of object partitions that it owns. */
  readonly partitions: number;
  /** Sequence number of the last applied configuration record. */
  readonly applied: number;
  /** Committed appends to the journal, and their total latency. */
  readonly appends: { readonly count: number; readonly ms: number };
  /** Bytes waiting to be committed. */
  readonly heldBytes: number;
  /** Number of locations processed by another member. */
  readonly forwarded: number;
  /** Number of requests that were sent to a former owner. */
  readonly moved: number;
  readonly takeovers: number;
  readonly lastTakeoverMs: number;
  /** Number of expelled members. */
  readonly expelled: number;
  /** Number of times that events of other hubs were lost. */
  readonly framesLost: number;
  /** Number of malformed messages of other hubs. */
  readonly protocolErrors: number;
  readonly members: readonly {
    readonly name: string;
    readonly isSelf: boolean;
    readonly aheadMs: number | undefined;
  }[];
}

/** Returns the metrics of a cluster member. */
export function clusterFamilies(counts: () => ClusterNumbers): readonly Family[] {
  const own = (name: string, help: string, value: (of: ClusterNumbers) => number) =>
    metric(name, help, () => value(counts()));
  return [
    own('hub_cluster_members', 'Hubs in the cluster, this one included.', ({ members }) => members.length),
    own('hub_cluster_owner', 'Whether this hub owns objects.', ({ isOwner }) => (isOwner ? 1 : 0)),
    own('hub_cluster_partitions', 'How many of the 256 partitions it owns.', ({ partitions }) => partitions),
    own('hub_cluster_applied_sequence', 'The last configuration record that is applied.', ({ applied }) => applied),
    own('hub_cluster_appends_total', 'Committed appends to the journal.', ({ appends }) => appends.count),
    own(
      'hub_cluster_append_seconds_total',
      'Total time until appends were committed.',
      ({ appends }) => appends.ms / 1000,
    ),
    own('hub_cluster_held_bytes', 'Bytes waiting to be committed to the journal.', ({ heldBytes }) => heldBytes),
    own(
      'hub_cluster_forwarded_total',
      'Locations received here and processed by another hub.',
      ({ forwarded }) => forwarded,
    ),
    own('hub_cluster_moved_total', 'Requests to a former owner.', ({ moved }) => moved),
    own('hub_cluster_takeovers_total', 'Takeovers by this hub.', ({ takeovers }) => takeovers),
    own(
      'hub_cluster_takeover_seconds',
      'Duration of the last takeover by this hub.',
      ({ lastTakeoverMs }) => lastTakeoverMs / 1000,
    ),
    own('hub_cluster_expelled_total', 'Hubs that were expelled.', ({ expelled }) => expelled),
    own(
      'hub_cluster_frames_lost_total',
      'How often events of other hubs were lost, and subscriptions to them closed.',
      ({ framesLost }) => framesLost,
    ),
    own(
      'hub_cluster_protocol_errors_total',
      'Malformed messages of other hubs, which were skipped.',
      ({ protocolErrors }) => protocolErrors,
    ),
    metricBy(
      'hub',
      'hub_cluster_clock_difference_ms',
      'By how much the clock of another hub is ahead of the clock of this one.',
      () => differences(counts()),
    ),
  ];
}

function differences({ members }: ClusterNumbers): [name: string, ms: number][] {
  return members.flatMap(({ name, isSelf, aheadMs }) => (isSelf || aheadMs === undefined ? [] : [[name, aheadMs]]));
}

/** Measured state of the MQTT client. */
export interface MeasuredMqtt {
  readonly isConnected: boolean;
  counts(): ThreadCounts;
  /** Rejected messages, by reason. */
  rejections(): Readonly<Record<string, number>>;
  /** Rejected claims to topics of the unified namespace, by reason. */
  unsRefusals(): Readonly<Record<string, number>>;
}

/** Returns the metrics of the MQTT client. */
export function mqttFamilies(mqtt: MeasuredMqtt): readonly Family[] {
  const count = (name: string, help: string, key: Exclude<keyof ThreadCounts, 'sent'>) =>
    metric(name, help, () => mqtt.counts()[key]);
  return [
    metric('hub_mqtt_connected', 'Whether the hub is connected to the broker.', () => (mqtt.isConnected ? 1 : 0)),
    count('hub_mqtt_received_total', 'Messages received.', 'received'),
    count('hub_mqtt_redelivered_total', 'Messages redelivered by the broker.', 'redelivered'),
    count('hub_mqtt_lost_total', 'QoS 0 messages dropped for lack of room.', 'lost'),
    metricBy(
      'reason',
      'hub_mqtt_rejected_total',
      'Rejected messages: for their topic, retained, not JSON, another id than in the topic, or invalid.',
      () => Object.entries(mqtt.rejections()),
    ),
    metricBy(
      'reason',
      'hub_mqtt_uns_refused',
      'Trackables without their topic in the unified namespace: for characters, levels, length, or a topic taken by another one.',
      () => Object.entries(mqtt.unsRefusals()),
    ),
    count('hub_mqtt_published_total', 'Messages published to the broker.', 'published'),
    count('hub_mqtt_replaced_total', 'Locations and motions replaced by newer ones.', 'replaced'),
    count('hub_mqtt_dropped_total', 'Messages beyond mqtt_max_queue.', 'dropped'),
    count('hub_mqtt_refused_total', 'Messages rejected by the broker.', 'refused'),
    count('hub_mqtt_waiting', 'Messages that wait for the broker.', 'waiting'),
    count('hub_mqtt_waiting_bytes', 'Their bytes.', 'waitingBytes'),
  ];
}

/** Returns the metrics of the event log. */
export function eventLogFamilies(log: MeasuredEventLog): readonly Family[] {
  return [
    metric('hub_event_log_appended_total', 'Events appended to the event log.', () => log.extent.appended),
    metric('hub_event_log_bytes', 'Size of the stored events.', () => log.extent.bytes),
    metric('hub_event_log_oldest_timestamp_seconds', 'Time of the oldest event; 0 without events.', () =>
      Math.floor((log.extent.oldestMs ?? 0) / 1000),
    ),
  ];
}

/** Measured state of the history. */
export interface MeasuredHistory {
  readonly isFailing: boolean;
  readonly damagedFiles: number;
  counts(topic: HistoryTopic): TopicState;
}

/** Measured state of the copy in a database. */
export interface MeasuredCopy {
  readonly problem: string | undefined;
  /** Number of rows copied, and of pending files. */
  readonly copied: number;
  readonly behind: number;
}

/** Returns the metrics of the history. */
export function historyFamilies(history: MeasuredHistory, copy: MeasuredCopy | undefined): readonly Family[] {
  const byTopic = (name: string, help: string, key: keyof TopicState) =>
    metricBy('topic', name, help, () => HISTORY_TOPICS.map((topic) => [topic, history.counts(topic)[key]]));
  return [
    metric('hub_history_failing', 'Whether the history cannot be written.', () => (history.isFailing ? 1 : 0)),
    metric('hub_history_damaged_files', 'Files that cannot be read.', () => history.damagedFiles),
    byTopic('hub_history_recorded_total', 'Rows that were written.', 'recorded'),
    byTopic('hub_history_dropped_total', 'Rows dropped for lack of room.', 'dropped'),
    byTopic('hub_history_too_old_total', 'Rows not recorded because they are older than the retention.', 'tooOld'),
    byTopic('hub_history_waiting', 'Rows waiting to be written.', 'waiting'),
    byTopic('hub_history_rows', 'Rows in the files.', 'rows'),
    byTopic('hub_history_files', 'Files.', 'files'),
    byTopic('hub_history_bytes', 'Their bytes.', 'bytes'),
    ...(copy === undefined
      ? []
      : [
          metric('hub_history_database_failing', 'Whether the history cannot be copied into its database.', () =>
            copy.problem === undefined ? 0 : 1,
          ),
          metric('hub_history_database_copied', 'Rows that were copied.', () => copy.copied),
          metric('hub_history_database_behind', 'Files waiting to be copied.', () => copy.behind),
        ]),
  ];
}

/** Outcomes of the items of a link, by the members of its state. */
const LINK_OUTCOMES = ['accepted', 'duplicates', 'looped', 'superseded', 'rejected', 'dropped', 'malformed'] as const;

/** Returns the metrics of the links to other hubs that run here. */
export function linkFamilies({ list }: MeasuredLinks): readonly Family[] {
  const running = () => list().filter(({ state: { status } }) => status !== 'elsewhere' && status !== 'disabled');
  const byLink = (name: string, help: string, value: (state: LinkState) => number | null | undefined): Family =>
    metricBy('link', name, help, () =>
      running().flatMap(({ id, state }) => [[id, value(state)] as const].filter(isSet)),
    );
  return [
    byLink('hub_link_connected', 'Whether the link is connected, by its id.', ({ status }) =>
      status === 'connected' ? 1 : 0,
    ),
    byLink('hub_link_lag_seconds', 'Delay of its last event, or how long it has been down.', ({ lag_ms: lagMs }) =>
      lagMs == null ? undefined : lagMs / 1000,
    ),
    byLink('hub_link_queued', 'Locations, proximities and events of the link that wait.', ({ queued }) => queued),
    {
      name: 'hub_link_items_total',
      help: 'Locations, proximities and events of the link, by outcome.',
      labels: ['link', 'outcome'],
      read: () =>
        running().flatMap(({ id, state }) =>
          LINK_OUTCOMES.map((outcome) => ({ labels: { link: id, outcome }, value: state[outcome] })),
        ),
    },
    byLink('hub_link_event_gaps_total', 'How often the link missed fence events.', ({ event_gaps: gaps }) => gaps),
  ];
}

function isSet<T>(entry: readonly [string, T | null | undefined]): entry is readonly [string, T] {
  return entry[1] != null;
}
