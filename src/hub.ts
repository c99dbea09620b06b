import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { garbageCollector } from '../workers/garbage.ts';
import { MemoryWatch } from '../workers/memory_watch.ts';
import type { Sources } from './adapters/sources.ts';
import { admitBodies, createApi, type GuardedApiDeps } from './api/api.ts';
import { fenceEventPublisher } from './api/fence_event_input.ts';
import { siteOf } from './api/naming.ts';
import { Replies } from './api/replies.ts';
import { viewOf } from './api/view.ts';
import type { Fetch } from './auth/fetch_json.ts';
import { type HubAuthorization, type OutgoingTls, openAuthorization } from './authorization.ts';
import { BEAT_MS, type Clock, every, openClock, schedule } from './clock.ts';
import type { Config } from './config/schema.ts';
import { listenSettings, storePlace } from './config/settings.ts';
import type { CollisionRow } from './core/collision/row.ts';
import type { KeptRow, LastKnownRow } from './core/item.ts';
import type { HubCounts } from './counts.ts';
import { RULES_SETTING } from './entities/locating_rules.ts';
import type { HubError } from './errors.ts';
import { CertificateCare, warnOfExposure } from './exposure.ts';
import type { Fanout } from './fanout/fanout.ts';
import { openShapeChecks } from './fence_index/shape_checks.ts';
import { LargeShapes } from './lane/large_shapes.ts';
import type { Log } from './log.ts';
import { connectionsOf } from './operation/arrivals.ts';
import { type Operation, openOperation } from './operation/operation.ts';
import { outgoingFetch } from './outgoing_fetch.ts';
import { type Parts, wire } from './parts.ts';
import type { CollisionLane } from './shards/collision_lane.ts';
import type { Shards } from './shards/shards.ts';
import { type SiteSettings, withSite } from './site/site.ts';
import { readSiteFiles } from './site/site_files.ts';
import { createSocket } from './socket/session.ts';
import { knowByToken } from './socket/upgrade_token.ts';
import { WaitingFrames } from './socket/waiting_frames.ts';
import { keptByKind, keptSetting } from './store/entity_text.ts';
import { openStore } from './store/open.ts';
import { beginReading, type Reading, type Store } from './store/store.ts';
import { type Listening, listen } from './transport/server.ts';
import { Unsent } from './transport/unsent.ts';

export const VERSION_INFO = { hub_version: manifest.version, vendor: 'omlox location hub', api_version: '2.0.0' };

const SOCKET_PATHS = ['', '/hub', '/deephub'].flatMap((prefix) => [`${prefix}/v1/ws/socket`, `${prefix}/v2/ws/socket`]);
/** Where src/build_ui.mjs puts the web UI. */
const SITE_FOLDER = fileURLToPath(new URL('../.hub-ui', import.meta.url));
const KINDS = ['zone', 'fence', 'provider', 'trackable'] as const;

/** What a hub finds around it. */
export interface Surroundings {
  /** Makes the fetch by which other servers are reached. */
  readonly outgoing?: (tls: OutgoingTls) => Fetch;
  readonly clock?: Clock;
}

/** Entities of a hub that will need the room of what its start has left behind. */
const MANY = 10_000;
const MEMORY_WATCH_MS = 5_000;

const throughProxy = (tls: OutgoingTls): Fetch => outgoingFetch({ ...tls, env: process.env }).fetch as Fetch;

/** A running hub. */
export interface Hub {
  readonly port: number;
  /** Whether it serves HTTPS. */
  readonly isSecure: boolean;
  /** Looks whether there is a new certificate, and serves it. Never rejects. */
  renewCertificate(): Promise<void>;
  counts(): HubCounts;
  readonly fanout: Fanout;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly sources: Sources;
  readonly store: Store;
  /** Access tokens whose signature was looked at since the start. */
  tokensVerified(): number;
  /** Stops taking requests, finishes what was accepted, keeps it, and ends all threads. */
  close(): Promise<void>;
}

/**
 * Puts the hub together and starts it: the only place where its parts are wired. Throws a StartupError when the
 * database or the port cannot be had.
 */
export async function openHub(config: Config, log: Log, surroundings: Surroundings = {}): Promise<Hub> {
  const { outgoing = throughProxy, clock = openClock() } = surroundings;
  const authorization = openAuthorization(config, { log, outgoing, clock });
  const store = await openStore(storePlace(config, clock.now()), {
    stage: ({ text, part }) => log.info(text, { part }),
    notice: (text) => log.warn(text),
    restarted: () => log.error('The thread of the database has failed and was started anew'),
  });
  try {
    return await openOn({ store, clock, authorization }, config, log);
  } catch (error) {
    authorization?.close();
    await store.close();
    throw error;
  }
}

interface Opened {
  readonly store: Store;
  readonly clock: Clock;
  readonly authorization: HubAuthorization | undefined;
}

async function openOn({ store, clock, authorization }: Opened, config: Config, log: Log): Promise<Hub> {
  // Workers start meanwhile. A failure is heard of below, where there is something to close.
  const reading = beginReading(store);
  const { max_geometry_check_time: limitMs } = config;
  const shapes = new LargeShapes({ small: await openShapeChecks(), limitMs, schedule });
  const parts = wire({ clock, store, config, log, shapes });
  const { shards, collisions, ticker, fanout, entities, sources } = parts;
  try {
    await fill(parts, reading, config);
    const kept = await reading.all;
    const connections = () => connectionsOf(sources.status(), entities);
    const operation = await openOperation(parts, { config, log, kept, schedule, connections });
    const waiting = new WaitingFrames();
    const listening = await serve({ ...parts, operation, authorization, waiting }, config, log);
    operation.start();
    sources.start();
    warnOfExposure(config, log);
    const care = new CertificateCare(listening, { log, now: parts.now });
    const stopLooking = every(config.certificate_reload_interval * 1000, () => void care.look());
    clock.beat();
    const stopBeating = every(BEAT_MS, () => clock.beat());
    const memory = new MemoryWatch({ collect: garbageCollector() });
    const stopWatching = every(MEMORY_WATCH_MS, () => memory.look());
    const flushTimer = setInterval(() => parts.shards.flushInBackground(), config.db_flush_interval);
    return {
      port: listening.port,
      isSecure: listening.certificate !== undefined,
      renewCertificate: () => care.look(),
      fanout,
      shards,
      collisions,
      sources,
      store,
      counts: operation.counts,
      tokensVerified: () => authorization?.verifications() ?? 0,
      async close() {
        clearInterval(flushTimer);
        stopWatching();
        stopLooking();
        sources.close();
        authorization?.close();
        await listening.close();
        await waiting.settled();
        await finish({ ...parts, operation });
        await shapes.close();
        const lost = parts.writer.pendingRows;
        if (lost > 0) log.error('The database took no more writes: last locations are lost', { objects: lost });
        await store.close();
        stopBeating();
      },
    };
  } catch (error) {
    ticker.stop();
    await Promise.all([shapes.close(), shards.close(), collisions.close(), parts.writer.close()]);
    throw error;
  }
}

/** Brings back what the store has kept. */
async function fill(parts: Parts, reading: Reading, config: Config): Promise<void> {
  const { entities, rules, shards, collisions, writer, tell } = parts;
  const kept = await reading.entities;
  entities.load(keptByKind(kept));
  rules.load(keptSetting(kept, RULES_SETTING));
  // A trackable comes after its providers.
  tell(KINDS.flatMap((kind) => entities.list(kind).map((after) => ({ kind, id: after.id, before: undefined, after }))));
  await Promise.all([shards.settled(), collisions.settled()]);
  // What the start has left behind would stay until the engine needs the room: a hub with little to do may never.
  if (kept.length < MANY) garbageCollector()();
  // From here on time counts.
  const { persist_locations: isKept, restart_event_delay: delayMs } = config;
  const pairs: CollisionRow[] = [];
  for await (const rows of reading.rows) {
    const wanted: LastKnownRow[] = [];
    const unwanted: KeptRow[] = [];
    for (const row of rows) {
      // A pair of what is deleted is still to be told its end. Other rows of that a crash may have left, or one of a
      // provider that was never kept.
      if (isKept && row.kind === 'collision') pairs.push(row);
      else if (isKept && row.kind !== 'collision' && entities.has(row.kind, row.id)) wanted.push(row);
      else unwanted.push({ kind: row.kind, id: row.id, gone: true });
    }
    if (unwanted.length > 0) void writer.writeRows(unwanted);
    shards.restore(wanted, delayMs);
    // All of them at once would be alive in the shard together, and copied by each collection of its garbage.
    await shards.settled();
  }
  collisions.restore(pairs, delayMs);
  // A worker takes some 400 ms to start. The first location should not wait for that.
  for (const lane of [...shards.lanes.map(({ lane }) => lane), collisions.lane]) lane.wake();
  await Promise.all([shards.settled(), collisions.settled()]);
}

type Running = Parts & { readonly operation: Operation };
type Serving = Running & { readonly authorization: HubAuthorization | undefined; readonly waiting: WaitingFrames };

async function serve(parts: Serving, config: Config, log: Log): Promise<Listening> {
  const { now, counts, turns, fanout, shards, entities, zoneMoves, rules, ingest, sources, operation } = parts;
  const { authorization, waiting } = parts;
  const errorTyping = { errorTypes: config.error_types, errorTypePrefix: config.error_type_prefix };
  // Whom it does not concern is refused before there is an answer.
  const corsEnabled = config.cors || config.allowed_origins.length > 0;
  const replies = new Replies({ corsEnabled, ...errorTyping });
  const report = (error: unknown): void => log.error('A request has failed', { error: String(error) });
  const refuse = (error: HubError, path: string) => replies.error(error, path);
  const unsent = new Unsent(config.max_unsent_memory * 2 ** 20);
  const api: GuardedApiDeps = {
    entities,
    read: (query) => shards.ask(query),
    acceptLocations: (values, incoming) => ingest.locations(values, incoming),
    acceptProximities: (values, incoming) => ingest.proximities(values, incoming),
    zonesMoved: () => zoneMoves.settled(),
    acceptCisco: sources.acceptCisco,
    forgetLocation: async (id) => shards.forget(id),
    async forgetAllLocations() {
      for (const { id } of entities.list('provider')) shards.forget(id);
    },
    rules,
    publishFenceEvent: fenceEventPublisher({ fanout, entities, counts, now }),
    corsEnabled,
    ...errorTyping,
    versionInfo: VERSION_INFO,
    depthMax: config.max_json_depth,
    operation,
    turns,
    ...(authorization && { authorization: authorization.api }),
  };
  return listen({
    ...listenSettings(config),
    socketPaths: SOCKET_PATHS,
    refuse,
    report,
    handleHttp: withSite(createApi(api), {
      files: readSiteFiles(SITE_FOLDER),
      settings: siteSettings(config, authorization),
      ...(authorization && { permitted: authorization.permitted }),
      refuse,
    }),
    admitBody: admitBodies(api),
    unsent,
    turns,
    ...(authorization && { knowPeer: knowByToken(authorization.knows) }),
    tooLong: (peer, maxBytes) => log.warn('A WebSocket frame is too long', { userAgent: peer.userAgent, maxBytes }),
    handlePeer: createSocket({
      fanout,
      open: operation.open,
      waiting,
      ingestLocations: (values) => ingest.publishedLocations(values),
      ingestProximities: (values) => ingest.publishedProximities(values),
      subscriptionIdMode: config.websocket_subscription_id,
      checkView: (query, sight) => viewOf({ query, sight }, { entities }),
      site: siteOf(entities),
      depthMax: config.max_json_depth,
      turns,
      subscriptionsMax: config.websocket_max_subscriptions,
      paramsMax: config.websocket_max_params_size << 10,
      ...(authorization && { authorize: authorization.socket }),
      now,
      schedule,
      unsent,
      queueMaxBytes: config.websocket_buffer_size << 20,
      tooSlow: (peer, bytes) => log.warn('A WebSocket client does not keep up', { userAgent: peer.userAgent, bytes }),
      report,
    }),
  });
}

function siteSettings(config: Config, authorization: HubAuthorization | undefined): SiteSettings {
  const { map_tile_url: url, map_tile_attribution: attribution } = config;
  return {
    hub_version: VERSION_INFO.hub_version,
    map_tiles: url === null ? null : { url, attribution },
    sign_in: authorization?.signIn ?? null,
  };
}

/** Finishes what was accepted, in the order of its way: shards, collisions, store. */
async function finish({ ticker, entities, zoneMoves, shards, collisions, writer, operation }: Running): Promise<void> {
  ticker.stop();
  // Providers that locations have brought along are still being created.
  await entities.settled();
  await shards.kept().catch(() => undefined);
  await zoneMoves.close();
  await shards.settled().catch(() => undefined);
  await collisions.settled().catch(() => undefined);
  await operation.close();
  await writer.close();
  await Promise.all([shards.close(), collisions.close()]);
}
