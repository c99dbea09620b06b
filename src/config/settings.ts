import { join, resolve } from 'node:path';
import { StartupError } from '../errors.ts';
import type { InputBounds } from '../model/bounds.ts';
import { filterDefaults } from './filters.ts';
import { publicationsOf } from './mqtt.ts';
import type { Config } from './schema.ts';

/** Frames up to this size do not count against the share of a connection. */
const SMALL_FRAME_KIB = 64;

/**
 * Settings of the listener and of limits for clients. Relative paths are relative to hub_config.yaml. Throws a
 * StartupError for inconsistent settings, such as a certificate without its key.
 */
export function listenSettings(config: Config) {
  return {
    host: config.host,
    port: config.port,
    tls: tlsSettings(config),
    bodyMaxBytes: config.client_max_body_size * 1024,
    // At least the largest body.
    bodiesMaxBytes: Math.max(config.max_body_memory * 2 ** 20, config.client_max_body_size * 1024),
    headerMaxBytes: config.client_max_header_size * 1024,
    ...frameBounds(config),
    connectionsMax: config.max_connections,
    requestsPerSecond: config.max_requests_per_second,
    browsers: browserRules(config),
    forwarded: { proxies: config.trusted_proxies, basePath: config.base_path },
    idleTimeoutSeconds: config.websocket_idle_timeout,
  };
}

/**
 * A connection may send the largest frames while half of its share is free; with authorization its share is half of
 * all.
 */
function frameBounds({ websocket_max_frame_size: frameKib, max_frame_memory, require_authorization }: Config) {
  const leastMib = frameKib <= SMALL_FRAME_KIB ? 0 : Math.ceil((frameKib * (require_authorization ? 4 : 2)) / 1024);
  if (max_frame_memory < leastMib) {
    const what = `must be at least ${leastMib} for a websocket_max_frame_size of ${frameKib}`;
    throw new StartupError(`max_frame_memory: ${what}, found ${max_frame_memory}`);
  }
  return { frameMaxBytes: frameKib * 1024, framesMaxBytes: max_frame_memory * 2 ** 20 };
}

/** Rights of web pages. With authorization a page needs a token like any client, so any origin may be permitted. */
function browserRules({ cors, allowed_hosts, allowed_origins, require_authorization }: Config) {
  const isOpen = !require_authorization;
  return {
    hosts: isOpen || allowed_hosts.length > 0 ? allowed_hosts : undefined,
    origins: allowed_origins,
    foreign: !cors ? 'nothing' : isOpen ? 'read' : 'everything',
  } as const;
}

function tlsSettings(config: Config) {
  const { public_key_path, private_key_path, private_key_password, dh_params_path, force_https } = config;
  if (public_key_path === null && private_key_path === null) {
    if (!force_https) return undefined;
    throw new StartupError('force_https: needs public_key_path and private_key_path, which are not set');
  }
  if (public_key_path === null) throw new StartupError('private_key_path: needs public_key_path, which is not set');
  if (private_key_path === null) throw new StartupError('public_key_path: needs private_key_path, which is not set');
  return {
    certificatePath: resolve(config.config_path, public_key_path),
    keyPath: resolve(config.config_path, private_key_path),
    keyPassword: private_key_password ?? undefined,
    dhParamsPath: dh_params_path === null ? undefined : resolve(config.config_path, dh_params_path),
    only: force_https,
  };
}

const KILOBYTE = 1000;
const HOUR_MS = 3_600_000;
/** Maximum time that events wait for a lagging database. */
const LATE_MS = 2000;
/** With a rate limit: seconds of that rate per commit of rows, so that entities need not wait for long. */
const COMMIT_SECONDS = 0.25;
const COMMIT_BYTES_MIN = 16 << 10;

/** Location of the hub's data: a file, or a wide-column database. `startedMs` is the current time. */
export function storeTarget(config: Config, startedMs: number) {
  if (config.db_type === 'sqlite') {
    return { path: dataFile(config), startedMs, acceptLoss: config.accept_loss };
  }
  return {
    hosts: config.widecolumn_hosts.map((host) => (host === 'localhost' ? '127.0.0.1' : host)),
    port: config.widecolumn_port,
    username: config.widecolumn_username,
    password: config.widecolumn_password,
    keyspace: config.widecolumn_keyspace,
    replication: config.widecolumn_replication_strategy,
    datacenter: config.widecolumn_datacenter,
    readConsistency: config.widecolumn_read_consistency,
    writeConsistency: config.widecolumn_write_consistency,
    connectTimeoutMs: config.widecolumn_connect_timeout,
    requestTimeoutMs: config.widecolumn_request_timeout,
    tls: config.widecolumn_use_tls ? { pem: config.widecolumn_tls_pem } : undefined,
    bytesPerSecond: bytesPerSecond(config),
    burstBytes: config.widecolumn_burst_size * KILOBYTE,
  };
}

/** Commit settings for a database over the network; a file is always fast, or fails. */
export function storePace(config: Config): { readonly lateMs?: number; readonly rowBytesMax?: number } {
  if (config.db_type === 'sqlite') return {};
  const bytes = Math.max(COMMIT_BYTES_MIN, bytesPerSecond(config) * COMMIT_SECONDS);
  return { lateMs: LATE_MS, ...(bytes < Infinity && { rowBytesMax: bytes }) };
}

function bytesPerSecond(config: Config): number {
  return config.widecolumn_rate === 0 ? Infinity : config.widecolumn_rate * KILOBYTE;
}

/** Settings that must be equal in all hubs of a cluster, since they determine the processing of a location. */
const ALIKE = [
  'calculate_collisions_default',
  'detached_trackables',
  'fence_crossing',
  'crossing_max_gap',
  'fence_event_provider_id',
  'max_parent_depth',
  'mqtt_subscriptions',
  'require_authorization',
  'restart_event_delay',
] as const satisfies (keyof Config)[];

/** Without filters, the same as of a hub that has no such setting. */
function filtersAlike({ filters }: Config): readonly string[] {
  return filters.length === 0 ? [] : [`filters: ${JSON.stringify(filters)}`];
}

/** Cluster settings; undefined for a single hub. `machine`: the name of this machine. */
export function clusterSettings(config: Config, machine: string) {
  if (config.cluster_servers.length === 0) return undefined;
  const path = <Name extends string>(name: Name, value: string | null) => {
    return (value === null ? {} : { [name]: resolve(config.config_path, value) }) as { readonly [N in Name]?: string };
  };
  const tls = {
    ...path('caPath', config.cluster_tls_ca_path),
    ...path('certificatePath', config.cluster_tls_certificate_path),
    ...path('keyPath', config.cluster_tls_key_path),
  };
  const hubName = config.cluster_hub_name ?? machine;
  return {
    bus: {
      servers: config.cluster_servers,
      name: config.cluster_name,
      memberName: hubName,
      ...path('credentialsPath', config.cluster_credentials_path),
      ...path('nkeyPath', config.cluster_nkey_path),
      ...(config.cluster_username !== null && { username: config.cluster_username }),
      ...(config.cluster_password !== null && { password: config.cluster_password }),
      ...(Object.keys(tls).length > 0 && { tls }),
    },
    name: config.cluster_name,
    hubName,
    ...(config.cluster_client_url !== null && { clientUrl: config.cluster_client_url }),
    replicas: config.cluster_replicas,
    storage: config.cluster_storage,
    partitions: config.cluster_partitions,
    suspectMs: config.cluster_suspect,
    holdMs: config.cluster_hold,
    reads: config.cluster_reads,
    checkpointMs: config.cluster_checkpoint_interval,
    journalBytesMax: config.cluster_journal_max_size * 2 ** 20,
    ...(config.event_retention > 0 && {
      eventLog: { retentionMs: config.event_retention * HOUR_MS, bytesMax: config.event_max_bytes },
    }),
    ...(config.audit_retention > 0 && {
      auditLog: { retentionMs: config.audit_retention * 24 * HOUR_MS, bytesMax: config.audit_max_bytes },
    }),
    shards: config.num_threads,
    alike: [...ALIKE.map((name) => `${name}: ${config[name]}`), ...filtersAlike(config)],
  };
}

/**
 * Settings of the MQTT client; undefined without a broker. `hubName`: the name of the hub in its cluster, whose hubs
 * share their `hubId`. Relative paths are relative to hub_config.yaml; they are not checked.
 */
export function mqttSettings(
  config: Config,
  { hubId, hubName }: { readonly hubId: string; readonly hubName: string | undefined },
) {
  const { mqtt_address: host, mqtt_protocol: protocol, mqtt_tls: isEncrypted } = config;
  if (host === null) return undefined;
  const pathOf = (file: string | null): string | undefined => {
    return file === null ? undefined : resolve(config.config_path, file);
  };
  const ownId = hubName === undefined ? hubId : `${hubId}-${hubName}`;
  const clientId = config.mqtt_client_id ?? 'omlox-hub';
  return {
    broker: {
      protocol: isEncrypted ? (`${protocol}s` as 'mqtts' | 'wss') : protocol,
      host: host === 'localhost' ? '127.0.0.1' : host,
      port: config.mqtt_port,
      path: config.mqtt_path,
      // Each hub of a cluster has its own session, even with the same settings.
      clientId: hubName !== undefined || config.mqtt_client_id === null ? `${clientId}-${ownId}` : clientId,
      username: config.mqtt_user ?? undefined,
      password: config.mqtt_password ?? undefined,
      tls: isEncrypted
        ? {
            caPath: pathOf(config.mqtt_ca_cert),
            certPath: pathOf(config.mqtt_client_cert),
            keyPath: pathOf(config.mqtt_client_key),
            isVerified: config.mqtt_verify_peer,
          }
        : undefined,
    },
    sharedClientId: `${clientId}-${hubId}`,
    style: config.mqtt_topic_style,
    wanted: publicationsOf(config.mqtt_publish),
    queueBytesMax: config.mqtt_max_queue * 2 ** 20,
    subscriptions: config.mqtt_subscriptions,
    share: config.mqtt_share ?? undefined,
    uns:
      config.uns_root === null
        ? undefined
        : { root: config.uns_root, levelsMax: config.uns_max_levels, bytesMax: config.uns_max_bytes },
    homeAssistant: config.mqtt_home_assistant
      ? { prefix: config.mqtt_home_assistant_prefix, ownerId: hubId }
      : undefined,
    hubId: ownId,
    depthMax: config.max_json_depth,
  };
}

/** Settings of the OPC UA server; undefined if it is off. Throws a StartupError for one path without the other. */
export function opcuaSettings(config: Config) {
  const { opcua_port: port, config_path, host } = config;
  const { opcua_certificate_path: certificate, opcua_private_key_path: key } = config;
  if (port === null) return undefined;
  if (certificate !== null && key === null) {
    throw new StartupError('opcua_certificate_path: needs opcua_private_key_path, which is not set');
  }
  if (key !== null && certificate === null) {
    throw new StartupError('opcua_private_key_path: needs opcua_certificate_path, which is not set');
  }
  const pathOf = (path: string | null): string | undefined => (path === null ? undefined : resolve(config_path, path));
  return {
    host,
    port,
    mode: config.opcua_security,
    certificatePath: pathOf(certificate),
    keyPath: pathOf(key),
    trustedPath: pathOf(config.opcua_trusted_clients_path),
    folder: join(dataFolder(config), 'opcua'),
  };
}

const DAY_MS = 86_400_000;

/** Settings of the recorder; undefined if history is off. */
export function historySettings(config: Config) {
  if (!config.history) return undefined;
  const { history_max_size: sizeMb } = config;
  return {
    folder: historyFolder(config),
    topics: config.history_topics,
    withProperties: config.history_properties,
    flushMs: config.history_flush_interval,
    retentionMs: retentionMs(config),
    bytesMax: sizeMb === null ? Number.POSITIVE_INFINITY : sizeMb * 2 ** 20,
    minIntervalMs: config.history_min_interval,
    minDistanceMeters: config.history_min_distance,
  };
}

type Paths = Pick<Config, 'config_path' | 'data_path' | 'history_path'>;

/** Absolute path of the database of a hub with SQLite. */
export function dataFile(config: Omit<Paths, 'history_path'>): string {
  return join(dataFolder(config), 'data.dat');
}

/** Absolute folder of the history files, whether or not history is on. */
export function historyFolder(config: Paths): string {
  const { config_path, history_path } = config;
  return history_path === null ? join(dataFolder(config), 'history') : resolve(config_path, history_path);
}

function dataFolder({ config_path, data_path }: Omit<Paths, 'history_path'>): string {
  return resolve(config_path, data_path ?? '');
}

/** Limits on stored input. */
export function boundsOf(config: Config): InputBounds {
  return {
    nameLength: config.max_name_length,
    locationPropertiesBytes: config.max_location_properties_size << 10,
    entityPropertiesBytes: config.max_entity_properties_size << 10,
    positions: config.max_geometry_positions,
    rings: config.max_geometry_rings,
    parents: config.max_parent_depth,
  };
}

/** Limits on different renderings. */
export function renderingBoundsOf(config: Config) {
  return { ofSubscriber: config.websocket_max_renderings, inAll: config.max_renderings };
}

/**
 * Settings of the database for the copy of the history; undefined without one. `hub`: name that identifies this hub.
 */
export function postgresSettings(config: Config, hub: string) {
  const { timescaledb_host: host } = config;
  if (!config.history || host === null) return undefined;
  return {
    host: host === 'localhost' ? '127.0.0.1' : host,
    port: config.timescaledb_port,
    database: config.timescaledb_db,
    user: config.timescaledb_user ?? undefined,
    password: config.timescaledb_password ?? undefined,
    isEncrypted: config.timescaledb_tls,
    hub,
    retentionMs: retentionMs(config),
  };
}

/** Infinity if history is retained forever. */
function retentionMs({ history_retention_days: days }: Config): number {
  return days === null ? Number.POSITIVE_INFINITY : days * DAY_MS;
}

function recordedPlaces({ history_topics: topics, history_properties: withMembers }: Config) {
  return { topics: topics.filter((topic) => topic === 'locations' || topic === 'motions'), withMembers };
}

const BATCH_MAX = 4096;

/** Settings of the shards. */
export function shardSettings(config: Config) {
  return {
    count: config.num_threads,
    capacity: config.lane_capacity,
    batchMax: BATCH_MAX,
    settings: {
      collisionsByDefault: config.calculate_collisions_default,
      providerInTrackableEvents: config.fence_event_provider_id === 'set',
      detachedStay: config.detached_trackables === 'stay',
      parentsMax: config.max_parent_depth,
      crossing: { byDefault: config.fence_crossing, maxGapMs: config.crossing_max_gap },
      filters: filterDefaults(config.filters),
      ...(config.history && { recorded: recordedPlaces(config) }),
    },
  };
}
