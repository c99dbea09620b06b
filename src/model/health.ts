import Type, { type Static } from 'typebox';
import { HistoryHealth } from './history.ts';
import { ArrayOf, Named, OneOf, Time } from './schema.ts';
import { TOPICS, type Topic } from './topics.ts';
import { ZoneType } from './zone.ts';

/** Ways on which locations come in. */
export const INGRESS_PATHS = ['ws', 'rest', 'mqtt', 'iso-24730', 'cisco', 'unknown'] as const;
export type IngressPath = (typeof INGRESS_PATHS)[number];
const IngressPath = OneOf(INGRESS_PATHS, { title: 'WayIn', description: 'The way on which a location came in.' });

const Timestamp = Time('RFC 3339 date and time.');

/** What has come from a zone, or from a source of locations that is no zone, since the start of the hub. */
export const HealthSource = Named('HealthSource', {
  id: Type.String({ description: 'Id of the zone, or the source as locations name it.' }),
  type: ZoneType,
  number_of_updates: Type.Integer({ minimum: 0, description: 'Locations and proximities that were accepted.' }),
  last_update_received: Type.Optional(Timestamp),
  last_update_type: Type.Optional(IngressPath),
  reconnects: Type.Optional(Type.Integer({ minimum: 0, description: 'Only of an ISO 24730 connection.' })),
  connection_established: Type.Optional(Timestamp),
  uptime: Type.Optional(Type.Number({ description: 'Seconds since the connection was made.' })),
  hub: Type.Optional(Type.String({ description: 'Name of the hub that has that connection. Only in a cluster.' })),
});
export type HealthSource = Static<typeof HealthSource>;

const DatabaseState = OneOf(['ok', 'failing'], {
  title: 'DatabaseState',
  description: 'failing from the first write that the database refuses to the next that it takes.',
});

const DatabaseHealth = Named('DatabaseHealth', {
  state: DatabaseState,
  pending_rows: Type.Integer({ minimum: 0, description: 'Last locations that wait to be written.' }),
  failing_since: Type.Optional(Timestamp),
  error: Type.Optional(Type.String({ description: 'Why it fails.' })),
});
export type DatabaseHealth = Static<typeof DatabaseHealth>;

/** One hub of a cluster, as another one sees it. */
const ClusterMember = Named('ClusterMember', {
  name: Type.String({ description: 'The same after a restart.' }),
  incarnation: Type.String({ description: 'Another one after each start.' }),
  silence: Type.Integer({ minimum: 0, description: 'Milliseconds since it was last heard.' }),
  applied_sequence: Type.Integer({ minimum: 0, description: 'The last configuration record that it has applied.' }),
  suspected: Type.Boolean({ description: 'Whether it was silent for so long that others will take over.' }),
  clock_difference: Type.Optional(
    Type.Integer({ description: 'By how many milliseconds its clock is ahead; negative where it is behind.' }),
  ),
  partitions: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How many of the 256 partitions of the objects it owns.' }),
  ),
  owns_collisions: Type.Optional(Type.Boolean({ description: 'Whether it finds the collisions of all objects.' })),
});

const ClusterStanding = OneOf(['joining', 'standby', 'taking_over', 'owner', 'out'], {
  title: 'ClusterStanding',
  description:
    'owner: it processes the locations of the objects that it owns; standby: it owns none; out: others go on without it.',
});

/** The hub as one of several. */
export const ClusterHealth = Named('ClusterHealth', {
  name: Type.String({ description: 'Name of the cluster.' }),
  hub_name: Type.String({ description: 'Name of this hub among the others.' }),
  incarnation: Type.String({ description: 'Of this hub: another one after each start.' }),
  standing: ClusterStanding,
  problem: Type.Optional(Type.String({ description: 'Why /health answers 503.' })),
  owner: Type.Optional(Type.String({ description: 'Name of the hub that owns all objects; absent where none does.' })),
  settled: Type.Optional(Type.Boolean({ description: 'Whether nothing is being handed from one hub to another.' })),
  nats_connected: Type.Boolean({ description: 'Whether NATS can be reached.' }),
  applied_sequence: Type.Integer({ minimum: 0, description: 'The last configuration record that is applied.' }),
  journal_waiting_bytes: Type.Integer({ minimum: 0, description: 'What waits to be kept in the journal.' }),
  takeovers: Type.Integer({ minimum: 0, description: 'How often this hub has taken over.' }),
  last_takeover_duration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How long the last one has taken, in milliseconds.' }),
  ),
  members: Type.Array(ClusterMember, { description: 'All hubs, this one included, in the order of their joins.' }),
});
export type ClusterHealth = Static<typeof ClusterHealth>;

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

/** The hub as a client of an MQTT broker. Counts are of the time since the start. */
const MqttSubscription = Named('MqttSubscription', {
  client_id: Type.String({ description: 'The client id that all hubs of the cluster share for it.' }),
  topics: ArrayOf(Type.String({ title: 'TopicFilter', description: 'Filter of topics of sources.' })),
  elected: Type.Boolean({ description: 'Whether the cluster has elected this hub for it.' }),
  connected: Type.Boolean({ description: 'Whether this hub is connected to the broker for it.' }),
  problem: Type.Optional(Type.String({ description: 'Why the elected hub is not connected.' })),
});

const UnsRefusal = Named('UnsRefusal', {
  id: Type.String({ description: 'Id of the trackable.' }),
  problem: Type.String({ description: 'Why it has no topic.' }),
});

const UnsHealth = Named('UnsHealth', {
  topics: Type.Integer({ minimum: 0, description: 'Trackables that have a topic.' }),
  refused: Type.Integer({ minimum: 0, description: 'Trackables that claim a topic in vain.' }),
  problems: ArrayOf(UnsRefusal),
});

export const MqttHealth = Named('MqttHealth', {
  enabled: Type.Boolean({ description: 'Whether mqtt_address is set; all else is there only then.' }),
  connected: Type.Optional(Type.Boolean({ description: 'Whether the connection to the broker stands.' })),
  broker: Type.Optional(Type.String({ description: 'Its address.' })),
  client_id: Type.Optional(Type.String({ description: 'By which the broker finds the session again.' })),
  problem: Type.Optional(Type.String({ description: 'Why there is no connection.' })),
  connections: count('Connections that were made.'),
  received: count('Messages that came in.'),
  redelivered: count('Messages that the broker has sent once more.'),
  locations: count('Locations and proximities that were accepted from them.'),
  rejected: count('Messages that were refused.'),
  lost: count('Messages of QoS 0 for which there was no room.'),
  published: count('Messages that were handed to the broker.'),
  replaced: count('Locations and motions whose place a newer one took before they were handed over.'),
  dropped: count('Messages beyond mqtt_max_queue.'),
  refused: count('Messages that the broker has refused.'),
  waiting: count('Messages that wait for the broker.'),
  waiting_bytes: count('Their bytes.'),
  subscriptions: Type.Optional(ArrayOf(MqttSubscription)),
  uns: Type.Optional(UnsHealth),
});
export type MqttHealth = Static<typeof MqttHealth>;

/** What tells a hub from others, as members of several answers. */
export const HUB_IDENTITY = {
  hub_id: Type.String({
    description: 'Id of the hub, created once and stored with its data. Hubs of a cluster share it.',
  }),
  hub_name: Type.String({ description: 'Name of the hub: the setting hub_name.' }),
};
export type HubIdentity = Readonly<Record<keyof typeof HUB_IDENTITY, string>>;

/** The hub itself. */
export const SystemHealth = Named('SystemHealth', {
  ...HUB_IDENTITY,
  uptime: Type.Integer({ minimum: 0, description: 'Seconds since the start.' }),
  date: Timestamp,
  iso_24730_connections: Type.Integer({ minimum: 0, description: 'Servers of streams that are configured.' }),
  database: DatabaseHealth,
  cluster: Type.Optional(ClusterHealth),
  mqtt: Type.Optional(MqttHealth),
  history: Type.Optional(HistoryHealth),
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
  delivered: Type.Integer({ minimum: 0, description: 'Events that were handed to subscriptions.' }),
});

/** The WebSocket of one hub of a cluster, since its start. */
const HubSockets = Named('HubSockets', {
  hub: Type.String({ description: 'Name of the hub.' }),
  number_of_clients: Type.Integer({ minimum: 0, description: 'Open connections.' }),
  waiting_bytes: Type.Integer({ minimum: 0, description: 'What waits for clients to take it.' }),
  topics: ArrayOf(SocketTopic),
});
export type HubSockets = Static<typeof HubSockets>;

/** The WebSocket: plain and GeoJSON subscriptions count together, times are absent until something was sent. */
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
