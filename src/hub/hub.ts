import { garbageCollector } from '../../workers/garbage.ts';
import { MemoryWatch } from '../../workers/memory_watch.ts';
import type { AdapterSources } from '../adapters/sources.ts';
import type { Fetch } from '../auth/fetch_json.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { storeTarget } from '../config/settings.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { openShapeChecks } from '../fence_index/shape_checks.ts';
import type { History } from '../history/history.ts';
import { LargeShapes } from '../lane/large_shapes.ts';
import type { Mqtt } from '../mqtt/mqtt.ts';
import type { Opcua } from '../opcua/opcua.ts';
import { connectionsOf } from '../operation/arrivals.ts';
import type { HubCounts } from '../operation/counts.ts';
import { type HubOperation, openOperation } from '../operation/operation.ts';
import type { CollisionLane } from '../shards/collision_lane.ts';
import type { Shards } from '../shards/shards.ts';
import { WaitingFrames } from '../socket/waiting_frames.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { beginReading } from '../store/store.ts';
import { HEARTBEAT_MS, type Clock, every, openClock, schedule } from '../time/clock.ts';
import type { HubAuthorization, OutgoingTls } from './authorization.ts';
import { clusterStore, connectCluster, settingsByHub } from './connect_cluster.ts';
import { auditOf } from './connect_audit.ts';
import { eventsOf, openLog, trimLog } from './connect_events.ts';
import { warnOfNoKeys } from './connect_keys.ts';
import { connectHistory } from './connect_history.ts';
import { connectMqtt } from './connect_mqtt.ts';
import { connectOpcua } from './connect_opcua.ts';
import { openRpc } from './connect_rpc.ts';
import { connectTelemetry, type Env } from './connect_telemetry.ts';
import { CertificateCare, warnOfClusterExposure, warnOfExposure, warnOfMqttPassword } from './exposure.ts';
import { loadSettings, loadState } from './load_state.ts';
import { loadClusterState } from './load_cluster_state.ts';
import type { Log } from './log.ts';
import { type Machine, thisMachine } from './machine.ts';
import { connectParts, type HubLogs, type Parts } from './parts.ts';
import { serve } from './serve.ts';
import { hubIdentity } from './version_info.ts';

/** Dependencies of a hub besides its configuration; by default those of the machine. */
export interface HubDeps {
  /** Creates the fetch function for other servers. */
  readonly outgoing?: (tls: OutgoingTls) => Fetch;
  readonly clock?: Clock;
  readonly machine?: Machine;
  /** Environment with the variables of OpenTelemetry; that of the process by default. */
  readonly env?: Env;
}

/** A running hub. */
export interface Hub {
  readonly port: number;
  /** Whether the hub serves HTTPS. */
  readonly isSecure: boolean;
  /** Serves a new certificate if there is one. Never rejects. */
  renewCertificate(): Promise<void>;
  counts(): HubCounts;
  readonly fanout: Fanout;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly sources: AdapterSources;
  readonly store: Store;
  /** Undefined if history is off. */
  readonly history: History | undefined;
  /** Returns the number of access tokens whose signature was verified since start. */
  tokensVerified(): number;
  /** Resolves when the hub is out of its cluster, so that its state is obsolete. Never resolves for a single hub. */
  readonly isOut: Promise<Error>;
  /** Stops accepting requests, finishes and stores accepted ones, and terminates all threads. */
  close(): Promise<void>;
}

const MEMORY_WATCH_MS = 5_000;
/**
 * Close frame for WebSocket clients of a hub that is out of its cluster. They can reconnect to another hub, or later to
 * this one.
 */
const OUT = { code: 1013, reason: 'This hub is out of its cluster: connect again' };

/**
 * Assembles and starts the hub: opens the store, connects the parts (parts.ts), loads the stored state (load_state.ts),
 * serves (serve.ts), and runs background work until it is closed. Throws a StartupError if the database or the port is
 * not available.
 */
export async function openHub(config: Config, log: Log, deps: HubDeps = {}): Promise<Hub> {
  const { outgoing, clock = openClock(), machine = thisMachine(), env = process.env } = deps;
  const authorization = config.require_authorization ? await authorized(config, { log, outgoing, clock }) : undefined;
  const cluster = await connectCluster({ config, log, clock });
  const store = cluster === undefined ? await openOwnStore(config, log, clock) : clusterStore(cluster);
  try {
    return await openOn({ store, cluster, clock, machine, authorization, env }, config, log);
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

/** Loads authorization. A hub without it loads neither its code nor that of outgoing requests. */
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
  return openStore(storeTarget(config, clock.now()), {
    stage: ({ text, part }) => log.info(text, { part }),
    notice: (text) => log.warn(text),
    restarted: () => log.error('The database thread failed and was restarted'),
  });
}

interface Opened {
  readonly store: Store;
  readonly cluster: Cluster | undefined;
  readonly clock: Clock;
  readonly machine: Machine;
  readonly authorization: HubAuthorization | undefined;
  readonly env: Env;
}

async function openOn(
  { store, cluster, clock, machine, authorization, env }: Opened,
  config: Config,
  log: Log,
): Promise<Hub> {
  // Reads while workers start. A failure is handled below, where parts can be closed.
  const reading = cluster === undefined ? beginReading(store) : undefined;
  const { max_geometry_check_time: limitMs } = config;
  const shapes = new LargeShapes({ small: await openShapeChecks(), limitMs, schedule });
  const logs = (): Promise<HubLogs> => openLogs({ store, cluster, clock }, config);
  const parts = await connectParts({ clock, machine, store, logs, cluster, config, log, shapes, authorization });
  const isOut = Promise.withResolvers<Error>();
  let mqtt: Mqtt | undefined;
  let opcua: Opcua | undefined;
  const { shards, collisions, ticker, fanout, entities, sources, writer, eventLog, auditLog } = parts;
  try {
    const elect = (): void => {
      mqtt?.elect();
      parts.hubLinks.refresh();
      parts.sinks.elect();
      parts.dataSources.elect();
    };
    if (cluster !== undefined) await loadClusterState(parts, cluster, { config, out: isOut.resolve, elect });
    const stored = await (reading === undefined
      ? loadSettings(beginReading(store))
      : loadState(parts, reading, config));
    const connections = () => connectionsOf(sources.status(), entities);
    const { hubId } = stored;
    const identity = hubIdentity(hubId, { hub_name: config.hub_name, inCluster: cluster?.hubName });
    const rpc = openRpc(identity, { clock, cluster });
    cluster?.carry(rpc);
    mqtt = await connectMqtt({ ...parts, rpc, stored }, config, log);
    const recording = await connectHistory({ ...parts, hubId }, config, log);
    const history = recording?.history;
    const keptByHub = cluster && { keptByHub: () => settingsByHub(cluster) };
    const options = {
      config,
      log,
      stored,
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
    const { now } = parts;
    const telemetry = await connectTelemetry(env, { metrics: operation.metrics, identity, now, log });
    opcua = await connectOpcua({ ...parts, hubId, authorization }, config, log);
    await opcua?.start();
    const waiting = new WaitingFrames();
    const { listening, demo } = await serve(
      { ...parts, identity, operation, rpc, mqtt, recording, authorization, waiting, telemetry },
      config,
      log,
    );
    await cluster?.join();
    opcua?.follow();
    operation.start();
    sources.start();
    parts.alerts.start();
    parts.collisionForecasts?.start();
    parts.sinks.start({ hubId, events: parts.eventLog, startSpan: telemetry?.startSpan });
    mqtt?.start();
    parts.hubLinks.start(hubId);
    parts.dataSources.start();
    warnOfExposure(config, log);
    warnOfClusterExposure(config, log);
    warnOfMqttPassword(config, log);
    warnOfNoKeys(parts, authorization, log);
    const care = new CertificateCare(listening, { log, now: parts.now });
    const background = startBackground(parts, care, { config, log });
    const stopTrimming = [
      trimLog(eventLog, { ...eventsOf(store, config), clock, log }),
      trimLog(auditLog, { ...auditOf(store, config), clock, log }),
    ];
    const close = async (): Promise<void> => {
      background.stop();
      for (const stop of stopTrimming) stop();
      sources.close();
      parts.dataSources.close();
      parts.collisionForecasts?.close();
      mqtt?.stopTaking();
      authorization?.close();
      cluster?.ending();
      rpc.close();
      await opcua?.close();
      await Promise.all([parts.imports.close(), demo.close(), parts.hubLinks.close()]);
      eventLog?.close();
      await listening.close(cluster?.isOut ? OUT : undefined);
      await waiting.settled();
      await telemetry?.close();
      await parts.alerts.close().catch(() => undefined);
      await parts.sinks.close();
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
    await opcua?.close();
    await Promise.all([shapes.close(), shards.close(), collisions.close(), writer.close()]);
    throw error;
  }
}

/** Opens the cluster, if there is one, and the logs. */
async function openLogs(
  { store, cluster, clock }: Pick<Opened, 'store' | 'cluster' | 'clock'>,
  config: Config,
): Promise<HubLogs> {
  await cluster?.open();
  const [eventLog, auditLog] = await Promise.all(
    cluster === undefined
      ? [openLog({ ...eventsOf(store, config), clock }), openLog({ ...auditOf(store, config), clock })]
      : [cluster.events?.open(cluster.config.id), cluster.audit?.open(`audit ${cluster.config.id}`)],
  );
  return { eventLog, auditLog };
}

interface Background {
  /** Stops all tasks except the clock heartbeat, which in-flight work still needs. */
  stop(): void;
  stopBeating(): void;
}

interface Settings {
  readonly config: Config;
  readonly log: Log;
}

/** Starts the periodic tasks of the hub. */
function startBackground(parts: Parts, care: CertificateCare, { config, log }: Settings): Background {
  const { clock, cluster, shards } = parts;
  const stopLooking = every(config.certificate_reload_interval * 1000, () => void care.look());
  clock.heartbeat();
  const stopBeating = every(HEARTBEAT_MS, beating(clock, log));
  const memory = new MemoryWatch({ collect: garbageCollector() });
  const stopWatching = every(MEMORY_WATCH_MS, () => memory.look());
  const roundMs = cluster === undefined ? config.db_flush_interval : config.cluster_checkpoint_interval;
  const stopFlushing = flushPeriodically(shards, roundMs);
  const stop = (): void => {
    stopFlushing();
    stopWatching();
    stopLooking();
  };
  return { stop, stopBeating };
}

/** Flushes the shards at every interval, as long as they have work. Returns a function that stops this. */
function flushPeriodically(shards: Shards, intervalMs: number): () => void {
  let cancel = (): void => undefined;
  let isStopped = false;
  const flushLater = (): void => {
    if (!isStopped) cancel = schedule(intervalMs, flush);
  };
  const flush = (): void => {
    if (shards.flushInBackground()) flushLater();
    else void shards.nextStep().then(flushLater);
  };
  flush();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Returns the heartbeat, which also logs clock steps and suspensions since the last call. */
function beating(clock: Clock, log: Log): () => void {
  let known = clock.clockSteps;
  return () => {
    clock.heartbeat();
    const last = clock.clockSteps.at(-1);
    if (clock.clockSteps === known || last === undefined) return;
    known = clock.clockSteps;
    const isStep = last.byMs > 0;
    const atMs = isStep ? last.toMs : clock.wallClockTime(last.toMs);
    const facts = { at: new Date(atMs).toISOString(), ms: Math.abs(last.byMs) };
    if (isStep) log.warn("The system's clock was set back", facts);
    else log.info('The hub stood still; its timeouts fire later by as much', facts);
  };
}

/** Discards obsolete state and rejects pending calls. */
async function abandon({ ticker, shards, collisions, writer }: Parts, operation: HubOperation): Promise<void> {
  ticker.stop();
  operation.stop();
  await writer.close();
  await Promise.all([shards.close(), collisions.close()]);
}

/** Finishes accepted work in the order of its path: shards, collisions, store. */
async function finish(parts: Parts, operation: HubOperation): Promise<void> {
  const { ticker, entities, zoneMoves, shards, collisions, writer } = parts;
  ticker.stop();
  // Providers created by locations may still be pending.
  await entities.settled();
  await shards.committed().catch(() => undefined);
  await zoneMoves.close();
  await shards.settled().catch(() => undefined);
  await collisions.settled().catch(() => undefined);
  await collisions.stop().catch(() => undefined);
  await operation.close();
  await writer.close();
  await Promise.all([shards.close(), collisions.close()]);
}
