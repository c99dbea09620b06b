import Type, { type Static } from 'typebox';
import { Named, OneOf, Time } from './schema.ts';
import { ZoneType } from './zone.ts';

/** Ways on which locations come in. */
export const WAYS_IN = ['ws', 'rest', 'mqtt', 'iso-24730', 'cisco', 'unknown'] as const;
export type WayIn = (typeof WAYS_IN)[number];
const WayIn = OneOf(WAYS_IN, { title: 'WayIn', description: 'The way on which a location came in.' });

const Timestamp = Time('RFC 3339 date and time.');

/** What has come from a zone, or from a source of locations that is no zone, since the start of the hub. */
export const HealthSource = Named('HealthSource', {
  id: Type.String({ description: 'Id of the zone, or the source as locations name it.' }),
  type: ZoneType,
  number_of_updates: Type.Integer({ minimum: 0, description: 'Locations and proximities that were accepted.' }),
  last_update_received: Type.Optional(Timestamp),
  last_update_type: Type.Optional(WayIn),
  reconnects: Type.Optional(Type.Integer({ minimum: 0, description: 'Only of an ISO 24730 connection.' })),
  connection_established: Type.Optional(Timestamp),
  uptime: Type.Optional(Type.Number({ description: 'Seconds since the connection was made.' })),
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

/** The hub itself. */
export const SystemHealth = Named('SystemHealth', {
  uptime: Type.Integer({ minimum: 0, description: 'Seconds since the start.' }),
  date: Timestamp,
  iso_24730_connections: Type.Integer({ minimum: 0, description: 'Servers of streams that are configured.' }),
  database: DatabaseHealth,
  config: Type.String({ description: 'The configuration as YAML, without secrets.' }),
});
export type SystemHealth = Static<typeof SystemHealth>;

const subscriptions = (what: string) => Type.Integer({ minimum: 0, description: `Subscriptions to ${what}.` });

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
});
export type SocketHealth = Static<typeof SocketHealth>;
