import { MAYBE_REASON } from './error_body.ts';
import Type, { type Static } from 'typebox';
import { HistoryHealth } from './history.ts';
import { LinkHealth } from './link.ts';
import { SinkStatus } from './sink.ts';
import { SourceStatus } from './source.ts';
import { ArrayOf, Named, OneOf, Time } from './schema.ts';
import { TOPICS, type Topic } from './topics.ts';
import { ZoneType } from './zone.ts';

/** Paths by which locations enter the hub. */
export const INGRESS_PATHS = ['ws', 'rest', 'mqtt', 'iso-24730', 'cisco', 'link', 'source', 'unknown'] as const;
export type IngressPath = (typeof INGRESS_PATHS)[number];
const IngressPath = OneOf(INGRESS_PATHS, { title: 'WayIn', description: 'Ingress path of a location.' });

const Timestamp = Time('RFC 3339 date and time.');

/** Input from a zone, or from a source of locations that is not a zone, since the start of the hub. */
export const HealthSource = Named('HealthSource', {
  id: Type.String({ description: 'Id of the zone, or the source named by locations.' }),
  type: ZoneType,
  number_of_updates: Type.Integer({ minimum: 0, description: 'Accepted locations and proximities.' }),
  last_update_received: Type.Optional(Timestamp),
  last_update_type: Type.Optional(IngressPath),
  reconnects: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of reconnects of an ISO 24730 connection.' }),
  ),
  connection_established: Type.Optional(Timestamp),
  uptime: Type.Optional(Type.Number({ description: 'Seconds since the connection was established.' })),
  hub: Type.Optional(Type.String({ description: 'Name of the hub that has the connection; only in a cluster.' })),
});
export type HealthSource = Static<typeof HealthSource>;

const DatabaseState = OneOf(['ok', 'failing'], {
  title: 'DatabaseState',
  description: 'failing from the first write that the database rejects to the next that it accepts.',
});

const DatabaseHealth = Named('DatabaseHealth', {
  state: DatabaseState,
  pending_rows: Type.Integer({ minimum: 0, description: 'Last locations waiting to be written.' }),
  failing_since: Type.Optional(Timestamp),
  error: Type.Optional(Type.String({ description: 'Why it fails.' })),
});
export type DatabaseHealth = Static<typeof DatabaseHealth>;

/** One hub of a cluster, as seen by another. */
const ClusterMember = Named('ClusterMember', {
  name: Type.String({ description: 'Name of the hub; stable across restarts.' }),
  incarnation: Type.String({ description: 'Id of the member, new after each start.' }),
  silence: Type.Integer({ minimum: 0, description: 'Milliseconds since the last message from it.' }),
  applied_sequence: Type.Integer({ minimum: 0, description: 'Sequence of the last configuration record applied.' }),
  suspected: Type.Boolean({ description: 'Whether it has been silent long enough for others to take over.' }),
  clock_difference: Type.Optional(
    Type.Integer({ description: 'Offset of its clock in milliseconds; negative if it is behind.' }),
  ),
  partitions: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of object partitions that it owns.' })),
  owns_collisions: Type.Optional(Type.Boolean({ description: 'Whether it computes the collisions of all objects.' })),
});

const ClusterStanding = OneOf(['joining', 'standby', 'taking_over', 'owner', 'out'], {
  title: 'ClusterStanding',
  description:
    'owner: it processes the locations of the objects it owns; standby: it owns none; out: it is not a member.',
});

/** The hub as a member of a cluster. */
export const ClusterHealth = Named('ClusterHealth', {
  name: Type.String({ description: 'Name of the cluster.' }),
  hub_name: Type.String({ description: 'Name of this hub.' }),
  incarnation: Type.String({ description: 'Id of this hub as a member, new after each start.' }),
  standing: ClusterStanding,
  problem: Type.Optional(Type.String({ description: 'Why /health returns 503.' })),
  ...MAYBE_REASON,
  owner: Type.Optional(
    Type.String({ description: 'Name of the hub that owns all objects; absent if no single hub does.' }),
  ),
  settled: Type.Optional(Type.Boolean({ description: 'Whether no object is migrating between hubs.' })),
  nats_connected: Type.Boolean({ description: 'Whether NATS can be reached.' }),
  applied_sequence: Type.Integer({ minimum: 0, description: 'Sequence of the last configuration record applied.' }),
  journal_waiting_bytes: Type.Integer({ minimum: 0, description: 'Bytes waiting to be committed to the journal.' }),
  partitions: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of object partitions, fixed when the cluster was created.' }),
  ),
  takeovers: Type.Integer({ minimum: 0, description: 'Number of takeovers by this hub.' }),
  last_takeover_duration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Duration of the last takeover in milliseconds.' }),
  ),
  members: Type.Array(ClusterMember, { description: 'All hubs, including this one, in join order.' }),
});
export type ClusterHealth = Static<typeof ClusterHealth>;

/** Owners of objects in a cluster. */
export const ClusterOwners = Named('ClusterOwners', {
  version: Type.Integer({ minimum: 0, description: 'Increases with each change of an owner.' }),
  hash: OneOf(['fnv1a-32'], {
    title: 'PartitionHash',
    description:
      'Partition of an object: this hash of the UTF-8 bytes of its key, modulo the length of owners. A provider without trackables has its id as its key. Linked objects have the smallest trackable id among them.',
  }),
  owners: Type.Array(Type.Union([Type.String(), Type.Null()]), {
    description: 'Name of the hub that owns each partition; null while none does.',
  }),
  urls: Type.Record(Type.String(), Type.String(), {
    title: 'HubUrls',
    description: 'URL of each of these hubs by its name, as far as its cluster_client_url is set.',
  }),
});
export type ClusterOwners = Static<typeof ClusterOwners>;

/** Owner of a provider in a cluster. */
export const ProviderOwner = Named('ProviderOwner', {
  version: Type.Integer({ minimum: 0, description: 'Increases with each change of an owner.' }),
  provider_id: Type.String({ description: 'Id of the provider, which need not exist.' }),
  partition: Type.Integer({ minimum: 0, description: 'Partition of the provider.' }),
  owner: Type.Union([Type.String(), Type.Null()], {
    description: 'Name of the hub that owns the provider; null while none does.',
  }),
  url: Type.Optional(Type.String({ description: 'URL of that hub, if its cluster_client_url is set.' })),
});
export type ProviderOwner = Static<typeof ProviderOwner>;

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

/** The hub as a client of an MQTT broker. Counts are since the start. */
const MqttSubscription = Named('MqttSubscription', {
  client_id: Type.String({ description: 'Client id that all hubs of the cluster share for the subscription.' }),
  topics: ArrayOf(Type.String({ title: 'TopicFilter', description: 'Topic filter of sources.' })),
  elected: Type.Boolean({ description: 'Whether this hub is elected for the subscription.' }),
  connected: Type.Boolean({ description: 'Whether this hub is connected to the broker with this client id.' }),
  problem: Type.Optional(Type.String({ description: 'Why the elected hub is not connected.' })),
});

const UnsRefusal = Named('UnsRefusal', {
  id: Type.String({ description: 'Id of the trackable.' }),
  problem: Type.String({ description: 'Why it has no topic.' }),
});

const UnsHealth = Named('UnsHealth', {
  topics: Type.Integer({ minimum: 0, description: 'Trackables that have a topic.' }),
  refused: Type.Integer({ minimum: 0, description: 'Trackables whose claim of a topic was rejected.' }),
  problems: ArrayOf(UnsRefusal),
});

export const MqttHealth = Named('MqttHealth', {
  enabled: Type.Boolean({ description: 'Whether mqtt_address is set; other members exist only then.' }),
  connected: Type.Optional(Type.Boolean({ description: 'Whether the hub is connected to the broker.' })),
  broker: Type.Optional(Type.String({ description: 'Address of the broker.' })),
  client_id: Type.Optional(Type.String({ description: 'Client id by which the broker resumes the session.' })),
  problem: Type.Optional(Type.String({ description: 'Why there is no connection.' })),
  connections: count('Connections established.'),
  received: count('Messages received.'),
  redelivered: count('Messages redelivered by the broker.'),
  locations: count('Accepted locations and proximities.'),
  rejected: count('Messages rejected.'),
  lost: count('Messages of QoS 0 dropped because the queue was full.'),
  published: count('Messages published to the broker.'),
  replaced: count('Locations and motions superseded by a newer one before they were sent.'),
  dropped: count('Messages dropped beyond mqtt_max_queue.'),
  refused: count('Messages rejected by the broker.'),
  waiting: count('Messages waiting for the broker.'),
  waiting_bytes: count('Bytes of these messages.'),
  subscriptions: Type.Optional(ArrayOf(MqttSubscription)),
  uns: Type.Optional(UnsHealth),
});
export type MqttHealth = Static<typeof MqttHealth>;

/** Members that identify a hub in several replies. */
export const HUB_IDENTITY = {
  hub_id: Type.String({
    description: 'Id of the hub, created once and stored with its data. Hubs of a cluster share it.',
  }),
  hub_name: Type.String({ description: 'Name of the hub: the setting hub_name.' }),
};
export type HubIdentity = Readonly<Record<keyof typeof HUB_IDENTITY, string>>;

/** Health of the hub itself. */
const EventLogHealth = Named('EventLogHealth', {
  oldest: Type.Optional(Timestamp),
  bytes: Type.Integer({ minimum: 0, description: 'Size of the stored events.' }),
  appended: Type.Integer({ minimum: 0, description: 'Events since the start of the hub.' }),
});
export type EventLogHealth = Static<typeof EventLogHealth>;

export const SystemHealth = Named('SystemHealth', {
  ...HUB_IDENTITY,
  uptime: Type.Integer({ minimum: 0, description: 'Seconds since the start.' }),
  date: Timestamp,
  iso_24730_connections: Type.Integer({ minimum: 0, description: 'Configured stream servers.' }),
  database: DatabaseHealth,
  cluster: Type.Optional(ClusterHealth),
  events: Type.Optional(EventLogHealth),
  mqtt: Type.Optional(MqttHealth),
  history: Type.Optional(HistoryHealth),
  links: Type.Optional(ArrayOf(LinkHealth)),
  sinks: Type.Optional(ArrayOf(SinkStatus)),
  sources: Type.Optional(ArrayOf(SourceStatus)),
  config: Type.String({ description: 'The configuration as YAML, without secrets.' }),
});
export type SystemHealth = Static<typeof SystemHealth>;

const subscriptions = (what: string) => Type.Integer({ minimum: 0, description: `Subscriptions to ${what}.` });

const TopicName = OneOf(Object.keys(TOPICS) as Topic[], {
  title: 'TopicName',
  description: 'Name of a topic of the WebSocket.',
});

const SocketTopic = Named('SocketTopic', {
  topic: TopicName,
  subscriptions: Type.Integer({ minimum: 0, description: 'Subscriptions, plain and GeoJSON.' }),
  delivered: Type.Integer({ minimum: 0, description: 'Events delivered to subscriptions.' }),
});

/** WebSocket of one hub of a cluster, since its start. */
const HubSockets = Named('HubSockets', {
  hub: Type.String({ description: 'Name of the hub.' }),
  number_of_clients: Type.Integer({ minimum: 0, description: 'Open connections.' }),
  waiting_bytes: Type.Integer({ minimum: 0, description: 'Bytes waiting to be sent to clients.' }),
  topics: ArrayOf(SocketTopic),
});
export type HubSockets = Static<typeof HubSockets>;

/**
 * Health of the WebSocket. Plain and GeoJSON subscriptions are counted together; times are absent until an event was
 * sent.
 */
export const SocketHealth = Named('SocketHealth', {
  number_of_clients: Type.Integer({ minimum: 0, description: 'Open connections.' }),
  number_of_subscribers: subscriptions('any topic'),
  number_of_subscribers_locations: subscriptions('location_updates'),
  number_of_subscribers_trackable_motions: subscriptions('trackable_motions'),
  number_of_subscribers_fence_events: subscriptions('fence_events'),
  number_of_subscribers_collision_events: subscriptions('collision_events'),
  last_location_update_sent: Type.Optional(Timestamp),
  last_trackable_motion_update_sent: Type.Optional(Timestamp),
  last_fence_event_sent: Type.Optional(Timestamp),
  last_collision_event_sent: Type.Optional(Timestamp),
  hubs: Type.Optional(ArrayOf(HubSockets)),
});
export type SocketHealth = Static<typeof SocketHealth>;
