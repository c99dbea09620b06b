import Type, { type Static } from 'typebox';
import { Iso24730Connection } from './iso_24730.ts';

/**
 * Every setting of the hub: type, default and one line of help. hub_config.yaml in the repository is written from this
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
    description: 'Port of the API, the WebSocket and the documentation. 0 takes a free one.',
  }),
  require_authorization: Type.Boolean({
    default: false,
    description: 'Whether requests need an access token. What a token permits is in permissions.yaml beside this file.',
  }),
  openid_config_url: Text({
    description: 'Address of the OpenID configuration of the identity server. Needed with require_authorization.',
  }),
  openid_client_name: Text({
    description: 'Client that tokens must be for, in aud or azp. Needed with require_authorization.',
  }),
  openid_client_secret: Text({
    secret: true,
    description: 'Secret of that client. Taken for compatibility: tokens are verified by public keys.',
  }),
  openid_skip_issuer_verification: Type.Boolean({
    default: false,
    description: 'Whether tokens of any issuer are taken if a key of the identity server fits. For tests.',
  }),
  openid_clock_tolerance: Type.Integer({
    minimum: 0,
    maximum: 300,
    default: 10,
    description: 'How far the clock of the identity server may be away from that of the hub, in seconds.',
  }),
  openid_role_claims: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Claims that list roles, such as groups.hub, beside realm_access, resource_access and roles.',
  }),
  openid_owned_resources_claim: Type.String({
    minLength: 1,
    default: 'https://deephub.io/owned_resources',
    description: 'Claim that lists what the holder of a token owns: provider_ids, trackable_ids and so on.',
  }),
  verify_authserver: Type.Boolean({
    default: true,
    description: "Whether the identity server's certificate must be valid.",
  }),
  authserver_public_key_path: Text({
    description:
      'PEM file with the certificate that the identity server is verified by, if the system does not know it.',
  }),
  cors: Type.Boolean({ default: true, description: 'Whether web pages of other origins may use the API.' }),
  client_max_body_size: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    description: 'Largest body of a request, in KiB. A larger one is answered 413.',
  }),
  error_type_prefix: Type.String({
    minLength: 1,
    default: 'com.flowcate',
    description: 'What the types of error bodies begin with.',
  }),
  license_key: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    secret: true,
    description: 'A licence key to be shown by /license/info. The hub needs none.',
  }),
  license_public_keys: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), {
    default: [],
    description: 'Ed25519 public keys that a license_key may be signed with: a list of their 32 bytes in base64url.',
  }),
  severity_level: Word(['Fatal', 'Error', 'Warning', 'Info', 'Debug', 'Trace'], {
    default: 'Info',
    description: 'Least severity that is logged: Fatal, Error, Warning, Info, Debug or Trace.',
  }),
  num_threads: Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.Null()], {
    default: null,
    description: 'Threads that evaluate locations. null is one less than the cores, at least 1.',
  }),
  lane_capacity: Type.Integer({
    minimum: 1,
    default: 100_000,
    description: 'Locations that may wait for a thread. More are answered 503.',
  }),
  persist_locations: Type.Boolean({
    default: true,
    description: 'Whether last locations and memberships survive a restart.',
  }),
  db_type: Word(['sqlite'], {
    default: 'sqlite',
    description: 'Kind of database: sqlite, the file data.dat beside this file.',
  }),
  db_fast_writes: Type.Boolean({
    default: true,
    description: 'Whether a location is answered before it is committed. Needs persist_locations.',
  }),
  db_flush_interval: Type.Integer({
    minimum: 1,
    maximum: 2000,
    default: 200,
    description: 'Time between commits of last locations with db_fast_writes, in milliseconds; up to 2000 under load.',
  }),
  restart_event_delay: Type.Integer({
    minimum: 0,
    maximum: 3_600_000,
    default: 2000,
    description: 'Time after a start until exits that fell due meanwhile are sent, in milliseconds.',
  }),
  calculate_collisions_default: Type.Boolean({
    default: true,
    description: 'Whether trackables that do not say otherwise take part in collisions.',
  }),
  fence_event_provider_id: Word(['null', 'set'], {
    default: 'null',
    description: 'provider_id of a fence event that a trackable caused: "null", or "set" to the provider.',
  }),
  websocket_idle_timeout: Type.Integer({
    minimum: 8,
    maximum: 960,
    default: 60,
    description: 'Time after which a WebSocket without a sign of life is closed, in seconds.',
  }),
  websocket_subscription_id: Word(['auto', 'always', 'never'], {
    default: 'auto',
    description: 'Whether message frames carry subscription_id: always, never, or auto (not to Go clients).',
  }),
  websocket_buffer_size: Type.Integer({
    minimum: 1,
    maximum: 4096,
    default: 64,
    description: 'What may wait for a slow WebSocket client before it is disconnected, in MiB.',
  }),
  iso_24730_connections: Type.Array(Iso24730Connection, {
    default: [],
    description: 'ISO/IEC 24730-1 servers to read from: a list of {host, port, type, zone_id or foreign_id}.',
  }),
});

/** A text that need not be set. */
function Text(options: { description: string; secret?: true }) {
  return Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, ...options });
}

function Word<const T extends readonly string[]>(words: T, options: { default: T[number]; description: string }) {
  return Type.Unsafe<T[number]>(Type.Enum([...words], options));
}

export type Settings = Static<typeof ConfigSchema>;

/** The settings of a running hub: read once, checked and frozen. */
export type Config = Readonly<
  Omit<Settings, 'num_threads'> & {
    num_threads: number;
    /** Folder of hub_config.yaml and data.dat, absolute. From HUB_CONFIG_PATH alone. */
    config_path: string;
  }
>;

export type Key = keyof Settings;

/** The settings' names, in the order of the schema. */
export const KEYS = Object.keys(ConfigSchema.properties) as readonly Key[];

/** What a setting's schema says beside its type. */
export interface Setting {
  /** An empty list for a setting that is a list. */
  readonly default: string | number | boolean | null | readonly [];
  readonly description: string;
  readonly secret?: boolean;
  /** The words of a setting that takes one of some words. */
  readonly enum?: readonly string[];
}

/** The schema of a setting, as plain data. */
export function settingOf(key: Key): Setting {
  return ConfigSchema.properties[key] as unknown as Setting;
}
