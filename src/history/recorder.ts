import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { geodesicMetres } from '../core/geo/geodesic.ts';
import type { RecordBuffer, TextBytes } from '../core/location/record.ts';
import { type PlaceTexts, type PlaceTopic, placeSize, placeTopic } from '../core/recorded.ts';
import { HISTORY_TOPICS, type HistoryTopic } from '../model/history.ts';
import { parseJson } from '../model/json.ts';
import { COLUMNS, copyTo, inOrder, NAMES_TABLE, placesAsWritten, sqlText, tableOf } from './columns.ts';
import { Duck } from './duck.ts';
import { type EventRow, type EventTopic, eventRow } from './event_rows.ts';
import {
  expiredHours,
  type FilesWanted,
  type HistoryFile,
  HistoryFiles,
  type LeasedFiles,
  mergeable,
} from './files.ts';
import { hourOf } from './layout.ts';
import type { FromRecorder, RecorderSettings, RecorderState } from './messages.ts';
import { PlaceRows, Thinning } from './place_rows.ts';

export interface RecorderDeps {
  /** The time of day. */
  now(): number;
  tell(message: FromRecorder): void;
  /** Calls back at every interval; returns how to call it off. */
  every(intervalMs: number, callback: () => void): () => void;
}

/** Places of a topic that wait take no more; then later ones are dropped. */
const PLACES_BYTES_MAX = 256 << 20;
const EVENTS_MAX = 200_000;
/** So many are written at once, whatever the interval. */
const FLUSH_ROWS = 500_000;
const EVENTS_FLUSH_MS = 1000;
const MEMORY_MB = 512;
const TIDY_MS = 30_000;
/** Whoever has files and died, or forgot them, has them for so long. */
const LEASE_MS = 600_000;
const SPILL = '.spill';

/**
 * Writes the history: takes places and events, keeps them until their next turn, and then writes those of each hour as a
 * Parquet file (files.ts). Merges the files of an hour, and removes what is older or larger than what is to be kept.
 *
 *     places ─▶ PlaceRows ─┐ each flushMs
 *     events ─▶ rows ──────┴──▶ Duck ──▶ part-N.parquet.writing ──▶ part-N.parquet ──▶ merged ──▶ removed
 *
 * One thing is done at a time. What cannot be written waits for the next turn, up to a bound, behind which it is dropped.
 */
export class Recorder {
  readonly #settings: RecorderSettings;
  readonly #deps: RecorderDeps;
  readonly #files: HistoryFiles;
  readonly #places: Readonly<Record<PlaceTopic, PlaceRows>> = { locations: new PlaceRows(), motions: new PlaceRows() };
  readonly #events: Record<EventTopic, EventRow[]> = { fence_events: [], collision_events: [] };
  readonly #thinning: Readonly<Record<PlaceTopic, Thinning | undefined>>;
  readonly #recorded = countsOf();
  readonly #dropped = countsOf();
  readonly #timers: (() => void)[] = [];
  readonly #leasedAt = new Map<number, number>();
  #duck: Duck | undefined;
  /** What is under way, and all that waits for it. */
  #turn: Promise<void> = Promise.resolve();
  #problem: string | undefined;
  #flushDue = false;

  constructor(settings: RecorderSettings, deps: RecorderDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#files = new HistoryFiles(settings.folder);
    const { minIntervalMs, minDistanceMetres } = settings;
    const isThinned = minIntervalMs > 0 || minDistanceMetres > 0;
    const thinning = () =>
      isThinned ? new Thinning({ minIntervalMs, minDistanceMetres, metres: geodesicMetres }) : undefined;
    this.#thinning = { locations: thinning(), motions: thinning() };
  }

  /** Finds what was recorded, and begins. Where the folder cannot be used, that is tried again at each turn. */
  start(): void {
    const { every } = this.#deps;
    const { flushMs } = this.#settings;
    this.#timers.push(
      every(flushMs, () => this.#flushSoon(['locations', 'motions'])),
      every(Math.min(EVENTS_FLUSH_MS, flushMs), () => this.#flushSoon(['fence_events', 'collision_events'])),
      every(TIDY_MS, () => void this.#inTurn(() => this.#tidy())),
    );
    void this.#inTurn(() => this.#open());
  }

  /** Takes places, one behind the other. */
  // hot
  places(bytes: Uint8Array): void {
    const { buffer, byteOffset, byteLength } = bytes;
    const from: RecordBuffer = {
      bytes: Buffer.from(buffer, byteOffset, byteLength) as TextBytes,
      view: new DataView(buffer, byteOffset, byteLength),
    };
    for (let at = 0; at < byteLength; at += placeSize(from, at)) {
      const topic = placeTopic(from, at);
      const rows = this.#places[topic];
      if (rows.bytes >= PLACES_BYTES_MAX) {
        this.#dropped[topic]++;
        continue;
      }
      if (this.#thinning[topic]?.leavesOut(from, at) === true) continue;
      rows.add(from, at, propertiesOf);
    }
    if (this.#flushDue) return;
    if (this.#places.locations.count < FLUSH_ROWS && this.#places.motions.count < FLUSH_ROWS) return;
    this.#flushDue = true;
    this.#flushSoon(['locations', 'motions']);
  }

  /** Takes events as they were published. */
  events(topic: EventTopic, texts: readonly string[]): void {
    const rows = this.#events[topic];
    for (const text of texts) {
      if (rows.length < EVENTS_MAX) rows.push(eventRow(topic, text));
      else this.#dropped[topic]++;
    }
  }

  /** Writes what waits, and hands out the files of these hours until they are released. Rejects when it cannot be written. */
  files(wanted: FilesWanted): Promise<LeasedFiles> {
    return this.#inTurn(async () => {
      const isAsWritten = wanted.asWritten === true;
      if (isAsWritten) await this.#open();
      else for (const topic of wanted.topics) await this.#flush(topic);
      if (!isAsWritten && this.#problem !== undefined && wanted.topics.some((topic) => this.#waiting(topic) > 0)) {
        throw new Error(this.#problem);
      }
      const leased = this.#files.lease(wanted);
      this.#leasedAt.set(leased.lease, this.#deps.now());
      this.#tellState();
      return leased;
    });
  }

  release(lease: number): void {
    this.#leasedAt.delete(lease);
    this.#files.release(lease);
  }

  /** Whoever has read a file says that it cannot be read. */
  damaged(path: string, why: string): void {
    this.#files.damaged(path);
    this.#notice('A file of the history cannot be read, and is left out', { path, error: why });
  }

  /** Writes what waits, and ends. */
  async close(): Promise<void> {
    for (const stop of this.#timers.splice(0)) stop();
    await this.#inTurn(() => this.#flushAll(HISTORY_TOPICS)).catch(() => undefined);
    this.#tellState();
    this.#duck?.close();
    this.#duck = undefined;
    rmSync(join(this.#settings.folder, SPILL), { recursive: true, force: true });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work);
    this.#turn = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  #flushSoon(topics: readonly HistoryTopic[]): void {
    void this.#inTurn(() => this.#flushAll(topics)).catch(() => undefined);
  }

  async #flushAll(topics: readonly HistoryTopic[]): Promise<void> {
    if (topics.includes('locations')) this.#flushDue = false;
    for (const topic of topics) await this.#flush(topic);
    this.#tellState();
  }

  async #open(): Promise<Duck> {
    if (this.#duck !== undefined) return this.#duck;
    const { folder } = this.#settings;
    const spillFolder = join(folder, SPILL);
    mkdirSync(spillFolder, { recursive: true, mode: 0o700 });
    const duck = await Duck.open({ memoryMb: MEMORY_MB, spillFolder });
    const rowsOf = async (path: string): Promise<number> => {
      const [row] = await duck.rows(`SELECT num_rows FROM parquet_file_metadata(${sqlText(path)})`);
      return Number(row?.num_rows);
    };
    await this.#files.open(rowsOf, (path, why) => {
      this.#notice('A file of the history cannot be read, and is left out', { path, error: messageOf(why) });
    });
    for (const [topic, columns] of Object.entries(COLUMNS)) await duck.run(tableOf(topic as HistoryTopic, columns));
    await duck.run(NAMES_TABLE);
    this.#duck = duck;
    this.#tellState();
    return duck;
  }

  /** Writes the rows of a topic. Those that cannot be written stay. Never rejects. */
  async #flush(topic: HistoryTopic): Promise<void> {
    if (this.#waiting(topic) === 0) return;
    try {
      const duck = await this.#open();
      if (topic === 'locations' || topic === 'motions') await this.#flushPlaces(topic, duck);
      else await this.#flushEvents(topic, duck);
      if (this.#problem !== undefined) this.#notice('The history is written again', {}, true);
      this.#problem = undefined;
    } catch (error) {
      const why = messageOf(error);
      if (this.#problem === undefined) this.#notice('The history cannot be written', { error: why });
      this.#problem = why;
    }
  }

  async #flushPlaces(topic: PlaceTopic, duck: Duck): Promise<void> {
    const rows = this.#places[topic];
    const { names, numbers, texts } = rows;
    const hours = rows.byHour();
    let written = 0;
    try {
      await duck.appendTexts('names', names);
      for (const { hourMs, order } of hours) {
        await duck.appendNumbers(topic, [...numbers, ...texts], order);
        await this.#files.write(
          { topic, hourMs },
          { rows: order.length, write: (path) => duck.run(copyTo(path, placesAsWritten(topic))) },
        );
        await duck.run(`TRUNCATE ${topic}`);
        this.#recorded[topic] += order.length;
        written++;
      }
    } finally {
      rows.keepOnly(hours.slice(written));
      await duck.run(`TRUNCATE ${topic}; TRUNCATE names`).catch(() => undefined);
    }
  }

  async #flushEvents(topic: EventTopic, duck: Duck): Promise<void> {
    const byHour = Map.groupBy(this.#events[topic], ({ timeMs }) => hourOf(timeMs));
    try {
      for (const [hourMs, rows] of byHour) {
        await duck.appendRows(
          topic,
          COLUMNS[topic],
          rows.map(({ values }) => values),
        );
        await this.#files.write(
          { topic, hourMs },
          { rows: rows.length, write: (path) => duck.run(copyTo(path, inOrder(topic, topic))) },
        );
        await duck.run(`TRUNCATE ${topic}`);
        this.#recorded[topic] += rows.length;
        byHour.delete(hourMs);
      }
    } finally {
      this.#events[topic] = [...byHour.values()].flat();
      await duck.run(`TRUNCATE ${topic}`).catch(() => undefined);
    }
  }

  /** Merges, and removes what is not to be kept. Never rejects. */
  async #tidy(): Promise<void> {
    const nowMs = this.#deps.now();
    for (const [lease, sinceMs] of this.#leasedAt) if (nowMs - sinceMs > LEASE_MS) this.release(lease);
    try {
      const duck = await this.#open();
      for (const files of mergeable(this.#files.all, nowMs)) await this.#merge(files, duck);
    } catch (error) {
      if (this.#problem === undefined)
        this.#notice('Files of the history cannot be merged', { error: messageOf(error) });
    }
    const { retentionMs, bytesMax } = this.#settings;
    for (const hourMs of expiredHours(this.#files.all, { nowMs, retentionMs, bytesMax }))
      this.#files.removeHour(hourMs);
    this.#tellState();
  }

  async #merge(files: readonly HistoryFile[], duck: Duck): Promise<void> {
    const [{ topic, hourMs }] = files as [HistoryFile];
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    const paths = files.map(({ path }) => sqlText(path)).join();
    const sql = inOrder(topic, `read_parquet([${paths}], hive_partitioning = false)`);
    await this.#files.write({ topic, hourMs }, { rows, of: files, write: (path) => duck.run(copyTo(path, sql)) });
  }

  #waiting(topic: HistoryTopic): number {
    return topic === 'locations' || topic === 'motions' ? this.#places[topic].count : this.#events[topic].length;
  }

  #tellState(): void {
    const topics = Object.fromEntries(
      HISTORY_TOPICS.map((topic) => {
        const files = [...this.#files.all].filter((file) => file.topic === topic);
        return [
          topic,
          {
            recorded: this.#recorded[topic],
            dropped: this.#dropped[topic],
            waiting: this.#waiting(topic),
            rows: files.reduce((sum, { rows }) => sum + rows, 0),
            files: files.length,
            bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
          },
        ];
      }),
    ) as RecorderState['topics'];
    let oldestMs: number | undefined;
    for (const { hourMs } of this.#files.all) if (oldestMs === undefined || hourMs < oldestMs) oldestMs = hourMs;
    this.#deps.tell({
      say: 'state',
      state: { problem: this.#problem, damaged: this.#files.damagedCount, oldestMs, topics },
    });
  }

  #notice(text: string, facts: object, isGood = false): void {
    this.#deps.tell({ say: 'notice', text, facts, isGood });
  }
}

function countsOf(): Record<HistoryTopic, number> {
  return { locations: 0, motions: 0, fence_events: 0, collision_events: 0 };
}

/** The properties of a location as JSON, from its members without braces. */
function propertiesOf({ members }: PlaceTexts): string {
  const { properties } = parseJson(`{${members}}`) as { readonly properties?: unknown };
  return properties == null ? '' : JSON.stringify(properties);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
