import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { geodesicMeters } from '../core/geo/geodesic.ts';
import { namesIn, type PositionSection, type PositionTopic, sectionsIn } from '../core/history_rows.ts';
import { HISTORY_TOPICS, type HistoryTopic, recordedSince } from '../model/history.ts';
import { parseJson } from '../model/json.ts';
import {
  COLUMNS,
  copyQuicklyTo,
  copyTo,
  eventTable,
  inOrder,
  PROPERTIES_TABLE,
  placesAsWritten,
  sqlText,
} from './columns.ts';
import { damagedAmong, parquet } from './damaged.ts';
import { Duck, ROWS_TO_WRITE } from './duck.ts';
import { type EventRow, type EventTopic, eventRow } from './event_rows.ts';
import { referenceTo, storeFenceProperties, tidyFenceProperties } from './fence_properties.ts';
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
import { ShardNames } from './names.ts';
import { stepsIn } from './place_blocks.ts';
import { type PlaceMemory, PlaceRows, placeMemory, rowsSince, Thinning } from './place_rows.ts';

export interface RecorderDeps {
  /** The time of day. */
  now(): number;
  /** Time that has passed since some moment, in milliseconds, whatever the clock was set to. */
  elapsed(): number;
  tell(message: FromRecorder): void;
  /** Calls back at every interval; returns how to call it off. */
  every(intervalMs: number, callback: () => void): () => void;
  /** What places of a topic that wait may take; 256 MiB when left out. */
  readonly waitingBytesMax?: number;
}

/** Places of a topic that wait take no more; then later ones are dropped. */
const WAITING_BYTES_MAX = 256 << 20;
/** Characters of the events of a topic that wait. */
const EVENT_CHARACTERS_MAX = 16 << 20;
/** So many are written at once, whatever the interval. */
const FLUSH_ROWS = 500_000;
/** Rows of a new file at most. */
const FILE_ROWS = 1_000_000;
const EVENTS_FLUSH_MS = 1000;
/**
 * Of DuckDB, which sorts a merge within it and spills the rest: merges of 24 files with 50,000 rows each take the process from
 * 160 to 390 MB with 192, and to 590 MB with 512, in the same time.
 */
const MEMORY_MB = 192;
const TIDY_MS = 30_000;
/** Whoever has files and died, or forgot them, has them for so long. */
const LEASE_MS = 600_000;
const SPILL = '.spill';
/** A clock is wrong that is set further ahead at once, until a day has gone by. */
const [AHEAD_MS, DAY_MS] = [3_600_000, 86_400_000] as const;

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
  /** Those that come, and those that are being written, or could not be written. */
  readonly #coming: Record<PositionTopic, PlaceRows> = { locations: new PlaceRows(), motions: new PlaceRows() };
  readonly #leaving: Record<PositionTopic, PlaceRows> = { locations: new PlaceRows(), motions: new PlaceRows() };
  /** By the number of their shard. */
  readonly #names = new Map<number, ShardNames>();
  readonly #events: Record<EventTopic, EventRow[]> = { fence_events: [], collision_events: [] };
  /** In the texts of those. */
  readonly #eventCharacters: Record<EventTopic, number> = { fence_events: 0, collision_events: 0 };
  readonly #thinning: Readonly<Record<PositionTopic, Thinning | undefined>>;
  readonly #recorded = countsOf();
  readonly #dropped = countsOf();
  readonly #tooOld = countsOf();
  /** `#tooOld` of all topics at the last tidy; undefined while nothing that is too old arrives. */
  #tooOldBefore: number | undefined;
  readonly #leftOut: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  readonly #timers: (() => void)[] = [];
  readonly #leasedAt = new Map<number, number>();
  #duck: Duck | undefined;
  /** What is under way, and all that waits for it. */
  #turn: Promise<void> = Promise.resolve();
  #problem: string | undefined;
  #flushDue = false;
  #mergesFail = false;
  #isEnding = false;
  #lastTime: { readonly nowMs: number; readonly elapsedMs: number } | undefined;
  #trustedFromMs = 0;

  constructor(settings: RecorderSettings, deps: RecorderDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#files = new HistoryFiles(settings.folder);
    const { minIntervalMs, minDistanceMetres } = settings;
    const isThinned = minIntervalMs > 0 || minDistanceMetres > 0;
    const thinning = () =>
      isThinned ? new Thinning({ minIntervalMs, minDistanceMetres, metres: geodesicMeters }) : undefined;
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
    void this.#inTurn(() => this.#begin());
  }

  /** Takes places of steps, as they lie in a block (place_blocks.ts). */
  // hot
  places(bytes: Uint8Array): void {
    const memory = placeMemory(bytes);
    for (const { shard, from, to } of stepsIn(memory.words, bytes.byteLength)) {
      const said = namesIn(memory.words, from);
      const names = this.#namesOf(shard, said.before);
      names?.add(memory, said);
      for (const section of sectionsIn(memory.words, said.to, to)) {
        if (names === undefined) this.#dropped[section.topic] += section.count;
        else this.#take(memory, section, names);
      }
    }
    // What cannot be written is tried again at its time, and no sooner.
    if (this.#flushDue || this.#problem !== undefined) return;
    if (this.#coming.locations.count < FLUSH_ROWS && this.#coming.motions.count < FLUSH_ROWS) return;
    this.#flushDue = true;
    this.#flushSoon(['locations', 'motions']);
  }

  /** Takes events as they were published. */
  events(topic: EventTopic, texts: readonly string[], properties: readonly (string | undefined)[] = []): void {
    const rows = this.#events[topic];
    const sinceMs = this.#recordedSince(this.#deps.now());
    for (const [i, text] of texts.entries()) {
      if (this.#eventCharacters[topic] + text.length > EVENT_CHARACTERS_MAX) {
        this.#dropped[topic]++;
        continue;
      }
      const hash = properties[i];
      const row = eventRow(topic, text, hash && referenceTo(hash));
      if (row.timeMs < sinceMs) {
        this.#countTooOld(topic, 1);
        continue;
      }
      this.#eventCharacters[topic] += charactersOf(row);
      rows.push(row);
    }
  }

  /** Stores long properties that events refer to. What cannot be stored now is sent again. */
  fenceProperties(hash: string, json: string): void {
    try {
      storeFenceProperties(this.#settings.folder, { hash, json, nowMs: this.#deps.now() });
    } catch (error) {
      this.#failed(error);
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
      this.#leasedAt.set(leased.lease, this.#deps.elapsed());
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
    if (!this.#files.damaged(path)) return;
    this.#noticeDamaged(path, why);
    this.#tellState();
  }

  /** Writes what waits, and ends. */
  async close(): Promise<void> {
    this.#isEnding = true;
    for (const stop of this.#timers.splice(0)) stop();
    await this.#inTurn(() => this.#flushAll(HISTORY_TOPICS)).catch(() => undefined);
    this.#tellState();
    this.#duck?.close();
    this.#duck = undefined;
    rmSync(join(this.#settings.folder, SPILL), { recursive: true, force: true });
  }

  /** The names of a shard that has said so many; undefined when some of them were not heard here. */
  #namesOf(shard: number, before: number): ShardNames | undefined {
    if (before === 0) this.#names.set(shard, new ShardNames());
    const names = this.#names.get(shard);
    if (names?.count === before) return names;
    this.#names.delete(shard);
    this.#deps.tell({ say: 'namesMissing', shard });
    return undefined;
  }

  #take(memory: PlaceMemory, section: PositionSection, names: ShardNames): void {
    const { topic, count } = section;
    const coming = this.#coming[topic];
    const { waitingBytesMax = WAITING_BYTES_MAX } = this.#deps;
    if (coming.bytes + this.#leaving[topic].bytes >= waitingBytesMax) {
      this.#dropped[topic] += count;
      return;
    }
    // What is too old is counted as such, whatever thinning would do with it.
    const recent = rowsSince(memory, section, this.#recordedSince(this.#deps.now()));
    const recentCount = recent?.length ?? count;
    this.#countTooOld(topic, count - recentCount);
    const rows = this.#thinning[topic]?.kept(memory, section, { names, rows: recent }) ?? recent;
    this.#leftOut[topic] += recentCount - (rows?.length ?? count);
    if (rows?.length !== 0) coming.add(memory, section, { names, properties: propertiesOf, rows });
  }

  /** The earliest time that is recorded: what is older would be deleted at once. */
  #recordedSince(nowMs: number): number {
    const { retentionMs } = this.#settings;
    return this.#trusts(nowMs) ? recordedSince({ nowMs, retentionMs }) : Number.NEGATIVE_INFINITY;
  }

  /** Counts rows that are too old, and warns at the first of a run of them. */
  #countTooOld(topic: HistoryTopic, count: number): void {
    if (count === 0) return;
    this.#tooOld[topic] += count;
    if (this.#tooOldBefore !== undefined) return;
    this.#tooOldBefore = 0;
    const days = this.#settings.retentionMs / DAY_MS;
    this.#notice(`Data is not recorded that is older than ${days} days (history_retention_days)`, { topic, count });
  }

  /** Ends the run of rows that are too old if none came since the last tidy: the next one is warned of again. */
  #tidyTooOld(): void {
    const all = Object.values(this.#tooOld).reduce((sum, count) => sum + count, 0);
    this.#tooOldBefore = this.#tooOldBefore === undefined || this.#tooOldBefore === all ? undefined : all;
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

  /** Opens the folder, once. Rejects where it cannot be used. */
  async #open(): Promise<Duck> {
    if (this.#duck !== undefined) return this.#duck;
    const spillFolder = join(this.#settings.folder, SPILL);
    // What a hub has left that died.
    rmSync(spillFolder, { recursive: true, force: true });
    mkdirSync(spillFolder, { recursive: true, mode: 0o700 });
    const duck = await Duck.open({ memoryMb: MEMORY_MB, spillFolder });
    try {
      const rowsOf = async (path: string): Promise<number> => {
        const [row] = await duck.rows(`SELECT num_rows FROM parquet_file_metadata(${sqlText(path)})`);
        return Number(row?.num_rows);
      };
      await this.#files.open(rowsOf, (path, why) => this.#noticeDamaged(path, messageOf(why)));
      for (const topic of ['fence_events', 'collision_events'] as const) await duck.run(eventTable(topic));
      await duck.run(PROPERTIES_TABLE);
    } catch (error) {
      duck.close();
      throw error;
    }
    this.#duck = duck;
    return duck;
  }

  /** Opens the folder before there is anything to write. Never rejects. */
  async #begin(): Promise<void> {
    try {
      await this.#open();
      this.#worked();
    } catch (error) {
      this.#failed(error);
    }
    this.#tellState();
  }

  /** Writes the rows of a topic. Those that cannot be written stay. Never rejects. */
  async #flush(topic: HistoryTopic): Promise<void> {
    if (this.#waiting(topic) === 0) return;
    try {
      const duck = await this.#open();
      if (topic === 'locations' || topic === 'motions') await this.#flushPlaces(topic, duck);
      else await this.#flushEvents(topic, duck);
      this.#worked();
    } catch (error) {
      this.#failed(error);
    }
  }

  #worked(): void {
    if (this.#problem !== undefined) this.#notice('The history is written again', {}, true);
    this.#problem = undefined;
  }

  #failed(error: unknown): void {
    const why = messageOf(error);
    if (this.#problem === undefined) this.#notice('The history cannot be written', { error: why });
    this.#problem = why;
  }

  async #flushPlaces(topic: PositionTopic, duck: Duck): Promise<void> {
    await this.#writeLeaving(topic, duck);
    [this.#coming[topic], this.#leaving[topic]] = [this.#leaving[topic], this.#coming[topic]];
    await this.#writeLeaving(topic, duck);
  }

  async #writeLeaving(topic: PositionTopic, duck: Duck): Promise<void> {
    const rows = this.#leaving[topic];
    if (rows.count === 0) return;
    const columns = rows.columns();
    const hours = rows.byHour(FILE_ROWS);
    const copy = (path: string) =>
      copyQuicklyTo(
        path,
        placesAsWritten(
          `${ROWS_TO_WRITE}()`,
          columns.map(({ name }) => name),
        ),
      );
    let written = 0;
    try {
      await duck.appendTexts('properties', rows.properties);
      for (const { hourMs, order } of hours) {
        const all = { columns, names: rows.names, order };
        await this.#files.write(
          { topic, hourMs },
          { rows: order.length, write: (path) => duck.runWith(all, copy(path)) },
        );
        this.#recorded[topic] += order.length;
        written++;
      }
    } finally {
      rows.keepOnly(hours.slice(written));
      await duck.run('TRUNCATE properties').catch(() => undefined);
    }
  }

  async #flushEvents(topic: EventTopic, duck: Duck): Promise<void> {
    const taken = this.#events[topic].splice(0);
    const byHour = Map.groupBy(taken, ({ timeMs }) => hourOf(timeMs));
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
        this.#recorded[topic] += rows.length;
        byHour.delete(hourMs);
        await duck.run(`TRUNCATE ${topic}`);
      }
    } finally {
      // Others have come meanwhile.
      if (byHour.size > 0) this.#events[topic] = [...[...byHour.values()].flat(), ...this.#events[topic]];
      this.#eventCharacters[topic] = this.#events[topic].reduce((sum, row) => sum + charactersOf(row), 0);
      await duck.run(`TRUNCATE ${topic}`).catch(() => undefined);
    }
  }

  /** Removes what is not to be kept, and merges. Never rejects. */
  async #tidy(): Promise<void> {
    const nowMs = this.#deps.now();
    const elapsedMs = this.#deps.elapsed();
    for (const [lease, sinceMs] of this.#leasedAt) if (elapsedMs - sinceMs > LEASE_MS) this.release(lease);
    if (this.#duck === undefined) await this.#begin();
    this.#tidyTooOld();
    const { retentionMs, bytesMax } = this.#settings;
    const keptMs = this.#trusts(nowMs) ? retentionMs : Number.POSITIVE_INFINITY;
    for (const hourMs of expiredHours(this.#files.onDisk, { nowMs, retentionMs: keptMs, bytesMax }))
      this.#files.removeHour(hourMs);
    this.#tidyProperties(nowMs);
    // One at a time: what comes meanwhile is written in between.
    for (const files of mergeable(this.#files.all, nowMs)) void this.#inTurn(() => this.#merge(files));
    this.#tellState();
  }

  #tidyProperties(nowMs: number): void {
    try {
      tidyFenceProperties(this.#settings.folder, this.#recordedSince(nowMs));
    } catch {
      // There is no such folder, or it is as unusable as that of the history, which is told.
    }
  }

  /** Makes one file of some, unless they have changed since. Never rejects. */
  async #merge(files: readonly HistoryFile[]): Promise<void> {
    const duck = this.#duck;
    if (duck === undefined || this.#isEnding || !files.every((file) => this.#files.has(file))) return;
    const [{ topic, hourMs }] = files as [HistoryFile];
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    const sql = inOrder(topic, parquet(files));
    try {
      await this.#files.write({ topic, hourMs }, { rows, of: files, write: (path) => duck.run(copyTo(path, sql)) });
      this.#mergesFail = false;
    } catch (error) {
      const damaged = await damagedAmong(duck, files);
      for (const { path, why } of damaged) this.damaged(path, why);
      if (damaged.length > 0 || this.#mergesFail || this.#problem !== undefined) return;
      this.#mergesFail = true;
      this.#notice('Files of the history cannot be merged', { error: messageOf(error) });
    }
  }

  /**
   * Whether the clock tells how old something is. One that was set far ahead may be wrong, and what it has removed does not
   * come back: for a day nothing gets too old.
   */
  #trusts(nowMs: number): boolean {
    if (!Number.isFinite(this.#settings.retentionMs)) return true;
    const elapsedMs = this.#deps.elapsed();
    const last = this.#lastTime;
    this.#lastTime = { nowMs, elapsedMs };
    if (last !== undefined && nowMs - last.nowMs - (elapsedMs - last.elapsedMs) > AHEAD_MS) {
      this.#trustedFromMs = elapsedMs + DAY_MS;
      this.#notice('The clock was set ahead: the history removes nothing by its age for a day', {});
    }
    return elapsedMs >= this.#trustedFromMs;
  }

  #waiting(topic: HistoryTopic): number {
    if (topic !== 'locations' && topic !== 'motions') return this.#events[topic].length;
    return this.#coming[topic].count + this.#leaving[topic].count;
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
            tooOld: this.#tooOld[topic],
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
      state: {
        problem: this.#problem,
        damaged: this.#files.damagedCount,
        oldestMs,
        topics,
        leftOut: { ...this.#leftOut },
      },
    });
  }

  #noticeDamaged(path: string, why: string): void {
    this.#notice('A file of the history cannot be read, and is left out', { path, error: why });
  }

  #notice(text: string, facts: object, isGood = false): void {
    this.#deps.tell({ say: 'notice', text, facts, isGood });
  }
}

/** Characters that a row of an event holds. */
function charactersOf({ values }: EventRow): number {
  return Object.values(values).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
}

function countsOf(): Record<HistoryTopic, number> {
  return { locations: 0, motions: 0, fence_events: 0, collision_events: 0 };
}

/** The properties of a location as JSON, from its members without braces. */
function propertiesOf(members: string): string {
  const { properties } = parseJson(`{${members}}`) as { readonly properties?: unknown };
  return properties == null ? '' : JSON.stringify(properties);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
