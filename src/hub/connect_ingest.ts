import { LocationScanner } from '../../wasm/location_scanner.ts';
import { openSources, type Sources } from '../adapters/sources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { boundsOf } from '../config/settings.ts';
import { recordSize, shiftRecord } from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned.ts';
import type { ZoneTable } from '../core/zone/zone_table.ts';
import type { Entities } from '../entities/entities.ts';
import { announceProximity } from '../fanout/front_events.ts';
import { Ingest } from '../ingest/ingest.ts';
import type { Arrivals } from '../operation/arrivals.ts';
import type { Clock } from '../time/clock.ts';
import type { Times } from '../wire/location_record.ts';
import type { Database } from './connect_database.ts';
import type { Stages } from './connect_stages.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';
import { withinHold } from './within_hold.ts';

/** Events that may wait for the store before the hub takes no more locations. */
const HELD_MAX = 500_000;

/** The one way in, and the sources that the hub connects to itself. */
export interface Incoming {
  readonly ingest: Ingest;
  /** Whether the shards can take that many more locations. */
  hasCapacity(count: number): boolean;
  readonly sources: Sources;
}

interface IngestDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly zones: ZoneTable;
  readonly arrivals: Arrivals;
  readonly database: Database;
  readonly stages: Stages;
  readonly entities: Entities;
  /** Where the hub is one of several. */
  readonly cluster: Cluster | undefined;
}

/** The same with running times. */
function bodyInRunning(body: ScannedBody, { runningTime }: Clock): ScannedBody {
  const { records, start, end, receivedMs } = body;
  for (let at = start; at < end; at += recordSize(records, at)) shiftRecord(records, at, runningTime);
  return { ...body, receivedMs: runningTime(receivedMs) };
}

export function connectIngest(deps: IngestDeps): Incoming {
  const { clock, machine, config, log, zones, arrivals, database, entities, cluster } = deps;
  const { schedule, turns } = machine;
  const { fanout, shards, collisions, outcomes } = deps.stages;
  const { now, timeOfDay } = clock;
  // With fast writes nothing waits for the database, and a provider that it refuses is tried again with its next location.
  const slow = cluster !== undefined || (config.persist_locations && !config.db_fast_writes);
  // What a sender says of time is the time of day; what the hub says itself is now.
  const inRunning = ({ generatedMs, receivedMs }: Times): Times => {
    return { generatedMs: clock.runningTime(generatedMs), receivedMs: clock.runningTime(receivedMs) };
  };
  const bounds = boundsOf(config);
  const hasCapacity = (count: number): boolean => {
    return (
      shards.hasCapacity(count) && collisions.hasCapacity && outcomes.held < HELD_MAX && cluster?.hasRoom !== false
    );
  };
  const keptHere = (): Promise<void> => withinHold(shards.settled(), config.cluster_hold, 'Cannot process locations');
  const keptInCluster = (): Promise<void> | undefined => {
    // What was handed over before it was this hub's turn is not forgotten.
    const elsewhere = cluster?.remote.kept();
    const here = cluster?.isLocal === false ? undefined : keptHere();
    return elsewhere === undefined || here === undefined
      ? (elsewhere ?? here)
      : Promise.all([elsewhere, here]).then(() => undefined);
  };
  // In a cluster another hub may be the one that processes locations; times of day go there.
  const remote = (): Cluster['remote'] | undefined => (cluster?.isLocal === false ? cluster.remote : undefined);
  const ingest = new Ingest({
    now,
    depthMax: config.max_json_depth,
    bounds,
    turns,
    zone: zones.find,
    // Without fast writes a location that cannot be kept is not processed.
    canKeep: () => cluster !== undefined || !slow || !database.refusesRows(),
    hasCapacity: (count) => (remote() ?? { hasCapacity }).hasCapacity(count),
    scanner: new LocationScanner({ nameBytes: bounds.nameLength, propertiesBytes: bounds.locationPropertiesBytes }),
    canTakeScanned: () => !shards.isMoving,
    scanned(body) {
      const to = remote();
      if (to !== undefined) to.scanned(body);
      else shards.scanned(clock.setBacks.length === 0 ? body : bodyInRunning(body, clock));
    },
    location(location, times) {
      const to = remote();
      if (to !== undefined) to.location(location, times);
      else shards.location(location, clock.setBacks.length === 0 ? times : inRunning(times));
    },
    arrived: (location, receivedMs, via) => arrivals.arrived(location, receivedMs, via),
    providerId: (id) => entities.get('provider', id)?.id ?? id,
    ensureProvider(id, type) {
      const created = entities.ensureProvider(id, type);
      return created?.catch((error: unknown) => {
        if (!slow) return;
        const to = remote();
        // Where its location cannot be deleted either, its sender hears of the provider all the same.
        if (to === undefined) shards.forget(id);
        else to.forget(id).catch(() => undefined);
        throw error;
      });
    },
    providersChanged: () => entities.providersGone + arrivals.began + shards.homesChanged,
    homeOf: (id) => shards.homeOf(id),
    heardOf: (id) => arrivals.heardOf(id),
    came: (count, from) => arrivals.came(count, from),
    announce(proximity) {
      announceProximity(fanout, proximity, now());
      cluster?.fanout?.announce('proximity', JSON.stringify(proximity));
    },
    // Who waits for the answer before sending more finds the pace that the shards can keep.
    ...(cluster && { partKept: () => cluster.remote.kept() }),
    kept: () => (cluster !== undefined ? keptInCluster() : slow ? shards.kept() : shards.eased()),
  });
  const streams = config.iso_24730_connections;
  const sources = openSources({ streams, ingest, log, now: clock.running, timeOfDay, schedule, random: Math.random });
  return { ingest, hasCapacity, sources };
}
