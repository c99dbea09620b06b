import { garbageCollector } from '../../workers/garbage.ts';
import { MemoryWatch } from '../../workers/memory_watch.ts';
import type { Sources } from '../adapters/sources.ts';
import type { Fetch } from '../auth/fetch_json.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { storePlace } from '../config/settings.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { openShapeChecks } from '../fence_index/shape_checks.ts';
import type { History } from '../history/history.ts';
import { LargeShapes } from '../lane/large_shapes.ts';
import type { Mqtt } from '../mqtt/mqtt.ts';
import { connectionsOf } from '../operation/arrivals.ts';
import type { HubCounts } from '../operation/counts.ts';
import { type Operation, openOperation } from '../operation/operation.ts';
import type { CollisionLane } from '../shards/collision_lane.ts';
import type { Shards } from '../shards/shards.ts';
import { WaitingFrames } from '../socket/waiting_frames.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { beginReading } from '../store/store.ts';
import { BEAT_MS, type Clock, every, openClock, schedule } from '../time/clock.ts';
import type { HubAuthorization, OutgoingTls } from './authorization.ts';
import { clusterStore, connectCluster, settingsByHub } from './connect_cluster.ts';
import { connectHistory } from './connect_history.ts';
import { connectMqtt } from './connect_mqtt.ts';
import { openRpc } from './connect_rpc.ts';
import { CertificateCare, warnOfClusterExposure, warnOfExposure, warnOfMqttPassword } from './exposure.ts';
import { fill } from './fill.ts';
import { fillFromCluster } from './fill_from_cluster.ts';
import type { Log } from './log.ts';
import { type Machine, thisMachine } from './machine.ts';
import { connectParts, type Parts } from './parts.ts';
import { serve } from './serve.ts';
import { hubIdentity } from './version_info.ts';

/** What a hub is handed beside its configuration; what is left out is that of the machine. */
export interface HubDeps {
  /** Makes the fetch by which other servers are reached. */
  readonly outgoing?: (tls: OutgoingTls) => Fetch;
  readonly clock?: Clock;
  readonly machine?: Machine;
}

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
  /** Undefined where nothing is recorded. */
  readonly history: History | undefined;
  /** Access tokens whose signature was looked at since the start. */
  tokensVerified(): number;
  /** Resolves when the hub is out of its cluster: what it holds is worth nothing any more. Never, where it is alone. */
  readonly isOut: Promise<Error>;
  /** Stops taking requests, finishes what was accepted, keeps it, and ends all threads. */
  close(): Promise<void>;
}

const MEMORY_WATCH_MS = 5_000;
/** What WebSocket clients of a hub that is out of its cluster are told: other hubs serve them, and so will this one. */
const OUT = { code: 1013, reason: 'This hub is out of its cluster: connect again' };

/**
 * Puts the hub together and starts it: opens the store, connects the parts (parts.ts), fills them with what is kept
 * (fill.ts), serves (serve.ts), and runs the work in the background until it is closed. Throws a StartupError when the
 * database or the port cannot be had.
 */
export async function openHub(config: Config, log: Log, deps: HubDeps = {}): Promise<Hub> {
  const { outgoing, clock = openClock(), machine = thisMachine() } = deps;
  const authorization = config.require_authorization ? await authorized(config, { log, outgoing, clock }) : undefined;
  const cluster = await connectCluster({ config, log, clock });
  const store = cluster === undefined ? await openOwnStore(config, log, clock) : clusterStore(cluster);
  try {
    return await openOn({ store, cluster, clock, machine, authorization }, config, log);
  } catch (error) {
    authorization?.close();
    await Promise.all([store.close(), cluster?.close()]);
    throw error;
  }
}

interface AuthorizedDeps {
  readonly outgoing: HubDeps['outgoing'];
  readonly log: Log;
  readonly clock: Clock;
}

/** What keeps others out. A hub that lets everybody in loads nothing of it, nor of what reaches other servers. */
async function authorized(
  config: Config,
  { log, outgoing, clock }: AuthorizedDeps,
): Promise<HubAuthorization | undefined> {
  const { openAuthorization } = await import('./authorization.ts');
  const { outgoingFetch } = await import('./outgoing_fetch.ts');
  const throughProxy = (tls: OutgoingTls): Fetch => outgoingFetch({ ...tls, env: process.env }).fetch as Fetch;
  return openAuthorization(config, { log, outgoing: outgoing ?? throughProxy, clock });
}

function openOwnStore(config: Config, log: Log, clock: Clock): Promise<Store> {
  return openStore(storePlace(config, clock.now()), {
    stage: ({ text, part }) => log.info(text, { part }),
    notice: (text) => log.warn(text),
    restarted: () => log.error('The thread of the database has failed and was started anew'),
  });
}

interface Opened {
  readonly store: Store;
  readonly cluster: Cluster | undefined;
  readonly clock: Clock;
  readonly machine: Machine;
  readonly authorization: HubAuthorization | undefined;
}

async function openOn(
  { store, cluster, clock, machine, authorization }: Opened,
  config: Config,
  log: Log,
): Promise<Hub> {
  // Workers start meanwhile. A failure is heard of below, where there is something to close.
  const reading = beginReading(store);
  const { max_geometry_check_time: limitMs } = config;
  const shapes = new LargeShapes({ small: await openShapeChecks(), limitMs, schedule });
  const parts = connectParts({ clock, machine, store, cluster, config, log, shapes });
  const isOut = Promise.withResolvers<Error>();
  let mqtt: Mqtt | undefined;
  const { shards, collisions, ticker, fanout, entities, sources, writer } = parts;
  try {
    if (cluster === undefined) await fill(parts, reading, config);
    else {
      const elect = (): void => mqtt?.elect();
      await fillFromCluster(parts, cluster, { config, out: isOut.resolve, elect });
    }
    const kept = await reading.all;
    const connections = () => connectionsOf(sources.status(), entities);
    const { hubId } = kept;
    const identity = hubIdentity(hubId, { hub_name: config.hub_name, inCluster: cluster?.hubName });
    const rpc = openRpc(identity, { clock, cluster });
    cluster?.carry(rpc);
    mqtt = await connectMqtt({ ...parts, rpc, kept }, config, log);
    const recording = await connectHistory({ ...parts, hubId }, config, log);
    const history = recording?.history;
    const keptByHub = cluster && { keptByHub: () => settingsByHub(cluster) };
    const options = {
      config,
      log,
      kept,
      identity,
      rpc,
      mqtt,
      history,
      copy: recording?.postgres,
      schedule,
      connections,
      ...keptByHub,
    };
    const operation = await openOperation(parts, options);
    const waiting = new WaitingFrames();
    const { listening, demo } = await serve(
      { ...parts, identity, operation, rpc, mqtt, recording, authorization, waiting },
      config,
      log,
    );
    await cluster?.join();
    operation.start();
    sources.start();
    parts.alerts.start();
    mqtt?.start();
    warnOfExposure(config, log);
    warnOfClusterExposure(config, log);
    warnOfMqttPassword(config, log);
    const care = new CertificateCare(listening, { log, now: parts.now });
    const background = startBackground(parts, care, { config, log });
    const close = async (): Promise<void> => {
      background.stop();
      sources.close();
      mqtt?.stopTaking();
      authorization?.close();
      cluster?.ending();
      rpc.close();
      await Promise.all([parts.imports.close(), demo.close()]);
      await listening.close(cluster?.isOut ? OUT : undefined);
      await waiting.settled();
      await parts.alerts.close().catch(() => undefined);
      cluster?.retire();
      await (cluster?.isOut ? abandon(parts, operation) : finish(parts, operation));
      await mqtt?.close();
      await Promise.all([recording?.pool.close(), recording?.postgres?.close()]);
      await history?.close();
      await shapes.close();
      const lost = writer.pendingRows;
      if (lost > 0) log.error('The database took no more writes: last locations are lost', { objects: lost });
      await store.close();
      await cluster?.leave();
      await cluster?.close();
      background.stopBeating();
    };
    let closed: Promise<void> | undefined;
    return {
      port: listening.port,
      isSecure: listening.certificate !== undefined,
      isOut: isOut.promise,
      renewCertificate: () => care.look(),
      fanout,
      shards,
      collisions,
      sources,
      store,
      history,
      counts: operation.counts,
      tokensVerified: () => authorization?.verifications() ?? 0,
      close() {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    ticker.stop();
    await Promise.all([shapes.close(), shards.close(), collisions.close(), writer.close()]);
    throw error;
  }
}

interface Background {
  /** Stops all but the beat of the clock, by which what is under way still has its times. */
  stop(): void;
  stopBeating(): void;
}

interface Settings {
  readonly config: Config;
  readonly log: Log;
}

/** What the hub does from time to time, whatever it is sent. */
function startBackground(parts: Parts, care: CertificateCare, { config, log }: Settings): Background {
  const { clock, cluster, shards } = parts;
  const stopLooking = every(config.certificate_reload_interval * 1000, () => void care.look());
  clock.beat();
  const stopBeating = every(BEAT_MS, beating(clock, log));
  const memory = new MemoryWatch({ collect: garbageCollector() });
  const stopWatching = every(MEMORY_WATCH_MS, () => memory.look());
  const roundMs = cluster === undefined ? config.db_flush_interval : config.cluster_checkpoint_interval;
  const flushTimer = setInterval(() => shards.flushInBackground(), roundMs);
  const stop = (): void => {
    clearInterval(flushTimer);
    stopWatching();
    stopLooking();
  };
  return { stop, stopBeating };
}

/** Says that the hub runs, and what has become of its time since that was last said. */
function beating(clock: Clock, log: Log): () => void {
  let known = clock.setBacks;
  return () => {
    clock.beat();
    const last = clock.setBacks.at(-1);
    if (clock.setBacks === known || last === undefined) return;
    known = clock.setBacks;
    const isStep = last.byMs > 0;
    const atMs = isStep ? last.toMs : clock.timeOfDay(last.toMs);
    const facts = { at: new Date(atMs).toISOString(), ms: Math.abs(last.byMs) };
    if (isStep) log.warn("The system's clock was set back", facts);
    else log.info('The hub stood still; its timeouts fire later by as much', facts);
  };
}

/** Ends what is worth nothing any more. Whoever still waits for it is refused. */
async function abandon({ ticker, shards, collisions, writer }: Parts, operation: Operation): Promise<void> {
  ticker.stop();
  operation.stop();
  await writer.close();
  await Promise.all([shards.close(), collisions.close()]);
}

/** Finishes what was accepted, in the order of its way: shards, collisions, store. */
async function finish(parts: Parts, operation: Operation): Promise<void> {
  const { ticker, entities, zoneMoves, shards, collisions, writer } = parts;
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
