import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import type { WriteEvents } from '../core/entity_write.ts';
import type { ShapeChecks } from '../core/shape_checks.ts';
import { ZoneTable } from '../core/zone/zone_table.ts';
import { Arrivals } from '../operation/arrivals.ts';
import { type HubCounts, newCounts } from '../operation/counts.ts';
import { encoded } from '../events/event_bytes.ts';
import type { EventLog } from '../events/event_log.ts';
import type { DatabaseState } from '../operation/database_state.ts';
import type { Store } from '../store/store.ts';
import type { StoreWriter } from '../store/writer.ts';
import type { Clock } from '../time/clock.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { HubAuthorization } from './authorization.ts';
import { type AuditErasure, type AuditRead, auditErasures, auditReads, auditTo, inTime } from './connect_audit.ts';
import { connectDefined, type DefinedParts } from './connect_defined.ts';
import { clusterDatabase } from './connect_cluster.ts';
import { connectDatabase, type Database } from './connect_database.ts';
import { type EntityParts, connectEntities } from './connect_entities.ts';
import { connectIngest, type IngestParts } from './connect_ingest.ts';
import { mirroredBy } from './connect_links.ts';
import { connectStages, type Stages } from './connect_stages.ts';
import type { Log } from './log.ts';
import { type Machine, thisMachine } from './machine.ts';
import { UntrackedZones } from './untracked_zones.ts';

/** All components between the transport and the store. */
export interface Parts extends Stages, EntityParts, IngestParts, DefinedParts {
  readonly clock: Clock;
  /** Wall-clock time. */
  now(): number;
  readonly counts: HubCounts;
  readonly machine: Machine;
  /** Scheduler of long tasks. */
  readonly turns: TaskScheduler;
  readonly writer: StoreWriter;
  readonly databaseState: DatabaseState;
  readonly cluster: Cluster | undefined;
  /** Whether the shards can accept that many more locations. */
  hasCapacity(count: number): boolean;
  /** Stores rows of objects that belong to no shard. */
  readonly keepRows: Database['keep'];
  readonly arrivals: Arrivals;
  readonly eventLog: EventLog | undefined;
  readonly auditLog: EventLog | undefined;
  readonly auditRead: AuditRead;
  readonly auditErasure: AuditErasure;
}

export interface HubLogs {
  /** Undefined: events are not logged. */
  readonly eventLog: EventLog | undefined;
  /** Undefined: changes are not audited. */
  readonly auditLog: EventLog | undefined;
}

interface PartsDeps {
  readonly clock: Clock;
  readonly store: Store;
  /** Opens the logs. In a cluster this opens the cluster, too, and the shards start in the meantime. */
  logs(): Promise<HubLogs>;
  /** Undefined for a single hub. */
  readonly cluster: Cluster | undefined;
  readonly config: Config;
  readonly log: Log;
  readonly shapes: ShapeChecks;
  /** Undefined: the hub requires no authorization. */
  readonly authorization?: HubAuthorization | undefined;
  /** By default the machine of this process. */
  readonly machine?: Machine;
}

/**
 * Creates and connects the components, in reverse order of a location's path: each one receives its successors. Links
 * to components that are created later are functions. No component does any work before the first item. Rejects if the logs
 * cannot be opened.
 */
export async function connectParts(deps: PartsDeps): Promise<Parts> {
  const { clock, store, cluster, config, log, shapes, authorization } = deps;
  const { machine = thisMachine() } = deps;
  const counts = newCounts();
  const { turns } = machine;
  const zones = new ZoneTable();
  const untracked = new UntrackedZones(zones);
  const arrivals = new Arrivals(zones.find);
  const ownLogs = cluster === undefined ? await deps.logs() : undefined;
  const database =
    cluster === undefined
      ? connectDatabase({ store, eventLog: ownLogs?.eventLog, auditLog: ownLogs?.auditLog, config, log, clock })
      : clusterDatabase(cluster, { store, clock, log });
  const stages = connectStages({
    logsEvents: (cluster?.events ?? ownLogs?.eventLog) !== undefined,
    clock,
    machine,
    config,
    log,
    counts,
    database,
    cluster,
    trackable: (id) => configured.entities.get('trackable', id),
    moveZones: (moves) => configured.zoneMoves.take(moves),
  });
  const { eventLog, auditLog } = ownLogs ?? (await orClosed(deps.logs(), stages));
  const audit = auditTo(auditLog, clock);
  const configured = connectEntities({
    clock,
    machine,
    config,
    log,
    shapes,
    database,
    stages,
    logsEvents: eventLog !== undefined,
    audit,
    cluster,
    zones,
    untracked,
    toSources: (id, zone) => incoming.sources.zone(id, zone),
    mirroredBy: (entity) => mirroredBy(defined.links)(entity),
    toAlerts: () => defined.alerts.entitiesChanged(),
    defined: () => ({
      alert_rules: defined.alerts.rules,
      views: defined.views,
      sinks: defined.sinks.documents,
      sources: defined.dataSources.documents,
    }),
  });
  const { entities } = configured;
  const incoming = connectIngest({
    clock,
    machine,
    config,
    log,
    zones,
    untracked,
    arrivals,
    database,
    stages,
    entities,
    cluster,
  });
  const { writer, state: databaseState } = database;
  const defined = connectDefined({
    clock,
    machine,
    config,
    log,
    writer,
    stages,
    entities,
    cluster,
    ingest: incoming.ingest,
    ...{ eventLog, counts, audit, keepRows: database.keep, authorization },
    // The log of a cluster has the changes of its records.
    logsEvents: eventLog !== undefined && cluster === undefined,
  });
  const auditing = {
    now: clock.now,
    async store(entries: WriteEvents) {
      if (cluster === undefined) await writer.writeEntities([], { audit: entries });
      else await inTime(cluster.audit?.own(encoded(entries)));
    },
  };
  return {
    clock,
    now: clock.now,
    counts,
    machine,
    turns,
    writer,
    databaseState,
    cluster,
    keepRows: database.keep,
    arrivals,
    eventLog,
    auditLog,
    auditRead: auditReads(config.audit_reads ? auditLog : undefined, auditing),
    auditErasure: auditErasures(auditLog, auditing),
    ...stages,
    ...configured,
    ...incoming,
    ...defined,
  };
}

/** Result of the promise. If it rejects, the stages are closed. */
async function orClosed<Value>(coming: Promise<Value>, { ticker, shards, collisions }: Stages): Promise<Value> {
  try {
    return await coming;
  } catch (error) {
    ticker.stop();
    await Promise.all([shards.close(), collisions.close()]);
    throw error;
  }
}
