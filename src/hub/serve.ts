import { hubError, HubError } from '../errors.ts';
import { FULL_ACCESS } from '../auth/authorizer.ts';
import type { ZoneLookup } from '../core/zone/zone_table.ts';
import type { EventLog } from '../events/event_log.ts';
import { selectTopic } from '../socket/event_selection.ts';
import { SocketCommandError } from '../socket/wire.ts';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { admitBodies, createApi, type GuardedApiDeps } from '../api/api.ts';
import type { EventsApi } from '../api/deps.ts';
import { siteOf } from '../api/naming.ts';
import { ReplyFactory } from '../api/replies.ts';
import { PREFIXES } from '../api/versions.ts';
import { viewOf } from '../api/view.ts';
import type { Config } from '../config/schema.ts';
import { boundsOf, listenSettings } from '../config/settings.ts';
import type { AdmitBody, HandleHttp, Peer } from '../exchange.ts';
import type { HubIdentity } from '../model/health.ts';
import type { Mqtt } from '../mqtt/mqtt.ts';
import type { HubOperation } from '../operation/operation.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { whyNoMap } from '../site/map_file.ts';
import { isFileName, kindOfTiles, type MapTiles } from '../site/map_tiles.ts';
import { MAP_FILE_URL, type SiteSettings, withSite } from '../site/site.ts';
import { siteFilesIn } from '../site/site_files.ts';
import type { PubSubDeps } from '../socket/deps.ts';
import { createRpcSocket, type RpcSocketDeps } from '../socket/rpc_session.ts';
import { createSocket } from '../socket/session.ts';
import { knowByToken } from '../socket/upgrade_token.ts';
import type { WaitingFrames } from '../socket/waiting_frames.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { schedule } from '../time/clock.ts';
import { type Listening, listen } from '../transport/server.ts';
import { Unsent } from '../transport/unsent.ts';
import type { HubAuthorization } from './authorization.ts';
import type { Recording } from './connect_history.ts';
import { rpcDeps } from './connect_rpc.ts';
import { HubDemo } from './demo.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';
import { admitAllBy } from './admit_all.ts';
import { VERSION_INFO } from './version_info.ts';
import { withDeadline } from './with_deadline.ts';

const SOCKET_PATHS = pathsOf('socket');
const RPC_PATHS = pathsOf('rpc');
/** Paths of the server for agents. */
const AGENT_PATHS = ['/mcp', '/hub/mcp'];
/** Output folder of src/build_ui.mjs. */
const SITE_FOLDER = fileURLToPath(new URL('../../.hub-ui', import.meta.url));

/** The components and other services that clients use. */
export interface ServedParts extends Parts {
  readonly identity: HubIdentity;
  readonly operation: HubOperation;
  readonly rpc: Rpc;
  readonly mqtt: Pick<Mqtt, 'describe'> | undefined;
  readonly recording: Recording | undefined;
  readonly authorization: HubAuthorization | undefined;
  readonly waiting: WaitingFrames;
  readonly telemetry: Telemetry | undefined;
}

export interface ServerHandle {
  readonly listening: Listening;
  readonly demo: HubDemo;
}

/** Opens the port with the API, the WebSocket and the web UI. Throws a StartupError if the port is not available. */
export async function serve(parts: ServedParts, config: Config, log: Log): Promise<ServerHandle> {
  const { turns, authorization } = parts;
  const unsent = new Unsent(config.max_unsent_memory * 2 ** 20);
  const report = (error: unknown, request?: object): void => {
    log.error('A request has failed', { error: String(error), ...request });
  };
  const demo = new HubDemo({
    entities: parts.entities,
    handle: (request) => handleOwn(request),
    warn: (text, facts) => log.warn(text, facts),
  });
  const api: GuardedApiDeps = { ...apiDeps(parts, config), demo };
  // Requests of the hub to itself need no token.
  const { authorization: _asked, ...own } = api;
  const handleOwn = createApi(own);
  const replies = new ReplyFactory(api);
  const refuse = (error: HubError, path: string) => replies.error(error, path);
  const watched: Pick<PubSubDeps, 'unsent' | 'tooSlow' | 'report'> = {
    unsent,
    tooSlow: (peer, bytes) => log.warn('A WebSocket client does not keep up', { userAgent: peer.userAgent, bytes }),
    report,
  };
  const traced = (handle: HandleHttp): HandleHttp => parts.telemetry?.traced(handle) ?? handle;
  const handleEvents = createSocket({ ...socketDeps(parts, config), ...watched });
  const handleRpc = createRpcSocket({ ...rpcSocketDeps(parts, config), ...watched });
  const listening = await listen({
    ...listenSettings(config),
    socketPaths: [...SOCKET_PATHS, ...RPC_PATHS],
    refuse,
    report,
    handleHttp: withSite(withAgents(traced(createApi(api)), config, parts.now), {
      files: siteFilesIn(SITE_FOLDER),
      settings: siteSettings(config, authorization),
      mapFile: mapFileOf(config, log),
      ...(authorization && { permitted: authorization.permitted }),
      refuse,
    }),
    admitBody: config.mcp ? admitAgents(admitBodies(api)) : admitBodies(api),
    unsent,
    turns,
    ...(authorization && { knowPeer: knowByToken(authorization.knows) }),
    tooLong: (peer, maxBytes) => log.warn('A WebSocket frame is too long', { userAgent: peer.userAgent, maxBytes }),
    handlePeer: (peer) => (isForRpc(peer) ? handleRpc(peer) : handleEvents(peer)),
  });
  return { listening, demo };
}

/**
 * Serves the Model Context Protocol for agents, if it is configured, and passes other requests to the API. The first
 * request loads its code, so a hub without agents starts as fast as before.
 */
function withAgents(handle: HandleHttp, { mcp, mcp_write: write }: Config, now: () => number): HandleHttp {
  if (!mcp) return handle;
  const options = { handle, version: VERSION_INFO.hub_version, write, now };
  let loaded: Promise<HandleHttp> | undefined;
  return (request) => {
    if (!isForAgents(request.path)) return handle(request);
    loaded ??= import('../mcp/mcp.ts').then(({ createMcp }) => createMcp(options));
    return loaded.then((serveAgents) => serveAgents(request));
  };
}

/** Refuses large bodies from agents: no message of their protocol is that long. */
function admitAgents(admit: AdmitBody): AdmitBody {
  return (head) => (isForAgents(head.path) ? { status: 413 } : admit(head));
}

function isForAgents(path: string): boolean {
  return AGENT_PATHS.includes(path.replace(/\/$/, ''));
}

function pathsOf(socket: string): string[] {
  return PREFIXES.flatMap((prefix) => [`${prefix}/v1/ws/${socket}`, `${prefix}/v2/ws/${socket}`]);
}

/** Whether a connection is for remote procedure calls. The path may end with slashes. */
function isForRpc({ path }: Peer): boolean {
  return path.includes('/ws/rpc');
}

function apiDeps(parts: ServedParts, config: Config): Omit<GuardedApiDeps, 'demo'> {
  const { now, turns, cluster, shards, entities, rules, imports, ingest, sources } = parts;
  const { operation, authorization, mqtt, recording, alerts, views, hubLinks, sinks, walkTests, dataSources, keys } =
    parts;
  return {
    entities,
    alerts,
    views,
    links: { documents: parts.links, state: hubLinks.state },
    sinks,
    walkTests,
    keys,
    sources: dataSources,
    read: (query) => {
      if (cluster === undefined) return shards.ask(query);
      if (!cluster.isLocal) return cluster.remote.ask(query);
      return withDeadline(shards.ask(query), config.cluster_hold, 'read');
    },
    acceptLocations: (values, incoming) => ingest.locations(values, incoming),
    acceptBody: (body, incoming) => ingest.body(body, incoming),
    acceptLongBody: (body, incoming) => ingest.longBody(body, incoming),
    takeOwnerHint: parts.takeOwnerHint,
    acceptProximities: (values, incoming) => ingest.proximities(values, incoming),
    upToDate() {
      if (cluster === undefined || config.cluster_reads === 'any') return undefined;
      return withDeadline(cluster.durability.upToDate(), config.cluster_hold, 'read');
    },
    zonesMoved: () => zonesMoved(parts),
    acceptCisco: sources.acceptCisco,
    forgetLocation: async (id) => (cluster?.isLocal === false ? cluster.remote : shards).forget(id),
    async forgetAllLocations() {
      const ids = entities.list('provider').map(({ id }) => id);
      if (cluster?.isLocal === false) await cluster.remote.forgetAll(ids);
      else for (const id of ids) shards.forget(id);
    },
    rules,
    imports,
    async permit(...request) {
      await admitAllBy(authorization?.api)(...request);
    },
    publishFenceEvent: parts.thirdParties.publish,
    // Unauthorized requests are rejected before a response is computed.
    corsEnabled: config.cors || config.allowed_origins.length > 0,
    errorTypes: config.error_types,
    errorTypePrefix: config.error_type_prefix,
    versionInfo: { ...VERSION_INFO, ...parts.identity },
    ...(mqtt && { describeMqtt: mqtt.describe }),
    ...(authorization && { knows: authorization.knows }),
    ...(recording && {
      history: {
        now,
        recordsCrossings: config.history_topics.includes('fence_events'),
        async ask(question, gone, by) {
          if (by !== undefined) await parts.auditRead(question, by);
          return recording.ask(question, gone);
        },
        async erase(request, by) {
          await parts.auditErasure(request, by);
          return recording.erase(request);
        },
      },
    }),
    depthMax: config.max_json_depth,
    operation,
    rpc: rpcDeps(parts.rpc, authorization, config),
    events: eventsApi(parts, {
      checkView: (query, visibility) => viewOf({ query, visibility }, { entities }),
      site: siteOf(entities),
      ...(authorization && { authorize: authorization.socket }),
    }),
    audit() {
      if (parts.auditLog === undefined) throw hubError('audit_off');
      return parts.auditLog;
    },
    turns,
    ...(authorization && { authorization: authorization.api }),
  };
}

/** Resolves when pending moves of zones are done. In a cluster, zones may follow objects of other hubs. */
function zonesMoved({ cluster, entities, zoneMoves }: ServedParts): Promise<void> | undefined {
  if (cluster?.isLocal !== false) return zoneMoves.settled();
  return entities.hasMobileZones ? cluster.remote.settled() : undefined;
}

function socketDeps(parts: ServedParts, config: Config): Omit<PubSubDeps, 'unsent' | 'tooSlow' | 'report'> {
  const { now, turns, cluster, fanout, entities, ingest, operation, authorization, waiting } = parts;
  return {
    fanout,
    open: operation.open,
    waiting,
    events: eventAccess(parts),
    ingestMessage: (message) => ingest.message(message),
    takeOwnerHint: parts.takeOwnerHint,
    ingestLocations: (values) => ingest.publishedLocations(values),
    ingestProximities: (values) => ingest.publishedProximities(values),
    subscriptionIdMode: config.websocket_subscription_id,
    checkView: (query, visibility) => viewOf({ query, visibility }, { entities }),
    site: siteOf(entities),
    depthMax: config.max_json_depth,
    turns,
    subscriptionsMax: config.websocket_max_subscriptions,
    paramsMax: config.websocket_max_params_size << 10,
    queueMaxBytes: config.websocket_buffer_size << 20,
    ...(cluster && { interestAnnounced: () => cluster.fanout?.acknowledged() }),
    ...(authorization && { authorize: authorization.socket }),
    now,
    schedule,
  };
}

function rpcSocketDeps({ now, turns, rpc, authorization, waiting }: ServedParts, config: Config): RpcSocketDeps {
  return {
    rpc,
    waiting,
    turns,
    depthMax: config.max_json_depth,
    queueMaxBytes: config.websocket_buffer_size << 20,
    ...(authorization && { authorize: authorization.rpcSocket }),
    now,
    schedule,
  };
}

function siteSettings(config: Config, authorization: HubAuthorization | undefined): SiteSettings {
  return {
    hub_version: VERSION_INFO.hub_version,
    map_tiles: mapTilesOf(config),
    sign_in: authorization === undefined ? null : (authorization.signIn ?? { by: 'key' }),
    history: config.history,
    entity_properties_bytes: boundsOf(config).entityPropertiesBytes,
  };
}

/** Returns the map settings of the UI. */
function mapTilesOf(config: Config): MapTiles | null {
  const { map_tile_url: url, map_tile_attribution: attribution, map_tile_max_zoom: max_zoom } = config;
  if (url === null) return null;
  return { url: isFileName(url) ? MAP_FILE_URL : url, kind: kindOfTiles(url), attribution, max_zoom };
}

/**
 * Returns the absolute path of the map file next to the configuration, if one is configured. Logs a warning if it is
 * unreadable.
 */
function mapFileOf({ config_path, map_tile_url: url }: Config, log: Log): string | undefined {
  if (url === null || !isFileName(url)) return undefined;
  const path = resolve(config_path, url);
  void whyNoMap(path).then((problem) => {
    if (problem !== undefined) log.warn('The map file of map_tile_url cannot be read', { path, problem });
  });
  return path;
}

/** The event log of a hub, for clients. */
interface EventAccess {
  /** Throws HUB_NOT_FOUND if the hub has none. */
  log(): EventLog;
  readonly zones: ZoneLookup;
}

function eventAccess({ eventLog, entities }: ServedParts): EventAccess {
  return {
    zones: (name) => entities.zoneBy(name),
    log() {
      if (eventLog === undefined) throw hubError('event_log_off');
      return eventLog;
    },
  };
}

/** Returns the access of the REST API to the event log, with the permissions of subscriptions. */
function eventsApi(parts: ServedParts, { authorize, ...deps }: SelectingDeps): EventsApi {
  const { log, zones } = eventAccess(parts);
  return {
    log,
    now: parts.now,
    schedule: parts.machine.schedule,
    async selectTopic(topic, params, token) {
      const access = await (authorize?.({ use: 'subscribe', path: '/v2/', topic, token }) ?? FULL_ACCESS);
      const { expiresMs, revoked } = access;
      try {
        return { ...selectTopic(topic, params, { access, deps: { ...deps, zones } }), expiresMs, revoked };
      } catch (error) {
        throw error instanceof SocketCommandError ? new HubError(error.why) : error;
      }
    },
  };
}

type SelectingDeps = Pick<PubSubDeps, 'checkView' | 'site' | 'authorize'>;
