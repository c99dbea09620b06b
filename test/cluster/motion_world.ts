import type { Cluster } from '../../src/cluster/cluster.ts';
import { Channel } from '../../src/cluster/channel/channel.ts';
import { ClusterFanout } from '../../src/cluster/fanout/cluster_fanout.ts';
import { ClusterMotions } from '../../src/cluster/collisions/cluster_motions.ts';
import { ProtocolErrors } from '../../src/cluster/messages/protocol_errors.ts';
import { loadConfig } from '../../src/config/load.ts';
import { storedStage } from '../../src/core/collision/progress.ts';
import { type CollisionRow, idsOf } from '../../src/core/collision/row.ts';
import { accept } from '../../src/core/location/accepted.ts';
import type { DeliveryBatch, EventSubscriber } from '../../src/fanout/batch.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import type { Database } from '../../src/hub/connect_database.ts';
import { connectStages, type Stages } from '../../src/hub/connect_stages.ts';
import { thisMachine } from '../../src/hub/machine.ts';
import { newCounts } from '../../src/operation/counts.ts';
import { rowsToStore } from '../../src/shards/row_times.ts';
import { HEARTBEAT_MS, type Clock, openClock } from '../../src/time/clock.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { diceOf } from '../support/dice.ts';
import { T0 } from '../support/shard_harness.ts';
import { meters, trackable } from '../threads/running_shards.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import type { SimulatedClock } from './simulated_clock.ts';
import { openSimulatedThreads } from './simulation/thread.ts';

const KEEP_MS = 2;
const VIEW = { crs: 'EPSG:4326' };
/** Hubs that own trackables, and share one collision stage, without the rest of a cluster. */
export class MotionWorld {
  readonly network: SimulatedCluster;
  /** Stored rows of collisions. */
  readonly rows = new Map<string, CollisionRow>();
  readonly hubs = new Map<string, MotionHub>();
  stageOwner = '';
  /** Delay before restored pairs are passed to the stage. */
  delayMs = 1000;

  constructor(clock: SimulatedClock, seed = 1) {
    this.network = new SimulatedCluster({ clock, seed });
  }

  /** Ids of the trackables of the stored pairs. */
  get pairs(): string[] {
    return storedStage([...this.rows.values()]).pairs.map(({ id }) => idsOf(id).join(' '));
  }

  get clock(): SimulatedClock {
    return this.network.clock;
  }

  /** Hubs of these names, of which the first owns the stage. Each owns some partitions. */
  async start(names: readonly string[], { shards = 1 } = {}): Promise<readonly MotionHub[]> {
    // The module is loaded once, before simulated time starts.
    await openFenceIndex();
    const hubs = names.map((name) => new MotionHub(this, name, shards));
    for (const hub of hubs) {
      this.hubs.set(hub.name, hub);
      await Promise.all([hub.fanout.ready(), hub.motions.ready()]);
    }
    for (const hub of hubs) for (const name of names) hub.fanout.joined(name);
    this.own(names[0] as string);
    await this.clock.wait(500);
    return hubs;
  }

  /** A record that all hubs apply, one after the other: some members are removed, and one owns the stage. */
  own(stageOwner: string, gone: readonly string[] = []): void {
    this.stageOwner = stageOwner;
    for (const hub of gone) this.hubs.delete(hub);
    const owners = new Set(this.hubs.keys());
    for (const [index, hub] of [...this.hubs.values()].entries()) {
      this.network.schedule(hub.name, 3 * index, () => hub.apply({ stageOwner, owners, gone }));
    }
  }

  kill(name: string): void {
    this.network.kill(name);
  }
}

export class MotionHub implements EventSubscriber {
  readonly name: string;
  readonly clock: Clock;
  readonly stages: Stages;
  readonly channel: Channel;
  readonly fanout: ClusterFanout;
  readonly motions: ClusterMotions;
  /** Collision events that its subscriber received, as `start a b`. */
  readonly published: string[] = [];
  /** The same with their ids and JSON. */
  readonly all: { readonly id: string; readonly what: string; readonly text: string }[] = [];
  readonly notices: string[] = [];
  /** Lead of its clock over others. */
  aheadMs = 0;
  readonly #world: MotionWorld;
  #hadStage = false;
  #records = 0;

  constructor(world: MotionWorld, name: string, cores: number) {
    this.#world = world;
    this.name = name;
    const { network, rows: stored } = world;
    const schedule = (delayMs: number, callback: () => void) => network.schedule(name, delayMs, callback);
    const later = (then?: () => void): Promise<void> =>
      new Promise((resolve) => {
        schedule(KEEP_MS, () => {
          then?.();
          resolve();
        });
      });
    this.clock = openClock({
      system: () => Math.floor(T0 + this.aheadMs + network.clock.nowMs),
      elapsed: network.clock.elapsed,
    });
    const { clock } = this;
    let ids = 0;
    const newId = (): string => `${name}-${++ids}`;
    const notice = (text: string): void => void this.notices.push(text);
    const config = loadConfig({
      env: { HUB_NUM_THREADS: String(cores), HUB_CALCULATE_COLLISIONS_DEFAULT: 'true' },
      cwd: '/',
      cores,
      readFile: () => undefined,
    });
    const database = {
      keep: () => undefined,
      keepPairs: async (rows: Iterable<CollisionRow>) => {
        const kept = [...rowsToStore(rows, clock)] as CollisionRow[];
        await later(() => {
          if (world.stageOwner !== name) throw new Error('The pairs are claimed by another hub');
          for (const row of kept) {
            if (row.gone === true) stored.delete(row.id);
            else stored.set(row.id, row);
          }
        });
      },
      lastRows: async () => [],
      isBehind: () => false,
      refusesRows: () => false,
    } as unknown as Database;
    const cluster = {
      durability: { step: () => later(), roundBegun: () => 0, roundOver: async () => undefined },
      config: { configured: 0 },
      migratingTrackables: () => undefined,
      isOut: false,
      fanout: undefined as ClusterFanout | undefined,
      motions: undefined as ClusterMotions | undefined,
    };
    const openThread = openSimulatedThreads({ dice: diceOf(1), newId, schedule, ran: () => undefined });
    this.stages = connectStages({
      clock,
      machine: {
        schedule,
        openThread,
        newId,
        random: () => 0.5,
        turns: new TaskScheduler(),
        openScanner: thisMachine().openScanner,
        collectGarbage: () => undefined,
      },
      config,
      log: { debug: notice, info: notice, warn: notice, error: notice },
      counts: newCounts(),
      database,
      cluster: cluster as unknown as Cluster,
      trackable: (id) => ({ id, type: 'omlox', location_providers: [`provider of ${id}`] }),
      moveZones: () => undefined,
    });
    const carrier = { bus: network.bus(name), name: 'hub', incarnation: name, schedule };
    this.channel = new Channel({ ...carrier, malformed: new ProtocolErrors('motions', notice) });
    const common = { ...carrier, channel: this.channel, notice };
    const { shards, collisions, fanout } = this.stages;
    const unexpected = (): never => {
      throw new Error('Nobody has announced anything');
    };
    this.fanout = new ClusterFanout({
      ...common,
      fanout,
      published: async () => [],
      announce: { proximity: unexpected, fenceEvent: unexpected, fenceEventAgain: unexpected },
    });
    this.motions = new ClusterMotions({
      ...common,
      stage: { clock, shards, collisions },
    });
    cluster.fanout = this.fanout;
    cluster.motions = this.motions;
    fanout.subscribe(this, { topic: 'collision_events', view: VIEW });
    this.#beat();
  }

  deliver(_id: number, { strings: texts }: DeliveryBatch): void {
    for (const text of texts) {
      const {
        id,
        collision_type: type,
        collisions,
      } = JSON.parse(text) as {
        readonly id: string;
        readonly collision_type: string;
        readonly collisions: readonly { readonly id: string }[];
      };
      const ids = collisions.map(({ id }) => id).toSorted();
      const what = [type.replace('collision_', ''), ...ids].join(' ');
      this.published.push(what);
      this.all.push({ id, what, text });
    }
  }

  /** Applies a record, as the cluster does. A hub that gets the stage gets the pairs a moment later. */
  apply(record: {
    readonly stageOwner: string;
    readonly owners: ReadonlySet<string>;
    readonly gone: readonly string[];
  }): void {
    for (const hub of record.gone) {
      this.fanout.gone(hub);
      this.motions.gone(hub);
    }
    this.fanout.owners(record.owners);
    this.motions.stageOwner(record.stageOwner);
    this.motions.owners(record.owners);
    this.channel.applied(++this.#records);
    if (record.stageOwner !== this.name || this.#hadStage) return;
    this.#hadStage = true;
    this.#world.network.schedule(this.name, 100, () => {
      const stored = storedStage([...this.#world.rows.values()]);
      const { pairs, progress } = stored;
      this.stages.outcomes.continueStage(stored);
      this.stages.collisions.restore(pairs, this.#world.delayMs, { progress, self: this.name });
    });
  }

  /** Makes it own a trackable with a radius of a meter. */
  has(id: string): void {
    this.stages.shards.entities([
      { kind: 'provider', id: `provider of ${id}`, entity: { id: `provider of ${id}`, type: 'uwb' } },
      trackable(id, [`provider of ${id}`], { radius: 1 }),
    ]);
  }

  /** A location of a trackable, that many meters to the east. */
  moves(id: string, east: number): void {
    const nowMs = this.clock.monotonic();
    const value = {
      position: { type: 'Point' as const, coordinates: meters(east, 0) },
      provider_type: 'uwb' as const,
      timestamp_generated: new Date(this.clock.now()).toISOString(),
    };
    const provider = `provider of ${id}`;
    const location = accept(value, { providerId: provider, source: provider, crs: 'EPSG:4326', generatedMs: nowMs });
    this.stages.shards.location(location, { generatedMs: nowMs, receivedMs: nowMs });
  }

  #beat(): void {
    this.clock.heartbeat();
    this.#world.network.schedule(this.name, HEARTBEAT_MS, () => this.#beat());
  }
}
