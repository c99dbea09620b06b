import { randomUUID } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { configText } from '../config/text.ts';
import type { EntityWrite, StoredFacts } from '../core/entity_write.ts';
import type { Entities } from '../entities/entities.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { SendQueue } from '../fanout/send_queue.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { HubIdentity, MqttHealth } from '../model/health.ts';
import type { HistoryHealth } from '../model/history.ts';
import { parseLossless } from '../model/lossless_numbers.ts';
import { NOTHING_SENT, type SentCounts } from '../model/mqtt.ts';
import type { Consumption } from '../model/usage.ts';
import type { RpcCounts } from '../rpc/rpc.ts';
import type { CollisionLane } from '../shards/collision_lane.ts';
import type { Shards } from '../shards/shards.ts';
import { entityWrites } from '../store/entity_json.ts';
import type { StoreWriter } from '../store/writer.ts';
import type { Arrivals, SourceConnection } from './arrivals.ts';
import { runCounts, snapshotOf } from './consumption.ts';
import type { HubCounts } from './counts.ts';
import type { DatabaseState } from './database_state.ts';
import { type AllHubs, answerHubs } from './hub_queries.ts';
import {
  type ClusterState,
  Health,
  type MeasuredEventLog,
  type MeasuredLinks,
  type MeasuredSinks,
  type MeasuredSources,
} from './health.ts';
import {
  type ClusterNumbers,
  clusterFamilies,
  eventLogFamilies,
  historyFamilies,
  linkFamilies,
  type MeasuredCopy,
  type MeasuredHistory,
  type MeasuredMqtt,
  mqttFamilies,
} from './part_families.ts';
import { hubFamilies, type MeasuredAlerts } from './hub_families.ts';
import { type KeptLicense, License } from './license.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { monthOf, startOf } from './month.ts';
import { ClusterWideUsage, clusterWideHealth } from './cluster_wide.ts';
import { ProcessFamilies } from './process_families.ts';
import { CURRENT, isEndedMonth, type KeptMonth, Saving, Usage } from './usage.ts';

/** Parts of a hub that are monitored. */
export interface Operated {
  now(): number;
  readonly clock: { elapsed(): number };
  readonly counts: HubCounts;
  readonly entities: Entities;
  readonly ingest: Ingest;
  readonly arrivals: Arrivals;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly fanout: Fanout;
  readonly writer: StoreWriter;
  readonly databaseState: DatabaseState;
  /** `held` is the number of events that wait for the database. */
  readonly outcomes: { readonly held: number };
  readonly alerts?: MeasuredAlerts;
  readonly hubLinks?: MeasuredLinks;
  readonly sinks?: MeasuredSinks;
  readonly dataSources?: MeasuredSources;
  readonly eventLog?: MeasuredEventLog | undefined;
  /** Undefined without a cluster. */
  readonly cluster: OperatedCluster | undefined;
}

interface OperatedCluster {
  readonly status: ClusterState & { counts(): ClusterNumbers };
  readonly hubName: string;
  readonly gather: AllHubs;
}

export interface OperationOptions {
  readonly config: Config;
  readonly stored: StoredFacts;
  readonly identity: HubIdentity;
  readonly rpc: { readonly counts: RpcCounts };
  schedule(delayMs: number, callback: () => void): () => void;
  readonly log: { error(message: string, facts?: object): void };
  /** Connections to positioning systems that speak ISO 24730. */
  connections?(): readonly SourceConnection[];
  /** MQTT client; undefined without a broker. */
  readonly mqtt?: (MeasuredMqtt & { health(): MqttHealth }) | undefined;
  /** History; undefined if it is not recorded. */
  readonly history?: (MeasuredHistory & { health(): HistoryHealth }) | undefined;
  /** Copy of the history in a database; undefined without one. */
  readonly copy?: MeasuredCopy | undefined;
  /** Settings stored by each hub of a cluster, by hub name. */
  keptByHub?(): ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Health, usage, license and metrics of a hub. In a cluster, health and usage cover all hubs. */
export interface HubOperation {
  readonly health: Health | ReturnType<typeof clusterWideHealth>;
  readonly usage: Usage | ClusterWideUsage;
  readonly license: License;
  readonly metrics: Metrics;
  /** Send queues of the open WebSocket connections, maintained by the socket. */
  readonly open: Set<SendQueue>;
  /** Returns all counters. */
  counts(): HubCounts;
  /** Starts to save the usage periodically. */
  start(): void;
  /** Stops immediately, without saving. */
  stop(): void;
  /** Saves the usage a last time. Call it before the store is closed. */
  close(): Promise<void>;
}

/** Name of the setting, in the spelling of existing databases. */
export const LICENSE_SETTING = 'licence';

/** Assembles health, usage, license and metrics. Nothing else in the hub depends on them. */
export async function openOperation(hub: Operated, options: OperationOptions): Promise<HubOperation> {
  const { now, entities, ingest, arrivals, shards, collisions, fanout, writer, cluster } = hub;
  const { config, log, stored, identity, rpc, schedule, connections = () => [], mqtt, history, copy } = options;
  const startedMs = now();
  const { elapsed } = hub.clock;
  const startedAt = elapsed();
  const open = new Set<SendQueue>();
  const counts = (): HubCounts => totalOf(hub.counts, ingest);
  const usage = openUsage(hub, stored, () => mqtt?.counts().sent ?? NOTHING_SENT);
  const license = await License.open({
    now,
    hubId: stored.hubId,
    configuredKey: config.license_key ?? undefined,
    publicKeys: config.license_public_keys,
    stored: (keptSettings(stored).get(LICENSE_SETTING) ?? {}) as KeptLicense,
    keep: (value) => writer.writeEntities(settingWrites([{ name: LICENSE_SETTING, value }])),
  });
  const ofProcess = new ProcessFamilies({ startedMs, schedule, threads: () => threadsOf(hub) });
  const measured = {
    counts,
    rejections: () => ingest.rejections(),
    accepted: () => arrivals.accepted,
    entities,
    fanout,
    open,
  };
  const families = hubFamilies({
    ...measured,
    shards,
    collisions,
    writer,
    held: () => hub.outcomes.held,
    rpc: () => rpc.counts,
    alerts: hub.alerts,
    sinks: hub.sinks,
    sources: hub.dataSources,
  });
  const ofMqtt = mqtt === undefined ? [] : mqttFamilies(mqtt);
  const ofHistory = history === undefined ? [] : historyFamilies(history, copy);
  const ofLinks = hub.hubLinks === undefined ? [] : linkFamilies(hub.hubLinks);
  const ofEventLog = hub.eventLog === undefined ? [] : eventLogFamilies(hub.eventLog);
  const ofCluster = cluster === undefined ? [] : clusterFamilies(() => cluster.status.counts());
  const problem = (error: unknown): void => log.error('Usage cannot be stored for now', { error: String(error) });
  const saving = new Saving(usage, { schedule, problem, now, exists: (id) => entities.has('provider', id), arrivals });
  const database = () => hub.databaseState.health(writer.pendingRows);
  const health = new Health({
    identity,
    now,
    uptimeMs: () => elapsed() - startedAt,
    arrivals,
    fanout,
    open,
    configText: configText(config),
    connections,
    database,
    cluster: cluster?.status,
    mqtt,
    history,
    links: hub.hubLinks,
    sinks: hub.sinks,
    sources: hub.dataSources,
    eventLog: hub.eventLog,
  });
  return {
    ...(cluster === undefined ? { health, usage } : ofAll(cluster, { health, usage }, hub, options)),
    license,
    metrics: openMetrics([
      ...[...families, ...ofMqtt, ...ofHistory, ...ofEventLog, ...ofLinks],
      ...[...ofCluster, ...ofProcess.families],
    ]),
    open,
    counts,
    start() {
      saving.start();
    },
    stop() {
      ofProcess.stop();
      saving.stop();
    },
    async close() {
      ofProcess.stop();
      await saving.close();
    },
  };
}

/** Answers queries of other hubs, and creates health and usage of all hubs. */
function ofAll(
  { gather, hubName }: OperatedCluster,
  own: { readonly health: Health; readonly usage: Usage },
  { now, arrivals, entities }: Operated,
  { stored: { hubId }, keptByHub = () => new Map() }: OperationOptions,
): Pick<HubOperation, 'health' | 'usage'> {
  const { active } = arrivals;
  answerHubs(gather, { ...own, hub: hubName, zones: entities, active });
  const config = (activeAnywhere: ReadonlySet<string>) => snapshotOf(configuredIn(entities), activeAnywhere);
  return {
    health: clusterWideHealth(own.health, gather),
    usage: new ClusterWideUsage({ hubs: gather, hubId, stored: keptByHub, config, now }),
  };
}

function configuredIn(entities: Entities): Parameters<typeof snapshotOf>[0] {
  return {
    fences: entities.list('fence'),
    zones: entities.list('zone'),
    trackables: entities.list('trackable'),
    providers: entities.list('provider'),
  };
}

function openUsage(hub: Operated, stored: StoredFacts, sentToBroker: () => SentCounts): Usage {
  const { now, counts, entities, ingest, arrivals, fanout, writer } = hub;
  const values = keptSettings(stored);
  const month = values.get(CURRENT) as KeptMonth | undefined;
  arrivals.wereActive(providersSeenSince(stored, startOf(monthOf(month?.fromMs ?? now()))));
  return new Usage({
    now,
    elapsed: hub.clock.elapsed,
    newId: randomUUID,
    hubId: stored.hubId,
    counts: () => runCounts(totalOf(counts, ingest), ingest.proximitiesTaken, { fanout, mqtt: sentToBroker() }),
    config: () => snapshotOf(configuredIn(entities), arrivals.active),
    monthBegun: () => arrivals.beginMonth(),
    month,
    ended: new Map([...values].filter(([name]) => isEndedMonth(name)) as [string, Consumption][]),
    keep: (writes) => writer.writeEntities(settingWrites(writes)),
  });
}

function totalOf(counts: HubCounts, ingest: Ingest): HubCounts {
  return { ...counts, ...ingest.counts, rejected: counts.rejected + ingest.counts.rejected };
}

function threadsOf({ shards, collisions }: Operated) {
  const workers = shards.lanes.map((lane, index) => ({ name: `shard ${index}`, memory: () => lane.memory() }));
  return [...workers, { name: 'collisions', memory: () => collisions.memory() }];
}

/** Returns the settings of the hub by name. */
function keptSettings({ settings }: StoredFacts): ReadonlyMap<string, unknown> {
  const own = settings.filter(({ text }) => text !== undefined);
  return new Map(own.map(({ id, text }) => [id, parseLossless(text as string)]));
}

/** Returns the writes for settings of the hub. A setting without a value is deleted. */
function settingWrites(
  settings: readonly { readonly name: string; readonly value: object | undefined }[],
): EntityWrite[] {
  return entityWrites(settings.map(({ name: id, value: after }) => ({ kind: 'setting', id, after })));
}

/** Returns the providers whose last location was received at `sinceMs` or later. */
function providersSeenSince({ lastReceived }: StoredFacts, sinceMs: number): string[] {
  return lastReceived.filter(([, receivedMs]) => receivedMs >= sinceMs).map(([id]) => id);
}
