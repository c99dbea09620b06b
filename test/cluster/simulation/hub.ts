import { errorWith } from '../../support/errors.ts';
import { Cluster } from '../../../src/cluster/cluster.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { clusterSettings } from '../../../src/config/settings.ts';
import type { QueryResult, Query } from '../../../src/core/item.ts';
import type { ShapeChecks } from '../../../src/core/shape_checks.ts';
import type { HubError } from '../../../src/errors.ts';
import { clusterStore } from '../../../src/hub/connect_cluster.ts';
import { loadClusterState } from '../../../src/hub/load_cluster_state.ts';
import type { Machine } from '../../../src/hub/machine.ts';
import { connectParts, type Parts } from '../../../src/hub/parts.ts';
import { UNUSUAL } from '../../../src/ingest/ingest.ts';
import { lend } from '../../../src/model/borrowed.ts';
import { HEARTBEAT_MS, type Clock, openClock } from '../../../src/time/clock.ts';
import { TaskScheduler } from '../../../src/time/task_scheduler.ts';
import { LocationScanner, type ScannerBounds } from '../../../wasm/location_scanner.ts';
import type { Dice } from '../../support/dice.ts';
import { T0 } from '../../support/shard_harness.ts';
import type { SimulatedCluster } from '../simulated_bus.ts';
import { openSimulatedThreads, type Ran } from './thread.ts';

/** Environment of a hub. */
export interface HubPlace {
  readonly network: SimulatedCluster;
  readonly dice: Dice;
  readonly shapes: ShapeChecks;
  /** Stays the same over restarts. */
  readonly hubName: string;
  /** Identifies this run of the hub on the network. */
  readonly incarnation: string;
  readonly shards: number;
  /** How many hubs may own objects; all of them when left out. */
  readonly ownersMax?: number;
  /** Number of partitions if it creates the cluster. */
  readonly partitions?: number;
  /** How far its clock is ahead of others, in milliseconds. */
  aheadMs: number;
  /** Called after each step of its shards. */
  ran(shard: number, ran: Ran): void;
  /** Reports behavior that is never allowed. */
  wrong(what: string): void;
}

const CHECKPOINT_MS = 1500;
const RESTART_EVENT_DELAY_MS = 1000;
const SETTINGS = {
  HUB_CLUSTER_SERVERS: 'nats://127.0.0.1:4222',
  HUB_CLUSTER_CHECKPOINT_INTERVAL: String(CHECKPOINT_MS),
  HUB_RESTART_EVENT_DELAY: String(RESTART_EVENT_DELAY_MS),
};
/** Errors that a hub may log because NATS cannot be reached or a worker was killed. */
const EXPECTED = ['NATS cannot be reached', 'The database', 'A worker thread failed'];
const configs = new Map<number, Config>();

/** Scanners of this process, which are reused: allocating their memory for each hub would dominate the time of a start. */
class Scanners {
  readonly #free: LocationScanner[] = [];
  readonly #lent: LocationScanner[] = [];

  readonly open = (bounds: ScannerBounds): LocationScanner => {
    const scanner = this.#free.pop() ?? new LocationScanner(bounds);
    scanner.forgetNames();
    this.#lent.push(scanner);
    return scanner;
  };

  /** Reclaims all lent scanners. */
  free(): void {
    this.#free.push(...this.#lent.splice(0));
  }
}

const scanners = new Scanners();

/** To be called when no hub in this process runs any more. */
export function reuseScanners(): void {
  scanners.free();
}

/**
 * A complete hub without its transport: the parts that main.ts starts, on a simulated bus, with workers that run in the
 * same thread. All of it pauses while the hub is stopped, and nothing runs after it has ended.
 */
export class SimulatedHub {
  readonly place: HubPlace;
  readonly parts: Parts;
  /** Resolves with the reason why it has left the cluster. */
  readonly isOut: Promise<Error>;
  /** Resolves when it is killed, or has ended itself. */
  readonly over: Promise<void>;
  isOver = false;
  /** Whether it takes requests. */
  isServing = false;
  readonly notices: string[];
  readonly #cluster: Cluster;
  /** Requests that are not answered yet. */
  readonly #open = new Set<Promise<unknown>>();
  readonly #end: () => void;

  private constructor(
    place: HubPlace,
    { cluster, parts, isOut, notices }: Pick<SimulatedHub, 'parts' | 'isOut' | 'notices'> & { cluster: Cluster },
  ) {
    this.place = place;
    this.parts = parts;
    this.isOut = isOut;
    this.notices = notices;
    this.#cluster = cluster;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
  }

  /** Starts one, as openHub does. Rejects with a StartupError where the cluster cannot be reached. */
  static async open(place: HubPlace): Promise<SimulatedHub> {
    const { network, incarnation, dice, ran, shards } = place;
    const bus = network.bus(incarnation);
    const schedule = (delayMs: number, callback: () => void) => network.schedule(incarnation, delayMs, callback);
    const clock = openClock({
      system: () => Math.floor(T0 + place.aheadMs + network.clock.nowMs),
      elapsed: network.clock.elapsed,
    });
    const config = configOf(shards);
    const notices: string[] = [];
    const notice = (text: string): void => void notices.push(`${Math.round(network.clock.nowMs)} ${text}`);
    const turns = new SimulatedTurns(schedule);
    const { bus: _bus, ...settings } = clusterSettings(config, place.hubName) ?? unset();
    const cluster = new Cluster({
      ...settings,
      ...{ bus, incarnation, turns, notice, schedule, now: clock.now, elapsed: clock.elapsed },
      digest: settings.alike.join(),
      capacity: config.lane_capacity,
      partitions: place.partitions ?? settings.partitions,
      ...(place.ownersMax !== undefined && { ownersMax: place.ownersMax }),
    });
    await opened(cluster);
    let ids = 0;
    const newId = (): string =>
      `00000000-0000-4000-8000-${incarnation.padStart(4, '0')}${String(++ids).padStart(8, '0')}`;
    const openThread = openSimulatedThreads({ dice, newId, schedule, ran });
    const collectGarbage = (): void => undefined;
    const machine: Machine = {
      schedule,
      openThread,
      newId,
      random: () => 0.5,
      turns,
      openScanner: scanners.open,
      collectGarbage,
    };
    const error = (message: string, facts?: object): void => {
      notice(`${message}: ${JSON.stringify(facts)}`);
      if (!EXPECTED.some((expected) => message.startsWith(expected)))
        place.wrong(`${incarnation}: ${message}: ${JSON.stringify(facts)}`);
    };
    const log = { debug: notice, info: notice, warn: notice, error };
    const { shapes } = place;
    const store = clusterStore(cluster);
    const logs = async () => ({ eventLog: await cluster.events?.open(cluster.config.id), auditLog: undefined });
    const parts = await connectParts({ clock, store, logs, cluster, config, log, shapes, machine });
    const { promise: isOut, resolve: out } = Promise.withResolvers<Error>();
    const hub = new SimulatedHub(place, { cluster, parts, isOut, notices });
    hub.#beat(clock);
    await loadClusterState(parts, cluster, { config, out, elect: () => undefined });
    await cluster.join();
    hub.#flush();
    hub.isServing = true;
    return hub;
  }

  get cluster(): Cluster {
    return this.#cluster;
  }

  get incarnation(): string {
    return this.place.incarnation;
  }

  /** Ends it at once, as kill -9 does. */
  kill(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isServing = false;
    this.place.network.kill(this.incarnation);
    this.#end();
  }

  /** Ends it as SIGTERM does: it answers open requests, finishes their work, and then hands over to other hubs. */
  async close(): Promise<void> {
    this.isServing = false;
    this.#cluster.ending();
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
    this.#cluster.retire();
    const { ticker, entities, shards, zoneMoves, collisions } = this.parts;
    ticker.stop();
    await entities.settled();
    await shards.committed().catch(() => undefined);
    await zoneMoves.close();
    await shards.settled().catch(() => undefined);
    await collisions.settled().catch(() => undefined);
    await collisions.stop().catch(() => undefined);
    await Promise.all([shards.close(), collisions.close()]);
    await this.#cluster.leave();
    await this.#cluster.close();
    this.kill();
  }

  /** Ends the worker of a shard, as a crash of its thread would. */
  async killWorker(): Promise<void> {
    await this.parts.shards.lanes[0]?.kill();
  }

  /** Resolves within the hub, when it runs. Rejects when it ends before. */
  turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.place.network.schedule(this.incarnation, 0, resolve);
    void this.over.then(() => reject(gone()));
    return promise;
  }

  /** Result of a promise of the hub. Rejects if the hub ends first, because its client has lost the connection. */
  async answered<Value>(promise: Promise<Value> | Value): Promise<Value> {
    const lost = this.over.then(() => Promise.reject(gone()));
    lost.catch(() => undefined);
    const answer = Promise.race([promise, lost]);
    this.#open.add(answer);
    const done = () => this.#open.delete(answer);
    answer.then(done, done);
    return answer;
  }

  /** Processes a body of locations like a PUT. Resolves if the answer is 204, and rejects otherwise. */
  async put(values: readonly object[]): Promise<void> {
    const { ingest } = this.parts;
    const scanned = ingest.body(lend(Buffer.from(JSON.stringify(values))), {});
    await (scanned === UNUSUAL ? ingest.locations(values, { root: '' }) : scanned);
  }

  /** Takes locations one by one, as values. */
  async putValues(values: readonly object[]): Promise<void> {
    await this.parts.ingest.locations(values, { root: '' });
  }

  /** Asks the owner, as the API does. */
  ask(query: Query): Promise<readonly QueryResult[]> {
    const { cluster, shards } = this.parts;
    return (cluster?.isLocal === false ? cluster.remote : shards).ask(query);
  }

  #beat(clock: Clock): void {
    clock.heartbeat();
    this.place.network.schedule(this.incarnation, HEARTBEAT_MS, () => this.#beat(clock));
  }

  #flush(): void {
    this.place.network.schedule(this.incarnation, CHECKPOINT_MS, () => {
      this.parts.shards.flushInBackground();
      this.#flush();
    });
  }
}

/** Never yields because of the clock of the machine. */
class SimulatedTurns extends TaskScheduler {
  readonly #schedule: (delayMs: number, callback: () => void) => void;

  constructor(schedule: (delayMs: number, callback: () => void) => void) {
    super();
    this.#schedule = schedule;
  }

  override isLong(): boolean {
    return false;
  }

  override next(): Promise<void> {
    return new Promise((resolve) => this.#schedule(0, resolve));
  }
}

function configOf(shards: number): Config {
  const known = configs.get(shards);
  if (known !== undefined) return known;
  const env = { ...SETTINGS, HUB_NUM_THREADS: String(shards) };
  const config = loadConfig({ env, cwd: '/', cores: shards, readFile: () => undefined });
  configs.set(shards, config);
  return config;
}

function unset(): never {
  throw new Error('There is no cluster in the settings');
}

function gone(): HubError {
  return errorWith('HUB_UNAVAILABLE', 'The hub has ended');
}

async function opened(cluster: Cluster): Promise<void> {
  try {
    await cluster.open();
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
