import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { boundsOf } from '../config/settings.ts';
import type { ShapeChecks } from '../core/shape_checks.ts';
import type { ZoneTable } from '../core/zone/zone_table.ts';
import { publicForm } from '../entities/public_form.ts';
import { writtenChange } from '../entities/change.ts';
import { type Change, type ChangesTogether, Entities } from '../entities/entities.ts';
import { auditedEntities } from '../entities/audited.ts';
import { Imports, type ImportsDeps } from '../entities/imports.ts';
import { isSilent } from '../entities/detached_fences.ts';
import { LocatingRules, RULES_SETTING } from '../entities/locating_rules.ts';
import { georeferencedChanges } from '../entities/anchor_changes.ts';
import { ZoneMoves } from '../entities/zone_moves.ts';
import { encoded, joinEvents, textEvent } from '../events/event_bytes.ts';
import { announceChange, changeEvent, type EntityEvent } from '../fanout/front_events.ts';
import { isSame } from '../model/json_tree.ts';
import type { Zone } from '../model/zone.ts';
import { commandsOf } from '../shards/shard_commands.ts';
import { definedWrites, entityWrites, settingWrite } from '../store/entity_json.ts';
import type { Clock } from '../time/clock.ts';
import { AUDIT_SETTING, type Audit, auditSetting } from './connect_audit.ts';
import type { Database } from './connect_database.ts';
import type { Stages } from './connect_stages.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';
import type { UntrackedZones } from './untracked_zones.ts';

/** Configured entities, and the propagation of their changes. */
export interface EntityParts {
  readonly entities: Entities;
  readonly rules: LocatingRules;
  readonly zoneMoves: ZoneMoves;
  readonly imports: Imports;
  /** Notifies shards, collisions and ingest of changed entities. */
  tell(changes: readonly Change[]): void;
}

/** Maximum size of the changes in one record of a cluster's log, in bytes. Messages are limited to 8 MB. */
const RECORD_BYTES = 4_000_000;

interface EntityDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly shapes: ShapeChecks;
  readonly database: Database;
  readonly stages: Stages;
  /** Whether events are logged. */
  readonly logsEvents: boolean;
  /** Undefined for a single hub. */
  readonly cluster: Cluster | undefined;
  /** Zones that ingest looks up. */
  readonly zones: ZoneTable;
  /** Zones whose proximities ingest does not publish. */
  readonly untracked: UntrackedZones;
  /** Notifies the sources of a changed zone; undefined if it was deleted. */
  toSources(id: string, zone: Zone | undefined): void;
  /** Notifies the alerts that fences or objects have changed. */
  toAlerts(): void;
  /** Returns which link mirrors an entity; undefined for an entity of this hub. */
  mirroredBy(entity: object): string | undefined;
  readonly audit: Audit;
  /** Documents defined in the UI. */
  defined: ImportsDeps['defined'];
}

export function connectEntities(deps: EntityDeps): EntityParts {
  const { clock, machine, config, log, shapes, zones, untracked, cluster, toSources, toAlerts, logsEvents, audit } =
    deps;
  const { writer } = deps.database;
  const { fanout, shards, collisions } = deps.stages;
  const bounds = boundsOf(config);
  const tell = (changes: readonly Change[]): void => {
    const placed = georeferencedChanges(changes, entities);
    for (const { id, after } of placed.filter(({ kind }) => kind === 'zone')) {
      zones.set(id, after as Zone | undefined);
      toSources(id, after as Zone | undefined);
      collisions.zone(id, after as Zone | undefined);
    }
    untracked.changed(placed);
    if (placed.some(({ kind, after }) => kind === 'trackable' && after !== undefined)) collisions.need();
    shards.entities(commandsOf(placed));
  };
  const eventOf = (change: Change): EntityEvent => {
    const { kind, after } = change;
    return changeEvent(change, { nowMs: clock.now(), shown: () => after && publicForm(kind, after, entities) });
  };
  const logged = (changes: readonly Change[]) => {
    const events = changes.filter((change) => !isSilent(change)).map(eventOf);
    return joinEvents(events.map(({ topic, fields, json }) => textEvent(topic, fields, json())));
  };
  const auditedIn = (
    changes: readonly Change[],
    { rules: changed, defined = [], by }: Omit<ChangesTogether, 'changes'>,
  ) => [
    ...auditedEntities(changes),
    ...[changed && rules.audited(changed, by)].filter((each) => each !== undefined),
    ...Object.values(deps.defined()).flatMap((documents) => documents.audited(defined, by)),
  ];
  const entities = new Entities({
    newId: machine.newId,
    mirroredBy: deps.mirroredBy,
    shapes,
    bounds,
    turns: machine.turns,
    commit(changes, { rules: changed, defined = [], by } = { changes }) {
      if (cluster !== undefined) {
        const entries = audit(auditedEntities(changes));
        const logged = entries === undefined ? [] : [[AUDIT_SETTING, auditSetting(encoded(entries))] as const];
        return cluster.commit(changes.map(writtenChange), logged);
      }
      const settings = changed === undefined ? [] : [settingWrite(RULES_SETTING, changed)];
      const writes = [...entityWrites(changes), ...settings, ...definedWrites(defined)];
      const audited = audit(auditedIn(changes, { rules: changed, defined, by }));
      return writer.writeEntities(writes, { events: logsEvents ? logged(changes) : undefined, audit: audited });
    },
    committed(changes) {
      tell(changes);
      for (const change of changes) {
        if (isSilent(change)) continue;
        const { kind, after } = change;
        announceChange(fanout, eventOf(change));
        if (kind === 'zone' && after === undefined) zoneMoves.forget(change.id);
      }
      if (changes.some(mattersToAlerts)) toAlerts();
    },
  });
  const zoneMoves = new ZoneMoves({
    entities,
    shardsSettled: () => shards.settled().catch(() => undefined),
    now: clock.monotonic,
    schedule: machine.schedule,
  });
  const rules = new LocatingRules({
    bounds,
    async commit(changed, audited) {
      const write = settingWrite(RULES_SETTING, changed);
      await writer.writeEntities([write], { audit: audit(audited === undefined ? [] : [audited]) });
      return cluster === undefined ? undefined : 'applied';
    },
    committed: (changed) => shards.rules(changed),
  });
  const imports = new Imports({
    entities,
    rules,
    defined: deps.defined,
    turns: machine.turns,
    now: clock.now,
    report: (error) => log.error('An import has failed', { error: String(error) }),
    ...(cluster && { bytesMax: RECORD_BYTES }),
  });
  return { entities, rules, zoneMoves, imports, tell };
}

/**
 * Whether alerts depend on a change. Changes of providers do not matter: a new one has no location yet, and sensor
 * values change continuously.
 */
function mattersToAlerts({ kind, before, after }: Change): boolean {
  if (kind !== 'provider') return kind === 'fence' || kind === 'trackable';
  if (before === undefined) return false;
  return after === undefined || !isSame(before.properties, after.properties);
}
