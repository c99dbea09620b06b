import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { renderingBoundsOf, shardSettings } from '../config/settings.ts';
import type { ZoneMove } from '../core/zone/following.ts';
import { Fanout } from '../fanout/fanout.ts';
import type { EventBatch } from '../model/event_batch.ts';
import { type ClusterLogging, type ShardEvents, logClusterEvents, logShardEvents } from './connect_events.ts';
import type { Variant } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { HubCounts } from '../operation/counts.ts';
import { CollisionLane } from '../shards/collision_lane.ts';
import { RecentChanges } from '../shards/recent_changes.ts';
import { Shards, type ShardsOptions } from '../shards/shards.ts';
import { Ticker } from '../shards/ticker.ts';
import type { Clock } from '../time/clock.ts';
import type { ShardReply } from '../wire/messages.ts';
import type { Database } from './connect_database.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';
import { OutcomeDispatcher } from './outcome_dispatcher.ts';

/** Processing of locations: the shards, the collision stage, and the dispatcher of their outcomes. */
export interface Stages {
  readonly fanout: Fanout;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly ticker: Ticker<number | 'collisions'>;
  readonly outcomes: OutcomeDispatcher;
}

interface StageDeps {
  /** Whether events are logged; not by default. */
  readonly logsEvents?: boolean;
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly counts: HubCounts;
  readonly database: Database;
  /** Undefined for a single hub. */
  readonly cluster: Cluster | undefined;
  trackable(id: string): Trackable | undefined;
  /** Moves zones that follow moved objects. */
  moveZones(moves: readonly ZoneMove[]): void;
}

export function connectStages(deps: StageDeps): Stages {
  const { clock, machine, config, log, counts, database, cluster, trackable, moveZones, logsEvents = false } = deps;
  const { schedule, openThread } = machine;
  const { now, monotonic: running } = clock;
  const clockSteps = () => clock.clockSteps;
  const rendered = {
    now,
    variantsChanged(variants: readonly Variant[]) {
      shards.variants(variants);
      collisions.variants(variants);
    },
    ...(cluster && {
      interestChanged: () => cluster.fanout?.interestChanged(),
      interestNumber: () => cluster.fanout?.interestNumber ?? 0,
      forward: (events: EventBatch, to: ReadonlyMap<string, Variant>) => cluster.fanout?.forward(events, to),
    }),
  };
  const fanout = new Fanout(rendered, renderingBoundsOf(config));
  const ticker = new Ticker<number | 'collisions'>({
    now: running,
    schedule,
    due: (who) => (who === 'collisions' ? collisions.lane : shards.lanes[who]?.lane)?.wake(),
  });
  let shardEvents: ShardEvents | undefined;
  let clusterLogging: ClusterLogging | undefined;
  const outcomes = new OutcomeDispatcher({
    ...(logsEvents && {
      logged: (events) => shardEvents?.(events),
      isReceived: (variant) => fanout.isReceived(variant),
    }),
    shards: config.num_threads,
    counts,
    // Discards events computed by a hub that is out of its cluster.
    publish: (events) => cluster?.isOut !== true && fanout.publish(events),
    tellsOfMemberships: (variant) => fanout.topicOf(variant) === 'fence_events',
    keep: database.keep,
    keepPairs: database.keepPairs,
    released: () => shards.released(),
    motions: (motions) => (cluster?.motions ?? collisions).addShardMotions(motions),
    ...(cluster && {
      movedOut: (motions) => cluster.motions?.released(motions),
      collisionsPublished: (evaluated, hasEvents) => cluster.motions?.published(evaluated, hasEvents),
      logCollisions: (events) => clusterLogging?.collisions(events),
      collisionsStored: (step) => cluster.events?.collisionsPublished(step),
    }),
    moveZones,
    wakeAt: (who, atMs) => ticker.set(who, atMs),
  });
  const restarted = (error: unknown): void => {
    counts.workerRestarts++;
    log.error('A worker thread failed and was restarted', { error: String(error) });
  };
  const shards = new Shards({
    ...shardSettings(config),
    openThread,
    now: running,
    clockSteps,
    // Waits, so that rows of uncommitted steps are excluded.
    rows: async (hasAdopted) => {
      await shards.released();
      return database.lastRows(hasAdopted);
    },
    ...(cluster && clusterShards(cluster, clock, (shard) => shards.lanes[shard]?.lane.settled())),
    isStoreBehind: database.isBehind,
    stepped: (shard, reply) => outcomes.stepped(shard, reply),
    outcome: (shard, reply) => outcomes.ofShard(shard, reply),
    lost(item, error) {
      if (item.kind === 'locations') counts.rejected += item.count;
      log.error('An item was given up: it makes its worker fail', { kind: item.kind, error: String(error) });
    },
    restarted,
  });
  const collisions = new CollisionLane({
    openThread,
    now: running,
    clockSteps,
    firstUndone: () => shards.firstUndone,
    standing: () => cluster?.motions?.standing() ?? shards.standing(),
    ...(cluster && { others: () => cluster.motions?.others(), isShared: true }),
    takesPart(id) {
      const found = trackable(id);
      if (found === undefined || isNowhere(found)) return false;
      return found.calculate_collisions ?? config.calculate_collisions_default;
    },
    outcome: (reply, evaluated) => outcomes.ofCollisions(reply, evaluated),
    restarted,
  });
  // Subscribes in the shards, which now exist.
  if (logsEvents && cluster?.events !== undefined) {
    clusterLogging = logClusterEvents(fanout, { events: cluster.events, config: cluster.config });
    shardEvents = clusterLogging.shards;
  } else if (logsEvents) shardEvents = logShardEvents(fanout);
  return { fanout, shards, collisions, ticker, outcomes };
}

/**
 * Returns the replication of shard steps to other hubs. `settled` resolves when a shard has processed all input so far.
 */
function clusterShards(
  cluster: Cluster,
  { elapsed }: Clock,
  settled: (shard: number) => Promise<void> | undefined,
): Partial<ShardsOptions> {
  return {
    recordsSteps: true,
    configured: {
      sequence: () => cluster.config.configured,
      changes: new RecentChanges(elapsed),
      inTransit: () => cluster.migratingTrackables(),
    },
    keep: (shard: number, reply: ShardReply) => cluster.durability.step(shard, reply),
    rounds(shard: number) {
      let begunAt = 0;
      return {
        begun() {
          begunAt = cluster.durability.roundBegun();
        },
        over() {
          const from = begunAt;
          // The last rows of a round are in its last batch. Rejected locations are reported elsewhere.
          void settled(shard)
            ?.catch(() => undefined)
            .then(() => cluster.durability.roundOver(shard, from));
        },
      };
    },
  };
}

/** Whether no provider or parent can move the trackable. */
function isNowhere({ location_providers: providers, parent }: Trackable): boolean {
  return (providers ?? []).length === 0 && parent == null;
}
