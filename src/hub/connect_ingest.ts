import { openSources, type AdapterSources } from '../adapters/sources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { LocationTarget } from '../cluster/routing/location_router.ts';
import type { OwnerHint } from '../cluster/routing/owner_hints.ts';
import type { Config } from '../config/schema.ts';
import { boundsOf, historySettings } from '../config/settings.ts';
import { PROVIDER_NAME, recordSize, shiftRecord } from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import type { ZoneTable } from '../core/zone/zone_table.ts';
import type { Entities } from '../entities/entities.ts';
import { announceProximity } from '../fanout/front_events.ts';
import { Ingest } from '../ingest/ingest.ts';
import { recordedSince } from '../model/history.ts';
import type { Arrivals } from '../operation/arrivals.ts';
import type { Clock } from '../time/clock.ts';
import type { LocationTimes } from '../wire/location_record.ts';
import type { Database } from './connect_database.ts';
import type { Stages } from './connect_stages.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';
import type { UntrackedZones } from './untracked_zones.ts';
import { withDeadline } from './with_deadline.ts';

/** Number of events waiting for the store above which the hub rejects locations. */
const HELD_MAX = 500_000;

/** The common ingest, and the sources to which the hub connects. */
export interface IngestParts {
  readonly ingest: Ingest;
  /** Whether the shards have capacity for `count` more locations. */
  hasCapacity(count: number): boolean;
  /** Whether `count` locations can be processed now, and stored if required. */
  canTake(count: number): boolean;
  readonly sources: AdapterSources;
  /** The other hub that owns most locations of the body passed last, once; undefined if none does. Absent without a cluster. */
  readonly takeOwnerHint?: () => OwnerHint | undefined;
}

interface IngestDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly zones: ZoneTable;
  readonly untracked: UntrackedZones;
  readonly arrivals: Arrivals;
  readonly database: Database;
  readonly stages: Stages;
  readonly entities: Entities;
  /** Undefined for a single hub. */
  readonly cluster: Cluster | undefined;
}

/** Converts a body to times of this hub, except locations for other hubs, which retain wall-clock times. */
function bodyInRunning(body: ScannedBody, clock: Clock, shards: number): ScannedBody {
  const { records, start, end, receivedMs, homeOf, isPartial } = body;
  for (let at = start; at < end; at += recordSize(records, at)) {
    const isHere = isPartial !== true || homeOf(records.view.getUint32(at + PROVIDER_NAME, true)) < shards;
    if (isHere) shiftRecord(records, at, clock);
  }
  return { ...body, receivedMs: clock.monotonicTime(receivedMs) };
}

export function connectIngest(deps: IngestDeps): IngestParts {
  const { clock, machine, config, log, zones, untracked, arrivals, database, entities, cluster } = deps;
  const { schedule, turns } = machine;
  const { fanout, shards, collisions, outcomes } = deps.stages;
  const { now, wallClockTime: timeOfDay } = clock;
  // With fast writes, nothing waits for the database, and a rejected provider is retried with its next location.
  const slow = cluster !== undefined || (config.persist_locations && !config.db_fast_writes);
  const inRunning = ({ generatedMs, receivedMs }: LocationTimes): LocationTimes => {
    return { generatedMs: clock.eventTime(generatedMs), receivedMs: clock.monotonicTime(receivedMs) };
  };
  const bounds = boundsOf(config);
  const hasCapacity = (count: number): boolean => {
    return (
      shards.hasCapacity(count) && collisions.hasCapacity && outcomes.held < HELD_MAX && cluster?.hasRoom !== false
    );
  };
  const committed = (): Promise<void> | undefined => {
    if (cluster === undefined) return slow ? shards.committed() : shards.eased();
    return withDeadline(shards.settled(), config.cluster_hold, 'process_locations');
  };
  const count = config.num_threads;
  const local: LocationTarget & { readonly count: number } = {
    ...{ count, hasCapacity, committed },
    homeOf: (id) => shards.homeOf(id),
    get homesChanged() {
      return shards.homesChanged;
    },
    location(location, times) {
      shards.location(location, clock.clockSteps.length === 0 ? times : inRunning(times));
    },
    scanned(body) {
      shards.scanned(clock.clockSteps.length === 0 ? body : bodyInRunning(body, clock, count));
    },
    forget(id) {
      shards.forget(id);
      return undefined;
    },
  };
  // In a cluster, other hubs may process the locations, for which these have wall-clock times.
  const router = cluster?.routesTo(local);
  const places: LocationTarget = router ?? local;
  const canKeep = (): boolean => cluster !== undefined || !slow || !database.refusesRows();
  const recorded = historySettings(config);
  const ingest = new Ingest({
    now,
    depthMax: config.max_json_depth,
    bounds,
    turns,
    zone: zones.find,
    // Without fast writes, a location that cannot be stored is not processed.
    canStore: canKeep,
    hasCapacity: (more) => places.hasCapacity(more),
    scanner: machine.openScanner({ nameBytes: bounds.nameLength, propertiesBytes: bounds.locationPropertiesBytes }),
    canTakeScanned: () => !shards.isMoving,
    ...(recorded && { recordedSince: () => recordedSince({ nowMs: now(), retentionMs: recorded.retentionMs }) }),
    scanned: (body) => places.scanned(body),
    location: (location, times) => places.location(location, times),
    accepted: (location, receivedMs, via) => arrivals.arrived(location, receivedMs, via),
    providerId: (id) => entities.get('provider', id)?.id ?? id,
    ensureProvider(id, type) {
      const created = entities.ensureProvider(id, type);
      return created?.catch((error: unknown) => {
        if (!slow) return;
        // The sender receives the error about the provider, even if its location cannot be deleted.
        places.forget(id)?.catch(() => undefined);
        throw error;
      });
    },
    providersChanged: () => entities.providersGone + arrivals.began + places.homesChanged,
    homeOf: (id) => places.homeOf(id),
    located: (id) => arrivals.markActive(id),
    countConsecutive: (count, from) => arrivals.came(count, from),
    publishProximity(proximity) {
      if (untracked.has(proximity.source)) return;
      announceProximity(fanout, proximity, now());
      cluster?.fanout?.announce('proximity', JSON.stringify(proximity));
    },
    // Waiting for the shards makes clients adapt to their pace.
    ...(cluster && { partCommitted: () => cluster.remote.committed() }),
    committed: () => places.committed(),
  });
  const sources = openSources({
    ...{ streams: config.iso_24730_connections, ingest, log, now: clock.monotonic, timeOfDay, schedule },
    random: Math.random,
    zoneId: (name) => zones.find(name)?.id,
    ...(cluster && { opens: (zoneId) => cluster.serves(zoneId) }),
  });
  const canTake = (more: number): boolean => canKeep() && places.hasCapacity(more);
  const takeOwnerHint = (): OwnerHint | undefined => {
    const owner = router?.takePreferred();
    return owner === undefined ? undefined : cluster?.hintTo(owner);
  };
  return { ingest, hasCapacity, canTake, sources, ...(cluster && { takeOwnerHint }) };
}
