import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { boundsOf } from '../config/settings.ts';
import type { ShapeChecks } from '../core/shape_checks.ts';
import type { ZoneTable } from '../core/zone/zone_table.ts';
import { asShown } from '../entities/as_shown.ts';
import { writtenChange } from '../entities/change.ts';
import { type Change, Entities } from '../entities/entities.ts';
import { Imports, type ImportsDeps } from '../entities/imports.ts';
import { isSilent } from '../entities/left_behind.ts';
import { LocatingRules, RULES_SETTING } from '../entities/locating_rules.ts';
import { placedChanges } from '../entities/placed_changes.ts';
import { ZoneMoves } from '../entities/zone_moves.ts';
import { announceChange } from '../fanout/front_events.ts';
import { isSame } from '../model/json_tree.ts';
import type { Zone } from '../model/zone.ts';
import { commandsOf } from '../shards/shard_commands.ts';
import { definedWrites, entityWrites, settingWrite } from '../store/entity_text.ts';
import type { Clock } from '../time/clock.ts';
import type { Database } from './connect_database.ts';
import type { Stages } from './connect_stages.ts';
import type { Log } from './log.ts';
import type { Machine } from './machine.ts';

/** What is configured, and how everybody else hears of it. */
export interface Configured {
  readonly entities: Entities;
  readonly rules: LocatingRules;
  readonly zoneMoves: ZoneMoves;
  readonly imports: Imports;
  /** Tells shards, collisions and ingest of changed entities. */
  tell(changes: readonly Change[]): void;
}

/** Of the changes in one record of the log of a cluster, whose messages may have 8 MB. */
const RECORD_BYTES = 4_000_000;

interface EntityDeps {
  readonly clock: Clock;
  readonly machine: Machine;
  readonly config: Config;
  readonly log: Log;
  readonly shapes: ShapeChecks;
  readonly database: Database;
  readonly stages: Stages;
  /** Where the hub is one of several. */
  readonly cluster: Cluster | undefined;
  /** The zones that ingest finds. */
  readonly zones: ZoneTable;
  /** Tells the sources of a zone; undefined when there is none any more. */
  toSources(id: string, zone: Zone | undefined): void;
  /** Tells the alerts that fences or objects have changed. */
  toAlerts(): void;
  /** What people define in the page. */
  defined: ImportsDeps['defined'];
}

export function connectEntities(deps: EntityDeps): Configured {
  const { clock, machine, config, log, shapes, zones, cluster, toSources, toAlerts } = deps;
  const { writer } = deps.database;
  const { fanout, shards, collisions } = deps.stages;
  const bounds = boundsOf(config);
  const tell = (changes: readonly Change[]): void => {
    const placed = placedChanges(changes, entities);
    for (const { id, after } of placed.filter(({ kind }) => kind === 'zone')) {
      zones.set(id, after as Zone | undefined);
      toSources(id, after as Zone | undefined);
      collisions.zone(id, after as Zone | undefined);
    }
    shards.entities(commandsOf(placed));
  };
  const entities = new Entities({
    newId: machine.newId,
    shapes,
    bounds,
    turns: machine.turns,
    commit(changes, { rules: changed, defined = [] } = { changes }) {
      if (cluster !== undefined) return cluster.commit(changes.map(writtenChange));
      const settings = changed === undefined ? [] : [settingWrite(RULES_SETTING, changed)];
      return writer.writeEntities([...entityWrites(changes), ...settings, ...definedWrites(defined)]);
    },
    committed(changes) {
      tell(changes);
      for (const change of changes) {
        if (isSilent(change)) continue;
        const { kind, after } = change;
        const shown = () => after && asShown(kind, after, entities);
        announceChange(fanout, change, { nowMs: clock.now(), shown });
        if (kind === 'zone' && after === undefined) zoneMoves.forget(change.id);
      }
      if (changes.some(mattersToAlerts)) toAlerts();
    },
  });
  const zoneMoves = new ZoneMoves({
    entities,
    shardsSettled: () => shards.settled().catch(() => undefined),
    now: clock.running,
    schedule: machine.schedule,
  });
  const rules = new LocatingRules({
    bounds,
    async commit(changed) {
      await writer.writeEntities([settingWrite(RULES_SETTING, changed)]);
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

/** A provider that has just been seen has not been anywhere yet, and what it senses changes all the time. */
function mattersToAlerts({ kind, before, after }: Change): boolean {
  if (kind !== 'provider') return kind === 'fence' || kind === 'trackable';
  if (before === undefined) return false;
  return after === undefined || !isSame(before.properties, after.properties);
}
