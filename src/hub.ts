import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openRegionCheck } from '../wasm/region_check.ts';
import { createApi } from './api/api.ts';
import { Replies } from './api/replies.ts';
import { viewOf } from './api/view.ts';
import type { Config } from './config/schema.ts';
import { type HubCounts, newCounts } from './counts.ts';
import { type Change, Entities } from './entities/entities.ts';
import { Fanout } from './fanout/fanout.ts';
import { announceChange, announceProximity } from './fanout/front_events.ts';
import { Ingest } from './ingest/ingest.ts';
import { Zones } from './ingest/zones.ts';
import { type Log, reportStore } from './log.ts';
import type { Fence } from './model/fence.ts';
import type { Zone } from './model/zone.ts';
import { Outcomes } from './outcomes.ts';
import { CollisionLane } from './shards/collision_lane.ts';
import { Flusher } from './shards/flusher.ts';
import { Shards } from './shards/shards.ts';
import { tellingsOf } from './shards/tellings.ts';
import { Ticker } from './shards/ticker.ts';
import { createSocket } from './socket/socket.ts';
import { entityWrites, keptEntities } from './store/entity_text.ts';
import { MemoryStore } from './store/memory.ts';
import { openStore } from './store/open.ts';
import type { Kept, Store } from './store/store.ts';
import { StoreWriter } from './store/writer.ts';
import { type Listening, listen } from './transport/server.ts';

export const VERSION_INFO = { hub_version: '0.1.0', vendor: 'omlox location hub', api_version: '2.0.0' };

const BATCH_MAX = 2048;
const STORE_RETRY_MS = [100, 500, 2000];
/** Events that may wait for the store before the hub takes no more locations. */
const HELD_MAX = 500_000;
const SOCKET_PATHS = ['', '/hub', '/deephub'].flatMap((prefix) => [`${prefix}/v1/ws/socket`, `${prefix}/v2/ws/socket`]);
const FRAME_MAX_BYTES = 16 << 20;
const KINDS = ['zone', 'fence', 'provider', 'trackable'] as const;

/** A running hub. */
export interface Hub {
  readonly port: number;
  counts(): HubCounts;
  readonly fanout: Fanout;
  readonly shards: Shards;
  /** Stops taking requests, finishes what was accepted, keeps it, and ends all threads. */
  close(): Promise<void>;
}

/**
 * Puts the hub together and starts it: the only place where its parts are wired. Throws a StartupError when the
 * database or the port cannot be had.
 */
export async function openHub(config: Config, log: Log): Promise<Hub> {
  const store = await openStore({ path: join(config.config_path, 'data.dat') });
  try {
    return await openOn(store, config, log);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openOn(store: Store, config: Config, log: Log): Promise<Hub> {
  const kept = await store.load();
  const regionProblem = await openRegionCheck();
  const parts = wire({ store, config, log, regionProblem });
  const { shards, collisions, ticker, fanout, counts, ingest } = parts;
  try {
    await fill(parts, kept, config);
    const listening = await serve(parts, config, log);
    const flushTimer = setInterval(() => parts.flusher.flush(), config.db_flush_interval);
    return {
      port: listening.port,
      fanout,
      shards,
      counts: () => ({ ...counts, ...ingest.counts, rejected: counts.rejected + ingest.counts.rejected }),
      async close() {
        clearInterval(flushTimer);
        await listening.close();
        await finish(parts);
        await store.close();
      },
    };
  } catch (error) {
    ticker.stop();
    await Promise.all([shards.close(), collisions.close(), parts.writer.close()]);
    throw error;
  }
}

/** Everything between the transport and the store. */
interface Parts {
  readonly counts: HubCounts;
  readonly writer: StoreWriter;
  readonly fanout: Fanout;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly ticker: Ticker<number | 'collisions'>;
  readonly flusher: Flusher;
  readonly entities: Entities;
  readonly ingest: Ingest;
  /** Tells shards, collisions and ingest of changed entities. */
  tell(changes: readonly Change[]): void;
}

interface Given {
  readonly store: Store;
  readonly config: Config;
  readonly log: Log;
  readonly regionProblem: (fence: Fence) => string | undefined;
}

function wire({ store, config, log, regionProblem }: Given): Parts {
  const now = risingClock();
  const counts = newCounts();
  const zones = new Zones();
  const state = (is: 'ok' | 'failing', error?: unknown): void => reportStore(log, is, error);
  const writerTo = (to: Store) => new StoreWriter(to, { retryMs: STORE_RETRY_MS, schedule, state });
  const writer = writerTo(store);
  // Rows that are not to survive the hub are still what a shard worker needs that starts anew.
  const rowStore = config.persist_locations ? store : new MemoryStore('');
  const rowWriter = config.persist_locations ? writer : writerTo(rowStore);
  const fanout = new Fanout({
    variantsChanged(variants) {
      shards.variants(variants);
      collisions.variants(variants);
    },
  });
  const ticker = new Ticker<number | 'collisions'>({
    now,
    schedule,
    due: (who) => (who === 'collisions' ? collisions.lane : shards.lanes[who]?.lane)?.wake(),
  });
  const outcomes = new Outcomes({
    shards: config.num_threads,
    counts,
    publish: (events) => fanout.publish(events),
    keep: (rows) => rowWriter.writeRows(rows, { orFail: true }),
    motions: (packed) => collisions.shardDone(packed),
    wakeAt: (who, atMs) => ticker.set(who, atMs),
  });
  const restarted = (error: unknown): void => {
    counts.workerRestarts++;
    log.error('A worker thread has failed and was started anew', { error: String(error) });
  };
  const shards = new Shards({
    ...shardSettings(config),
    now,
    async rows() {
      await rowWriter.drain();
      return rowWriter.latest((await rowStore.load()).rows);
    },
    outcome: (shard, reply) => outcomes.ofShard(shard, reply),
    lost(item, error) {
      if (item.kind === 'location') counts.rejected++;
      log.error('An item was given up: it makes its worker fail', { kind: item.kind, error: String(error) });
    },
    restarted,
  });
  const collisions = new CollisionLane({
    now,
    firstUndone: () => shards.firstUndone,
    outcome: (reply) => outcomes.ofCollisions(reply),
    restarted,
  });
  const flusher = new Flusher(shards, { now, pendingRows: () => rowWriter.pendingRows });
  const tell = (changes: readonly Change[]): void => {
    for (const { kind, id, after } of changes) {
      if (kind !== 'zone') continue;
      zones.set(id, after as Zone | undefined);
      collisions.zone(id, after as Zone | undefined);
    }
    shards.entities(tellingsOf(changes));
  };
  const entities = new Entities({
    newId: randomUUID,
    regionProblem,
    commit: (changes) => writer.writeEntities(entityWrites(changes)),
    committed(changes) {
      tell(changes);
      for (const change of changes) announceChange(fanout, change, now());
    },
  });
  // With fast writes nothing waits for the database, and a provider that it refuses is tried again with its next location.
  const slow = config.persist_locations && !config.db_fast_writes;
  const ingest = new Ingest({
    now,
    zone: zones.find,
    hasRoom: (count) => shards.hasRoom(count) && collisions.hasRoom && outcomes.held < HELD_MAX,
    location: (location, times) => shards.location(location, times),
    providerId: (id) => entities.get('provider', id)?.id ?? id,
    ensureProvider(id, type) {
      const created = entities.ensureProvider(id, type);
      return created?.catch((error: unknown) => {
        if (!slow) return;
        shards.forget(id);
        throw error;
      });
    },
    announce: (proximity) => announceProximity(fanout, proximity),
    kept: () => (slow ? shards.kept() : undefined),
  });
  return { counts, writer, fanout, shards, collisions, ticker, flusher, entities, ingest, tell };
}

function shardSettings(config: Config) {
  return {
    count: config.num_threads,
    capacity: config.lane_capacity,
    batchMax: BATCH_MAX,
    settings: {
      collisionsByDefault: config.calculate_collisions_default,
      providerInTrackableEvents: config.fence_event_provider_id === 'set',
      keepRows: true,
    },
  };
}

/** Brings back what the store has kept. */
async function fill({ entities, shards, collisions, writer, tell }: Parts, kept: Kept, config: Config): Promise<void> {
  entities.load({
    zone: keptEntities(kept.entities, 'zone'),
    fence: keptEntities(kept.entities, 'fence'),
    trackable: keptEntities(kept.entities, 'trackable'),
    provider: keptEntities(kept.entities, 'provider'),
  });
  // A trackable comes after its providers.
  tell(KINDS.flatMap((kind) => entities.list(kind).map((after) => ({ kind, id: after.id, before: undefined, after }))));
  await shards.settled();
  if (config.persist_locations) shards.restore(kept.rows, config.restart_event_delay);
  else void writer.writeRows(kept.rows.map(({ kind, id }) => ({ kind, id, gone: true })));
  // A worker takes some 400 ms to start. The first location should not wait for that.
  for (const { lane } of [...shards.lanes, collisions]) lane.wake();
  await Promise.all([shards.settled(), collisions.lane.settled()]);
}

async function serve({ fanout, shards, entities, ingest }: Parts, config: Config, log: Log): Promise<Listening> {
  const replies = new Replies({ corsEnabled: config.cors, errorTypePrefix: config.error_type_prefix });
  const report = (error: unknown): void => log.error('A request has failed', { error: String(error) });
  return listen({
    host: config.host,
    port: config.port,
    bodyMaxBytes: config.client_max_body_size * 1024,
    frameMaxBytes: FRAME_MAX_BYTES,
    idleTimeoutSeconds: config.websocket_idle_timeout,
    socketPaths: SOCKET_PATHS,
    refuse: (error) => replies.error(error),
    report,
    handleHttp: createApi({
      entities,
      read: (query) => shards.ask(query),
      acceptLocations: (values, incoming) => ingest.locations(values, incoming),
      acceptProximities: (values, incoming) => ingest.proximities(values, incoming),
      forgetLocation: async (id) => shards.forget(id),
      async forgetAllLocations() {
        for (const { id } of entities.list('provider')) shards.forget(id);
      },
      corsEnabled: config.cors,
      errorTypePrefix: config.error_type_prefix,
      versionInfo: VERSION_INFO,
    }),
    handlePeer: createSocket({
      fanout,
      ingestLocations: (values) => ingest.locationsEach(values),
      ingestProximities: (values) => ingest.proximitiesEach(values),
      subscriptionIdMode: config.websocket_subscription_id,
      checkView: (asked) => viewOf(asked, entities),
      queueMaxBytes: config.websocket_buffer_size << 20,
      tooSlow: (peer, bytes) => log.warn('A WebSocket client does not keep up', { userAgent: peer.userAgent, bytes }),
      report,
    }),
  });
}

/** Finishes what was accepted, in the order of its way: shards, collisions, store. */
async function finish({ ticker, entities, shards, collisions, writer }: Parts): Promise<void> {
  ticker.stop();
  // Providers that locations have brought along are still being created.
  await entities.settled();
  await shards.kept().catch(() => undefined);
  await collisions.lane.settled().catch(() => undefined);
  await writer.close();
  await Promise.all([shards.close(), collisions.close()]);
}

/** Now, in milliseconds since 1970; stands still where the system's clock is set back. */
function risingClock(): () => number {
  let lastMs = 0;
  return () => {
    lastMs = Math.max(lastMs, Date.now());
    return lastMs;
  };
}

function schedule(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
