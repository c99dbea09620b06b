import assert from 'node:assert/strict';
import { zstdDecompressSync } from 'node:zlib';
import type { StoredRow, Query } from '../../src/core/item.ts';
import { accept } from '../../src/core/location/accepted.ts';
import type { ZoneMove } from '../../src/core/zone/following.ts';
import { DeliveryBatch } from '../../src/fanout/batch.ts';
import { OutcomeDispatcher } from '../../src/hub/outcome_dispatcher.ts';
import { ScannedNames } from '../../src/ingest/body_scanner.ts';
import { look } from '../../src/model/borrowed.ts';
import type { EventBatch } from '../../src/model/event_batch.ts';
import type { Location } from '../../src/model/location.ts';
import type { Topic } from '../../src/model/topics.ts';
import { newCounts } from '../../src/operation/counts.ts';
import { CollisionLane } from '../../src/shards/collision_lane.ts';
import type { RoundWatch } from '../../src/shards/flush_scheduler.ts';
import { RecentChanges } from '../../src/shards/recent_changes.ts';
import type { EntityCommand } from '../../src/shards/shard_commands.ts';
import { Shards } from '../../src/shards/shards.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { StoreWriter } from '../../src/store/writer.ts';
import type { LaneItem } from '../../src/wire/location_record.ts';
import { type PackedStep, readStoredRecord } from '../../src/wire/journal_record.ts';
import type { ShardReply } from '../../src/wire/messages.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';
import { T0, VARIANTS } from '../support/shard_harness.ts';

/** A published event with the members that tests check. */
export type Reported = Readonly<Record<string, unknown>> & { readonly topic: Topic };

export interface RunningOptions {
  readonly shards: number;
  readonly batchMax?: number;
  /** Replaces the store when a shard reads its rows. */
  readonly rows?: () => Promise<never>;
  /** Called before rows are stored. Storing waits for the returned promise. */
  readonly beforeStore?: (rows: readonly StoredRow[]) => Promise<void> | undefined;
  /** Commits the steps of shards before their outcomes are released. */
  readonly commitSteps?: (shard: number, reply: ShardReply) => Promise<void> | undefined;
  /** Observes the rounds in which a shard emits its rows. */
  readonly rounds?: (shard: number) => RoundWatch;
  /** Sequence of the record being applied, if the hub has a shared log. */
  readonly sequence?: () => number;
}

const VIEW = { crs: 'EPSG:4326' };

/** Shards and the collision stage with real worker threads, in-memory rows, and a clock that the test sets. */
export class RunningShards {
  readonly #writer: StoreWriter;
  readonly #scanner = new LocationScanner({ nameBytes: 1024, propertiesBytes: 65_536 });
  readonly #names = new ScannedNames(this.#scanner);
  readonly shards: Shards;
  readonly collisions: CollisionLane;
  readonly counts = newCounts();
  readonly events: Reported[] = [];
  readonly zoneMoves: ZoneMove[] = [];
  readonly lost: LaneItem[] = [];
  /** Number of locations sent. */
  sent = 0;
  /** Providers whose locations belong to other hubs. */
  elsewhere: ReadonlySet<string> = new Set();
  /** Current time in seconds since T0. */
  second = 0;
  /** Called on each read of the clock: a lane reads it before each batch. */
  onClock: (() => void) | undefined;

  constructor(options: RunningOptions) {
    const { shards: count, batchMax = 1000, rows, beforeStore = () => undefined, commitSteps, sequence } = options;
    const store = new MemoryStore('');
    const writer = new StoreWriter(store, { retryMs: [], schedule: () => () => undefined, state: () => undefined });
    this.#writer = writer;
    const now = () => {
      this.onClock?.();
      return T0 + this.second * 1000;
    };
    const restarted = () => void this.counts.workerRestarts++;
    const keep = async (committed: Iterable<StoredRow>) => {
      // The rows are in the reply buffer of a shard, which is overwritten in the meantime.
      const rows = [...committed];
      await beforeStore(rows);
      await writer.writeRows(rows, { orFail: true });
    };
    const outcomes = new OutcomeDispatcher({
      shards: count,
      counts: this.counts,
      publish: (events) => this.#publish(events),
      tellsOfMemberships: (variant) => VARIANTS.find(({ id }) => id === variant)?.topic === 'fence_events',
      keep,
      keepPairs: keep,
      motions: (motions) => this.collisions.addShardMotions(motions),
      moveZones: (moves) => void this.zoneMoves.push(...moves),
      wakeAt: () => undefined,
      released: () => this.shards.released(),
    });
    this.shards = new Shards({
      count,
      capacity: 1_000_000,
      batchMax,
      settings: { collisionsByDefault: true, providerInTrackableEvents: false, detachedStay: true, parentsMax: 32 },
      now,
      async rows() {
        if (rows !== undefined) return rows();
        await writer.drain();
        return writer.latest((await store.load()).rows).filter((row) => row.kind !== 'collision');
      },
      isStoreBehind: () => writer.pendingRows > 500,
      keep: commitSteps,
      rounds: options.rounds,
      recordsSteps: commitSteps !== undefined,
      configured: sequence && { sequence, changes: new RecentChanges(() => 0) },
      stepped: (shard, reply) => outcomes.stepped(shard, reply),
      outcome: (shard, reply) => outcomes.ofShard(shard, reply),
      lost: (item) => {
        if (item.kind === 'locations') this.counts.rejected += item.count;
        this.lost.push(item);
      },
      restarted,
    });
    this.collisions = new CollisionLane({
      now,
      firstUndone: () => this.shards.firstUndone,
      standing: () => this.shards.standing(),
      takesPart: () => true,
      outcome: (reply, evaluated) => outcomes.ofCollisions(reply, evaluated),
      restarted,
    });
    this.shards.variants(VARIANTS);
    this.collisions.variants(VARIANTS);
  }

  /** Submits a location of a provider, received now. It is generated now or at another second. */
  location(provider: string, at: readonly [lon: number, lat: number], more: LocationOptions = {}): void {
    const { generated = this.second, ...own } = more;
    const value: Location = {
      position: { type: 'Point', coordinates: [...at] },
      provider_type: 'uwb',
      timestamp_generated: new Date(T0 + generated * 1000).toISOString(),
      ...own,
    };
    const generatedMs = T0 + generated * 1000;
    const { source = provider, crs = 'EPSG:4326' } = value as { source?: string; crs?: string };
    const location = accept(value, { providerId: provider, source, crs, generatedMs });
    this.sent++;
    this.shards.location(location, { generatedMs, receivedMs: T0 + this.second * 1000 });
  }

  /** Submits locations of providers as one JSON body, which is scanned. They are received and generated now. */
  body(...locations: readonly (readonly [provider: string, at: readonly [lon: number, lat: number]])[]): void {
    const receivedMs = T0 + this.second * 1000;
    const timestamp_generated = new Date(receivedMs).toISOString();
    const values = locations.map(([provider_id, coordinates]) => {
      const position = { type: 'Point', coordinates };
      return { position, crs: 'EPSG:4326', provider_id, provider_type: 'uwb', timestamp_generated };
    });
    const count = this.#scanner.list(Buffer.from(JSON.stringify(values)), receivedMs);
    assert.equal(count, locations.length);
    this.#names.learn(this.#scanner);
    const { start, end } = this.#scanner;
    const nameOf = this.#names.of;
    const beyond = this.shards.lanes.length;
    const isHere = (id: string): boolean => !this.elsewhere.has(id);
    const homeOf = (number: number) => (isHere(nameOf(number)) ? this.shards.homeOf(nameOf(number)) : beyond);
    const here = locations.map(([id]) => id).filter(isHere);
    this.sent += here.length;
    const isPartial = here.length < count;
    const body = { records: this.#scanner, start, end, receivedMs, newProviders: here, nameOf, homeOf };
    this.shards.scanned({ ...body, ...(isPartial && { isPartial }) });
  }

  tell(...entities: readonly EntityCommand[]): void {
    this.shards.entities(entities);
  }

  /** Returns the parsed result of a query; undefined without data. */
  async read(query: WithoutView<Query>): Promise<readonly unknown[] | undefined> {
    const answers = await this.shards.ask({ ...query, view: VIEW } as Query);
    if (answers.every((answer) => 'absent' in answer)) return undefined;
    return answers.flatMap((answer): readonly unknown[] => {
      if ('texts' in answer) return answer.texts.map((text) => JSON.parse(text) as unknown);
      return 'ids' in answer ? answer.ids : [];
    });
  }

  /** Stores rows as if an earlier run had written them. */
  keep(rows: readonly StoredRow[]): Promise<void> {
    return this.#writer.writeRows(rows);
  }

  /** Fires due deadlines, and resolves when all work is done. */
  async settle(): Promise<void> {
    for (const { lane } of this.shards.lanes) lane.wake();
    await this.shards.settled();
    this.collisions.lane.wake();
    await this.collisions.settled();
  }

  /** Entries and exits so far, as `entry provider a fence-1`. */
  crossings(): string[] {
    return this.events
      .filter(({ topic }) => topic === 'fence_events')
      .map((event) => {
        const object =
          event['trackable_id'] == null ? `provider ${event['provider_id']}` : `trackable ${event['trackable_id']}`;
        return `${String(event['event_type']).replace('region_', '')} ${object} ${event['fence_id']}`;
      });
  }

  async close(): Promise<void> {
    await Promise.all([this.shards.close(), this.collisions.close()]);
  }

  #publish(blocks: readonly EventBatch[]): void {
    for (const { variant, bytes, ends } of blocks) {
      const topic = VARIANTS.find(({ id }) => id === variant)?.topic ?? 'location_updates';
      for (const text of new DeliveryBatch(look(bytes), ends).strings) this.events.push({ ...JSON.parse(text), topic });
    }
  }
}

export type LocationOptions = Partial<Location> & { readonly generated?: number };
type WithoutView<T> = T extends unknown ? Omit<T, 'view'> : never;

/** Returns the position this many meters east and north of 9° E, 50° N. */
export function meters(east: number, north: number): [lon: number, lat: number] {
  return [9 + east / 71_695.6, 50 + north / 111_229];
}

/** A square fence around a position, with sides in meters. */
export function fenceAround(
  id: string,
  [east, north]: readonly [number, number],
  side: number,
  more = {},
): EntityCommand {
  const half = side / 2;
  const ring = [
    meters(east - half, north - half),
    meters(east + half, north - half),
    meters(east + half, north + half),
    meters(east - half, north + half),
    meters(east - half, north - half),
  ];
  const region = { type: 'Polygon' as const, coordinates: [ring] };
  return { kind: 'fence', id, entity: { id, region, crs: 'EPSG:4326', ...more } };
}

export function trackable(id: string, providers: readonly string[], more = {}): EntityCommand {
  return { kind: 'trackable', id, entity: { id, type: 'omlox', location_providers: [...providers], ...more } };
}

export function provider(id: string, more = {}): EntityCommand {
  return { kind: 'provider', id, entity: { id, type: 'uwb', ...more } };
}

/** State of objects that a step has released. */
export function releasedSteps({ released = [] }: ShardReply): readonly PackedStep[] {
  return released.flatMap(({ record }) => {
    const read = record && readStoredRecord(look(record), zstdDecompressSync);
    return read?.kind === 'released' ? [read.step] : [];
  });
}
