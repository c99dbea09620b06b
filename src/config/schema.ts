import Type, { type Static } from 'typebox';
import { DEPTH_MAX } from '../model/depth.ts';
import { HORIZON_MAX_MS } from '../model/forecast.ts';
import { ClusterProperties } from './cluster.ts';
import { ConfiguredFilter } from './filters.ts';
import { HistoryProperties } from './history.ts';
import { Iso24730Connection } from './iso_24730.ts';
import { MqttProperties } from './mqtt.ts';
import { OpcuaProperties } from './opcua.ts';
import { WideColumnProperties } from './wide_column.ts';
import { Word } from './word.ts';

/**
 * All settings of the hub: type, default and one line of help. hub_config.yaml in the repository is generated from this
 * schema. A setting with `secret: true` is never shown.
 */
export const ConfigSchema = Type.Object({
  host: Type.String({
    minLength: 1,
    default: '127.0.0.1',
    description: 'Address to listen on. 0.0.0.0 is every interface, localhost is 127.0.0.1.',
  }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8081,
    description: 'Port of the API, the WebSocket and the documentation. 0: any free port.',
  }),
  public_key_path: Text({
    description: 'PEM file with the certificate for HTTPS and wss. Reloaded when it changes.',
  }),
  private_key_path: Text({ description: 'PEM file with the private key of that certificate.' }),
  private_key_password: Text({ secret: true, description: 'Password of the private key, if it is encrypted.' }),
  dh_params_path: Text({ description: 'PEM file with Diffie-Hellman parameters, for clients that need them.' }),
  certificate_reload_interval: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 60,
    description: 'Interval of checks for a new certificate, in seconds. 0: only on the signal SIGHUP.',
  }),
  force_https: Type.Boolean({
    default: false,
    description: 'Whether only HTTPS is served. Otherwise a hub with a certificate also serves HTTP on its port.',
  }),
  hub_name: Text({
    description: 'Display name of the hub. null: cluster_hub_name, or "location hub" without a cluster.',
  }),
  require_authorization: Type.Boolean({
    default: false,
    description:
      'Whether requests need a token or an API key. permissions.yaml next to this file defines what these permit.',
  }),
  openid_config_url: Text({
    description: 'URL of the OpenID configuration of the identity server. null: only API keys are accepted.',
  }),
  openid_client_name: Text({
    description: 'Client that tokens must name in aud, azp, cid, client_id or appid. Required with openid_config_url.',
  }),
  openid_client_secret: Text({
    secret: true,
    description: 'Secret of that client. Accepted for compatibility: tokens are verified by public keys.',
  }),
  openid_browser_client_name: Text({
    description: 'Public client for signing in to the web UI. null: openid_client_name.',
  }),
  openid_browser_config_url: Text({
    description: 'URL of the OpenID configuration for browsers. null: openid_config_url.',
  }),
  openid_skip_issuer_verification: Type.Boolean({
    default: false,
    description: 'Whether tokens of any issuer are accepted if a key of the identity server verifies them. For tests.',
  }),
  openid_clock_tolerance: Type.Integer({
    minimum: 0,
    maximum: 300,
    default: 10,
    description: 'Tolerance between the clocks of the identity server and the hub, in seconds.',
  }),
  openid_role_claims: Type.Array(Type.Union([Type.String(), Type.Array(Type.String())]), {
    default: [],
    description: 'Claims that list roles, such as groups.hub or resource_access."plant.apps".roles, or lists of names.',
  }),
  openid_owned_resources_claim: Type.String({
    minLength: 1,
    default: 'https://deephub.io/owned_resources',
    description: 'Claim that lists the entities owned by the holder of a token: provider_ids, trackable_ids and so on.',
  }),
  verify_authserver: Type.Boolean({
    default: true,
    description: "Whether the identity server's certificate must be valid.",
  }),
  authserver_public_key_path: Text({
    description: 'PEM file with the certificate that verifies the identity server, if the system does not trust it.',
  }),
  cors: Type.Boolean({
    default: true,
    description: 'Whether web pages of other origins may use the API. Without authorization they may only read.',
  }),
  allowed_origins: Type.Array(Type.String({ pattern: '^(\\*|null|https?://[^/\\s]+)$' }), {
    default: [],
    description: 'Origins whose web pages have full access, such as https://dashboard.example.com. "*": all.',
  }),
  allowed_hosts: Type.Array(Type.String({ pattern: '^(\\*|\\.?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*)$' }), {
    default: [],
    description: 'Accepted host names, besides localhost, addresses and the host name of the hub. "*": all.',
  }),
  trusted_proxies: Type.Array(Type.String(), {
    default: ['127.0.0.0/8', '::1'],
    description: 'Addresses of proxies whose X-Forwarded-Host, X-Forwarded-Prefix and Forwarded are trusted. "*": all.',
  }),
  sink_allowed_hosts: Type.Array(Type.String(), {
    default: ['*'],
    description:
      'Hosts to which sinks may deliver: names, *.example.com, addresses, networks. "*": all with public addresses.',
  }),
  link_allowed_hosts: Type.Array(Type.String(), {
    default: ['*'],
    description:
      'Hosts to which links may connect: names, *.example.com, addresses, networks. "*": all with public addresses.',
  }),
  source_allowed_hosts: Type.Array(Type.String(), {
    default: ['*'],
    description:
      'Hosts to which sources may connect: names, *.example.com, addresses, networks. "*": all with public addresses.',
  }),
  source_udp_ports: Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
    default: [],
    description: 'Ports on which sources of kind udp may receive datagrams, on all addresses of the hub.',
  }),
  mcp: Type.Boolean({
    default: false,
    description:
      'Whether agents may use the hub at /mcp, by the Model Context Protocol. Permissions are those of REST.',
  }),
  mcp_write: Type.Boolean({
    default: false,
    description: 'Whether agents also get tools that change something: alerts and fences. Only with mcp.',
  }),
  base_path: Type.String({
    default: '',
    description:
      'Path prefix of the hub behind a proxy, such as /rtls. The hub serves all paths both with and without it.',
  }),
  client_max_body_size: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    description: 'Maximum size of a request body, in KiB. Larger bodies are answered 413.',
  }),
  max_body_memory: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 64,
    description:
      'Memory for request bodies being read, in MiB. One body always fits. Further requests are answered 503.',
  }),
  max_frame_memory: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 256,
    description:
      'Memory for incoming WebSocket frames, in MiB. When it runs short, new clients may send 1 MiB or 64 KiB.',
  }),
  max_unsent_memory: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 512,
    description:
      'Memory for data that clients have not read yet, in MiB. Beyond it the connection with the most data is closed.',
  }),
  client_max_header_size: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 32,
    description: 'Maximum size of request headers, in KiB. Larger headers are answered 431.',
  }),
  max_json_depth: Type.Integer({
    minimum: 10,
    maximum: DEPTH_MAX,
    default: DEPTH_MAX,
    description: 'Maximum nesting of JSON. Deeper input is rejected.',
  }),
  max_name_length: Bound('Maximum characters of an id, a source or a name. Longer ones are rejected.', {
    default: 1024,
    maximum: 16_384,
  }),
  max_location_properties_size: Bound(
    'Maximum size of the properties of a location as JSON, in KiB. Larger ones are rejected.',
    {
      default: 64,
      maximum: 16_384,
    },
  ),
  max_entity_properties_size: Bound(
    'Maximum size of the properties, or of a list, of an entity as JSON, in KiB. Larger ones are rejected.',
    {
      default: 1024,
      maximum: 65_536,
    },
  ),
  max_geometry_positions: Bound('Maximum positions of a geometry. Geometries with more are rejected.', {
    default: 100_000,
    maximum: 1_000_000,
  }),
  max_geometry_rings: Bound('Maximum rings of a polygon. Polygons with more are rejected.', {
    default: 10_000,
    maximum: 100_000,
  }),
  max_geometry_check_time: Bound(
    'Maximum time for the check of a large polygon, in milliseconds. Polygons that take longer are rejected.',
    {
      default: 2000,
      maximum: 600_000,
    },
  ),
  max_parent_depth: Bound(
    'Maximum levels of parents. Deeper chains are rejected; those in old data are followed to this depth.',
    {
      default: 32,
      maximum: 1000,
    },
  ),
  max_connections: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 20_000,
    description: 'Maximum open connections. Further connections are closed without an answer.',
  }),
  max_requests_per_second: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description:
      'Requests and WebSocket frames per second and client address, with bursts of twice that. 0 is no limit.',
  }),
  error_type_prefix: Type.String({
    minLength: 1,
    default: 'com.flowcate',
    description: 'Prefix of the types in error bodies, unless error_types makes them plain words.',
  }),
  error_types: Word(['by_version', 'plain', 'vendor'], {
    default: 'by_version',
    description: 'Types of error bodies: plain words, vendor names under the prefix, or by_version: plain in v1 only.',
  }),
  license_key: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    secret: true,
    description: 'License key shown by /license/info. The hub runs without one.',
  }),
  license_public_keys: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), {
    default: [],
    description: 'Ed25519 public keys that verify a license_key: a list, each 32 bytes in base64url.',
  }),
  severity_level: Word(['Fatal', 'Error', 'Warning', 'Info', 'Debug', 'Trace'], {
    default: 'Info',
    description: 'Minimum severity that is logged: Fatal, Error, Warning, Info, Debug or Trace.',
  }),
  num_threads: Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.Null()], {
    default: null,
    description: 'Threads that evaluate locations. null: one less than the number of cores, at least 1.',
  }),
  lane_capacity: Type.Integer({
    minimum: 1,
    default: 100_000,
    description: 'Maximum locations waiting for a thread. Further locations are answered 503.',
  }),
  persist_locations: Type.Boolean({
    default: true,
    description: 'Whether last locations, memberships and collisions survive a restart.',
  }),
  db_type: Word(['sqlite', 'widecolumn'], {
    default: 'sqlite',
    description: 'Kind of database: sqlite (the file data.dat) or widecolumn (a Cassandra cluster).',
  }),
  data_path: Text({
    description: 'Folder of data.dat, and of the history unless it has its own. null: the folder of this file.',
  }),
  accept_loss: Type.Boolean({
    default: false,
    description:
      'Whether the hub starts if data.dat is damaged, without the lost data. For one start, use --accept-loss.',
  }),
  db_fast_writes: Type.Boolean({
    default: true,
    description: 'Whether a location is answered before it is committed. Requires persist_locations.',
  }),
  db_flush_interval: Type.Integer({
    minimum: 1,
    maximum: 2000,
    default: 200,
    description: 'Interval of commits of last locations with db_fast_writes, in milliseconds. Up to 2000 under load.',
  }),
  event_retention: Type.Integer({
    minimum: 0,
    maximum: 8784,
    default: 24,
    description: 'Time for which events can be read again after a cursor, in hours. 0: the hub logs no events.',
  }),
  event_max_bytes: Type.Integer({
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    default: 1_073_741_824,
    description: 'Maximum size of the event log, in bytes. The oldest events are removed first.',
  }),
  audit_retention: Type.Integer({
    minimum: 0,
    maximum: 3660,
    default: 90,
    description: 'Time for which changes can be read in the audit log, in days. 0: the hub audits nothing.',
  }),
  audit_reads: Type.Boolean({
    default: true,
    description: 'Whether the audit log also records who has read the history of which objects.',
  }),
  audit_max_bytes: Type.Integer({
    minimum: 1_048_576,
    maximum: 1_099_511_627_776,
    default: 268_435_456,
    description: 'Maximum size of the audit log, in bytes. The oldest entries are removed first.',
  }),
  restart_event_delay: Type.Integer({
    minimum: 0,
    maximum: 3_600_000,
    default: 2000,
    description: 'Delay after a start before overdue exits and collision ends are sent, in milliseconds.',
  }),
  calculate_collisions_default: Type.Boolean({
    default: true,
    description: 'Whether trackables take part in collisions by default.',
  }),
  filters: Type.Array(ConfiguredFilter, {
    default: [],
    description: 'Filters of positions: a list of {provider_type, kind, default_accuracy, …}. Empty: no filter.',
  }),
  detached_trackables: Word(['stay', 'leave'], {
    default: 'stay',
    description:
      'Behavior of a trackable whose provider is removed: "stay" at the last position, or "leave" all fences at once.',
  }),
  fence_crossing: Word(['none', 'segment'], {
    default: 'none',
    description:
      'Events between two locations, for fences that do not set "crossing": none, or segment, the straight way.',
  }),
  crossing_max_gap: Type.Integer({
    minimum: 1,
    maximum: 3_600_000,
    default: 10_000,
    description: 'Maximum time between two locations whose way crosses fences and gates, in milliseconds.',
  }),
  collision_forecast_horizon: Type.Integer({
    minimum: 0,
    maximum: HORIZON_MAX_MS,
    default: 0,
    description: 'Milliseconds for which collision_forecast announces collisions of filtered trackables; 0 for none.',
  }),
  fence_event_provider_id: Word(['null', 'set'], {
    default: 'null',
    description: 'provider_id of fence events of trackables: "null", or "set" to the provider of the location.',
  }),
  websocket_idle_timeout: Type.Integer({
    minimum: 8,
    maximum: 960,
    default: 60,
    description: 'Time after which an idle WebSocket is closed, in seconds.',
  }),
  websocket_max_frame_size: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 16_384,
    description: 'Maximum size of a frame from a WebSocket client, in KiB. A larger frame closes the connection.',
  }),
  websocket_max_subscriptions: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1000,
    description: 'Maximum subscriptions of one WebSocket connection.',
  }),
  websocket_max_renderings: Bound(
    'Maximum different renderings (topic, GeoJSON, crs and zone) of one WebSocket connection.',
    { default: 16, maximum: 10_000 },
  ),
  max_renderings: Bound('Maximum different renderings of all connections together.', {
    default: 256,
    maximum: 10_000,
  }),
  websocket_max_params_size: Bound(
    'Maximum total size of the subscription parameters of one WebSocket connection, in KiB.',
    {
      default: 1024,
      maximum: 65_536,
    },
  ),
  websocket_subscription_id: Word(['auto', 'always', 'never'], {
    default: 'auto',
    description: 'Whether message frames carry subscription_id: always, never, or auto (not to Go clients).',
  }),
  websocket_buffer_size: Type.Integer({
    minimum: 1,
    maximum: 4096,
    default: 64,
    description: 'Maximum data waiting for a slow WebSocket client before it is disconnected, in MiB.',
  }),
  map_tile_url: Type.Union(
    [Type.String({ pattern: '^((https?://|/)[^\\s;,]+|[\\w-][\\w.-]*\\.pmtiles)$' }), Type.Null()],
    {
      default: null,
      description:
        'Background map of the web UI: a URL with {z}, {x}, {y} of images, .mvt or .pbf, or a .pmtiles file or URL.',
    },
  ),
  map_tile_attribution: Type.String({
    default: '',
    description: 'Attribution of the map tiles.',
  }),
  map_tile_max_zoom: Type.Union([Type.Integer({ minimum: 0, maximum: 30 }), Type.Null()], {
    default: null,
    description: 'Maximum zoom level of the tiles. null: 14 for vector tiles, or the level in the .pmtiles file.',
  }),
  iso_24730_connections: Type.Array(Iso24730Connection, {
    default: [],
    description: 'ISO/IEC 24730-1 servers to connect to: a list of {host, port, type, zone_id or foreign_id}.',
  }),
  ...HistoryProperties,
  ...MqttProperties,
  ...OpcuaProperties,
  ...WideColumnProperties,
  ...ClusterProperties,
});

/** An optional string setting. */
function Text(options: { description: string; secret?: true }) {
  return Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, ...options });
}

/** A limit on stored client input, on the time to check geometries, or on the cost of subscriptions. */
function Bound(description: string, of: { readonly default: number; readonly maximum: number }) {
  return Type.Integer({ minimum: 1, ...of, description });
}

export type SettingValues = Static<typeof ConfigSchema>;

/** The settings of a running hub: read once, checked and frozen. */
export type Config = Readonly<
  Omit<SettingValues, 'num_threads'> & {
    num_threads: number;
    /** Folder of hub_config.yaml and data.dat, absolute. Only from HUB_CONFIG_PATH. */
    config_path: string;
  }
>;

export type Key = keyof SettingValues;

/** Names of the settings, in the order of the schema. */
export const KEYS = Object.keys(ConfigSchema.properties) as readonly Key[];

/** Metadata of a setting. */
export interface Setting {
  readonly default: string | number | boolean | null | readonly string[];
  readonly description: string;
  readonly secret?: boolean;
  /** The words of an enum setting. */
  readonly enum?: readonly string[];
  /** The types of a nullable setting. */
  readonly anyOf?: readonly { readonly type: string }[];
}

/** The schema of a setting, as plain data. */
export function settingOf(key: Key): Setting {
  return ConfigSchema.properties[key] as unknown as Setting;
}
