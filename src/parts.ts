import { randomUUID } from 'node:crypto';
import { openSources, type Sources } from './adapters/sources.ts';
import { type Clock, schedule } from './clock.ts';
import type { Config } from './config/schema.ts';
import { boundsOf, renderingBoundsOf, shardSettings, storePace } from './config/settings.ts';
import type { ShapeChecks } from './core/shape_checks.ts';
import { ZoneTable } from './core/zone/zone_table.ts';
import { type HubCounts, newCounts } from './counts.ts';
import { asShown } from './entities/as_shown.ts';
import { type Change, Entities } from './entities/entities.ts';
import { LocatingRules, RULES_SETTING } from './entities/locating_rules.ts';
import { placedChanges } from './entities/placed_changes.ts';
import { ZoneMoves } from './entities/zone_moves.ts';
import { Fanout } from './fanout/fanout.ts';
import { announceChange, announceProximity } from './fanout/front_events.ts';
import { Ingest } from './ingest/ingest.ts';
import { type Log, reportStore } from './log.ts';
import type { Variant } from './model/topics.ts';
import type { Trackable } from './model/trackable.ts';
import type { Zone } from './model/zone.ts';
import { Arrivals } from './operation/arrivals.ts';
import { DatabaseState } from './operation/database_state.ts';
import { OutcomeDispatcher } from './outcome_dispatcher.ts';
import { CollisionLane } from './shards/collision_lane.ts';
import { keptRows, rowsToKeep } from './shards/row_times.ts';
import { commandsOf } from './shards/shard_commands.ts';
import { Shards } from './shards/shards.ts';
import { Ticker } from './shards/ticker.ts';
import { entityWrites, settingWrite } from './store/entity_text.ts';
import { MemoryStore } from './store/memory.ts';
import type { Store } from './store/store.ts';
import { StoreWriter } from './store/writer.ts';
import { Turns } from './turns.ts';
import type { Times } from './wire/location_record.ts';

const STORE_RETRY_MS = [100, 500, 2000];
/** Events that may wait for the store before the hub takes no more locations. */
const HELD_MAX = 500_000;
/** Rows that wait for the store, beyond which the shards hand out none but those that events wait for. */
const BEHIND_ROWS = 500;

/** Everything between the transport and the store. */
export interface Parts {
  readonly clock: Clock;
  /** The time of day. */
  now(): number;
  readonly counts: HubCounts;
  /** Of everything that takes long. */
  readonly turns: Turns;
  readonly writer: StoreWriter;
  readonly databaseState: DatabaseState;
  readonly fanout: Fanout;
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly ticker: Ticker<number | 'collisions'>;
  readonly entities: Entities;
  readonly rules: LocatingRules;
  readonly ingest: Ingest;
  readonly arrivals: Arrivals;
  readonly outcomes: OutcomeDispatcher;
  readonly zoneMoves: ZoneMoves;
  readonly sources: Sources;
  /** Tells shards, collisions and ingest of changed entities. */
  tell(changes: readonly Change[]): void;
}

interface Given {
  readonly clock: Clock;
  readonly store: Store;
  readonly config: Config;
  readonly log: Log;
  readonly shapes: ShapeChecks;
}

/** Makes the parts and connects them with each other. Nothing runs before the first item. */
export function wire({ clock, store, config, log, shapes }: Given): Parts {
  const { now, running } = clock;
  const setBacks = () => clock.setBacks;
  const counts = newCounts();
  const turns = new Turns();
  const bounds = boundsOf(config);
  const zones = new ZoneTable();
  const arrivals = new Arrivals(zones.find);
  const databaseState = new DatabaseState();
  const state = (is: 'ok' | 'failing', error?: unknown): void => {
    databaseState.note(is, { error, nowMs: now() });
    reportStore(log, is, error);
  };
  const writerTo = (to: Store, pace = {}) => new StoreWriter(to, { retryMs: STORE_RETRY_MS, schedule, state, ...pace });
  const writer = writerTo(store, storePace(config));
  // Rows that are not to survive the hub are still what a shard worker needs that starts anew.
  const rowStore = config.persist_locations ? store : new MemoryStore('');
  const rowWriter = config.persist_locations ? writer : writerTo(rowStore);
  const rendered = {
    now,
    variantsChanged(variants: readonly Variant[]) {
      shards.variants(variants);
      collisions.variants(variants);
    },
  };
  const fanout = new Fanout(rendered, renderingBoundsOf(config));
  const ticker = new Ticker<number | 'collisions'>({
    now: running,
    schedule,
    due: (who) => (who === 'collisions' ? collisions.lane : shards.lanes[who]?.lane)?.wake(),
  });
  const outcomes = new OutcomeDispatcher({
    shards: config.num_threads,
    counts,
    publish: (events) => fanout.publish(events),
    tellsOfMemberships: (variant) => fanout.topicOf(variant) === 'fence_events',
    keep: (rows) => rowWriter.writeRows(rowsToKeep(rows, clock), { orFail: true }),
    motions: (motions) => collisions.shardDone(motions),
    moveZones: (moves) => zoneMoves.take(moves),
    wakeAt: (who, atMs) => ticker.set(who, atMs),
  });
  const restarted = (error: unknown): void => {
    counts.workerRestarts++;
    log.error('A worker thread has failed and was started anew', { error: String(error) });
  };
  const shards = new Shards({
    ...shardSettings(config),
    now: running,
    setBacks,
    async rows() {
      await rowWriter.drain();
      const { rows } = await rowStore.load();
      return keptRows(
        rowWriter.latest(rows).filter((row) => row.kind !== 'collision'),
        clock,
      );
    },
    isStoreBehind: () => rowWriter.pendingRows > BEHIND_ROWS,
    outcome: (shard, reply) => outcomes.ofShard(shard, reply),
    lost(item, error) {
      if (item.kind === 'location') counts.rejected++;
      log.error('An item was given up: it makes its worker fail', { kind: item.kind, error: String(error) });
    },
    restarted,
  });
  const collisions = new CollisionLane({
    now: running,
    setBacks,
    firstUndone: () => shards.firstUndone,
    standing: () => shards.standing(),
    takesPart(id) {
      const trackable = entities.get('trackable', id);
      if (trackable === undefined || isNowhere(trackable)) return false;
      return trackable.calculate_collisions ?? config.calculate_collisions_default;
    },
    outcome: (reply) => outcomes.ofCollisions(reply),
    restarted,
  });
  const tell = (changes: readonly Change[]): void => {
    const placed = placedChanges(changes, entities);
    for (const { id, after } of placed.filter(({ kind }) => kind === 'zone')) {
      zones.set(id, after as Zone | undefined);
      sources.zone(id, after as Zone | undefined);
      collisions.zone(id, after as Zone | undefined);
    }
    shards.entities(commandsOf(placed));
  };
  const entities = new Entities({
    newId: randomUUID,
    shapes,
    bounds,
    turns,
    commit: (changes) => writer.writeEntities(entityWrites(changes)),
    committed(changes) {
      tell(changes);
      for (const change of changes) {
        const { kind, after, isSilent } = change;
        if (isSilent === true) continue;
        const shown = () => after && asShown(kind, after, entities);
        announceChange(fanout, change, { nowMs: now(), shown });
        if (kind === 'zone' && after === undefined) zoneMoves.forget(change.id);
      }
    },
  });
  const zoneMoves = new ZoneMoves({
    entities,
    shardsSettled: () => shards.settled().catch(() => undefined),
    now: running,
    schedule,
  });
  const rules = new LocatingRules({
    bounds,
    commit: (changed) => writer.writeEntities([settingWrite(RULES_SETTING, changed)]),
    committed: (changed) => shards.rules(changed),
  });
  // With fast writes nothing waits for the database, and a provider that it refuses is tried again with its next location.
  const slow = config.persist_locations && !config.db_fast_writes;
  // What a sender says of time is the time of day; what the hub says itself is now.
  const inRunning = ({ generatedMs, receivedMs }: Times): Times => {
    return { generatedMs: clock.runningTime(generatedMs), receivedMs: clock.runningTime(receivedMs) };
  };
  const ingest = new Ingest({
    now,
    depthMax: config.max_json_depth,
    bounds,
    turns,
    zone: zones.find,
    // Without fast writes a location that cannot be kept is not processed.
    canKeep: () => !slow || !rowWriter.refusesRows,
    hasCapacity: (count) => shards.hasCapacity(count) && collisions.hasCapacity && outcomes.held < HELD_MAX,
    location: (location, times) => shards.location(location, clock.setBacks.length === 0 ? times : inRunning(times)),
    arrived: (location, receivedMs, via) => arrivals.arrived(location, receivedMs, via),
    providerId: (id) => entities.get('provider', id)?.id ?? id,
    ensureProvider(id, type) {
      const created = entities.ensureProvider(id, type);
      return created?.catch((error: unknown) => {
        if (!slow) return;
        shards.forget(id);
        throw error;
      });
    },
    announce: (proximity) => announceProximity(fanout, proximity, now()),
    // Who waits for the answer before sending more finds the pace that the shards can keep.
    kept: () => (slow ? shards.kept() : shards.eased()),
  });
  const streams = config.iso_24730_connections;
  const { timeOfDay } = clock;
  const sources = openSources({ streams, ingest, log, now: running, timeOfDay, schedule, random: Math.random });
  const lanes = { shards, collisions, ticker };
  return {
    clock,
    now,
    counts,
    turns,
    writer,
    databaseState,
    fanout,
    ...lanes,
    outcomes,
    zoneMoves,
    entities,
    rules,
    ingest,
    sources,
    arrivals,
    tell,
  };
}

/** Nothing can move the trackable. */
function isNowhere({ location_providers: providers, parent }: Trackable): boolean {
  return (providers ?? []).length === 0 && parent == null;
}
