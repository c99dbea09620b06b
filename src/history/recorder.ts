import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn, type PositionTopic, sectionsIn } from '../core/history_rows.ts';
import { HISTORY_TOPICS, type HistoryTopic, recordedSince } from '../model/history.ts';
import { copyTo, eventTable, inOrder, PROPERTIES_TABLE, sqlText } from './columns.ts';
import { damagedAmong, parquet } from './damaged.ts';
import { Duck } from './duck.ts';
import { EventBuffer } from './event_buffer.ts';
import { Eraser } from './eraser.ts';
import type { Erased, Erasure } from './erasure.ts';
import type { EventTopic } from './event_rows.ts';
import { storeFenceProperties, tidyFenceProperties } from './fence_properties.ts';
import {
  ExpiryClock,
  expiredHours,
  type FilesWanted,
  type HistoryFile,
  HistoryFiles,
  type LeasedFiles,
  mergeable,
} from './files.ts';
import type { FromRecorder, RecorderSettings } from './messages.ts';
import { ShardNames } from './names.ts';
import { stepsIn } from './position_blocks.ts';
import { positionMemory } from './position_rows.ts';
import { PositionBuffer } from './position_buffer.ts';
import { RecorderCounts } from './recorder_counts.ts';
import { messageOf } from '../errors.ts';

export interface RecorderDeps {
  /** Wall-clock time. */
  now(): number;
  /** Monotonic time in milliseconds. */
  elapsed(): number;
  post(message: FromRecorder): void;
  /** Calls `callback` at every interval. Returns a function that cancels it. */
  every(intervalMs: number, callback: () => void): () => void;
  /** Maximum number of bytes of buffered positions of a topic; 256 MiB by default. */
  readonly waitingBytesMax?: number;
}

/** Maximum bytes of a topic's buffered positions. Beyond it, further positions are dropped. */
const WAITING_BYTES_MAX = 256 << 20;
/** Number of buffered rows that triggers a write before the interval ends. */
const FLUSH_ROWS = 500_000;
const EVENTS_FLUSH_MS = 1000;
/**
 * Memory limit of DuckDB, in MB. Merges are sorted within it and spill the rest. Merging 24 files of 50,000 rows grows
 * the process from 160 to 390 MB with a limit of 192, and to 590 MB with 512, in the same time.
 */
const MEMORY_MB = 192;
const TIDY_MS = 30_000;
/** Time after which a lease expires, in case its reader crashed or failed to release it. */
const LEASE_MS = 600_000;
const SPILL = '.spill';
const DAY_MS = 86_400_000;

/**
 * Writes the history. Buffers positions and events, and periodically writes those of each hour as a Parquet file
 * (files.ts). Merges the files of an hour, and removes files beyond the retention or the size limit.
 *
 *     positions ─▶ PositionBuffer ─┐ each flushMs
 *     events ────▶ EventBuffer ────┴──▶ Duck ──▶ part-N.parquet.writing ──▶ part-N.parquet ──▶ merged ──▶ removed
 *
 * Tasks run sequentially. Rows that cannot be written are retried at the next interval; beyond the limits of the
 * buffers, rows are dropped.
 */
export class Recorder {
  readonly #settings: RecorderSettings;
  readonly #deps: RecorderDeps;
  readonly #files: HistoryFiles;
  readonly #positions: Readonly<Record<PositionTopic, PositionBuffer>>;
  readonly #events: Readonly<Record<EventTopic, EventBuffer>> = {
    fence_events: new EventBuffer('fence_events'),
    collision_events: new EventBuffer('collision_events'),
  };
  readonly #expiryClock: ExpiryClock;
  readonly #eraser: Eraser;
  /** Names by shard number. */
  readonly #names = new Map<number, ShardNames>();
  readonly #counts = new RecorderCounts();
  readonly #timers: (() => void)[] = [];
  readonly #leasedAt = new Map<number, number>();
  #duck: Duck | undefined;
  /** Resolves when the task in progress and all waiting tasks are done. */
  #turn: Promise<void> = Promise.resolve();
  #problem: string | undefined;
  #flushDue = false;
  #mergesFail = false;
  #isEnding = false;

  constructor(settings: RecorderSettings, deps: RecorderDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#files = new HistoryFiles(settings.folder);
    const options = { ...settings, bytesMax: deps.waitingBytesMax ?? WAITING_BYTES_MAX };
    this.#positions = {
      locations: new PositionBuffer('locations', options),
      motions: new PositionBuffer('motions', options),
    };
    this.#eraser = new Eraser({
      ...{ folder: settings.folder, files: this.#files },
      open: () => this.#open(),
      inTurn: (work) => this.#inTurn(work),
      damaged: (path, why) => this.damaged(path, why),
      notice: (text, facts, isGood) => this.#notice(text, facts, isGood),
    });
    this.#expiryClock = new ExpiryClock({
      elapsed: deps.elapsed,
      steppedAhead: () => this.#notice('The clock was set ahead: the history removes nothing by its age for a day', {}),
    });
  }

  /** Finds recorded files and starts recording. If the folder is not usable, it is retried at each interval. */
  start(): void {
    const { every } = this.#deps;
    const { flushMs } = this.#settings;
    this.#timers.push(
      every(flushMs, () => this.#flushSoon(['locations', 'motions'])),
      every(Math.min(EVENTS_FLUSH_MS, flushMs), () => this.#flushSoon(['fence_events', 'collision_events'])),
      every(TIDY_MS, () => void this.#inTurn(() => this.#tidy())),
    );
    void this.#inTurn(() => this.#begin()).then(() => this.#eraser.resume());
  }

  /** Adds positions of steps in a block (position_blocks.ts). */
  // hot
  places(bytes: Uint8Array): void {
    const memory = positionMemory(bytes);
    for (const { shard, from, to } of stepsIn(memory.words, bytes.byteLength)) {
      const said = namesIn(memory.words, from);
      const names = this.#namesOf(shard, said.before);
      names?.add(memory, said);
      for (const section of sectionsIn(memory.words, said.to, to)) {
        if (names === undefined) this.#counts.dropped[section.topic] += section.count;
        else {
          const sinceMs = () => this.#recordedSince(this.#deps.now());
          const omitted = this.#positions[section.topic].add(memory, section, { names, sinceMs });
          this.#counts.dropped[section.topic] += omitted.dropped;
          this.#countTooOld(section.topic, omitted.tooOld);
          this.#counts.leftOut[section.topic] += omitted.leftOut;
        }
      }
    }
    // After a failure, rows are not retried before the next interval.
    if (this.#flushDue || this.#problem !== undefined) return;
    const { locations, motions } = this.#positions;
    if (locations.arrived < FLUSH_ROWS && motions.arrived < FLUSH_ROWS) return;
    this.#flushDue = true;
    this.#flushSoon(['locations', 'motions']);
  }

  /** Adds published events. */
  events(topic: EventTopic, texts: readonly string[], properties: readonly (string | undefined)[] = []): void {
    const sinceMs = this.#recordedSince(this.#deps.now());
    for (const [i, text] of texts.entries()) {
      const added = this.#events[topic].add(text, properties[i], sinceMs);
      if (added === 'full') this.#counts.dropped[topic]++;
      else if (added === 'tooOld') this.#countTooOld(topic, 1);
    }
  }

  /** Stores long properties to which events refer. If that fails, the next time they are sent is another attempt. */
  fenceProperties(hash: string, json: string): void {
    try {
      storeFenceProperties(this.#settings.folder, { hash, json, nowMs: this.#deps.now() });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Writes buffered rows and leases the files of these hours. Rejects if rows cannot be written. */
  files(wanted: FilesWanted): Promise<LeasedFiles> {
    return this.#inTurn(async () => {
      if (wanted.asWritten === true) await this.#open();
      else await this.#writeAll(wanted.topics);
      const leased = this.#files.lease(wanted);
      this.#leasedAt.set(leased.lease, this.#deps.elapsed());
      this.#postState();
      return leased;
    });
  }

  /** Writes buffered rows, and erases rows of an object. Rejects if that fails; an erasure that has begun is retried. */
  async erase(erasure: Erasure): Promise<Erased> {
    await this.#inTurn(() => this.#open().then(() => this.#writeAll(HISTORY_TOPICS)));
    const erased = await this.#eraser.erase(erasure);
    this.#postState();
    return erased;
  }

  release(lease: number): void {
    this.#leasedAt.delete(lease);
    this.#files.release(lease);
  }

  /** Handles a reader's report of an unreadable file. */
  damaged(path: string, why: string): void {
    if (!this.#files.damaged(path)) return;
    this.#warnDamaged(path, why);
    this.#postState();
  }

  /** Writes buffered rows, and stops. */
  async close(): Promise<void> {
    this.#isEnding = true;
    this.#eraser.close();
    for (const stop of this.#timers.splice(0)) stop();
    await this.#inTurn(() => this.#flushAll(HISTORY_TOPICS)).catch(() => undefined);
    this.#postState();
    this.#duck?.close();
    this.#duck = undefined;
    rmSync(join(this.#settings.folder, SPILL), { recursive: true, force: true });
  }

  /** Returns the names of a shard that has numbered `before` of them; undefined if some were not received. */
  #namesOf(shard: number, before: number): ShardNames | undefined {
    if (before === 0) this.#names.set(shard, new ShardNames());
    const names = this.#names.get(shard);
    if (names?.count === before) return names;
    this.#names.delete(shard);
    this.#deps.post({ say: 'namesMissing', shard });
    return undefined;
  }

  /** Returns the earliest recorded time. Older rows would be deleted at once. */
  #recordedSince(nowMs: number): number {
    const { retentionMs } = this.#settings;
    return this.#trusts(nowMs) ? recordedSince({ nowMs, retentionMs }) : Number.NEGATIVE_INFINITY;
  }

  /** Counts rows that are too old, and logs a warning for the first one of a series. */
  #countTooOld(topic: HistoryTopic, count: number): void {
    if (!this.#counts.tooOld(topic, count)) return;
    const days = this.#settings.retentionMs / DAY_MS;
    this.#notice(`Data is not recorded that is older than ${days} days (history_retention_days)`, { topic, count });
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
    this.#postState();
  }

  /** Opens the folder once. Rejects if it is not usable. */
  async #open(): Promise<Duck> {
    if (this.#duck !== undefined) return this.#duck;
    const spillFolder = join(this.#settings.folder, SPILL);
    // Leftovers of a crashed hub.
    rmSync(spillFolder, { recursive: true, force: true });
    mkdirSync(spillFolder, { recursive: true, mode: 0o700 });
    const duck = await Duck.open({ memoryMb: MEMORY_MB, spillFolder });
    try {
      const rowsOf = async (path: string): Promise<number> => {
        const [row] = await duck.rows(`SELECT num_rows FROM parquet_file_metadata(${sqlText(path)})`);
        return Number(row?.num_rows);
      };
      await this.#files.open(rowsOf, (path, why) => this.#warnDamaged(path, messageOf(why)));
      for (const topic of ['fence_events', 'collision_events'] as const) await duck.run(eventTable(topic));
      await duck.run(PROPERTIES_TABLE);
    } catch (error) {
      duck.close();
      throw error;
    }
    this.#duck = duck;
    return duck;
  }

  /** Opens the folder early, before there are rows to write. Never rejects. */
  async #begin(): Promise<void> {
    try {
      await this.#open();
      this.#worked();
    } catch (error) {
      this.#failed(error);
    }
    this.#postState();
  }

  /** Writes the rows of some topics. Rejects if some cannot be written. */
  async #writeAll(topics: readonly HistoryTopic[]): Promise<void> {
    for (const topic of topics) await this.#flush(topic);
    if (this.#problem !== undefined && topics.some((topic) => this.#waiting(topic) > 0)) throw new Error(this.#problem);
  }

  /** Writes the rows of a topic. Rows that cannot be written stay in the buffer. Never rejects. */
  async #flush(topic: HistoryTopic): Promise<void> {
    if (this.#waiting(topic) === 0) return;
    try {
      const duck = await this.#open();
      await this.#bufferOf(topic).write(duck, this.#files, (count) => {
        this.#counts.recorded[topic] += count;
      });
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

  #bufferOf(topic: HistoryTopic): PositionBuffer | EventBuffer {
    return topic === 'locations' || topic === 'motions' ? this.#positions[topic] : this.#events[topic];
  }

  /** Removes expired files and merges small ones. Never rejects. */
  async #tidy(): Promise<void> {
    const nowMs = this.#deps.now();
    const elapsedMs = this.#deps.elapsed();
    for (const [lease, sinceMs] of this.#leasedAt) if (elapsedMs - sinceMs > LEASE_MS) this.release(lease);
    if (this.#duck === undefined) await this.#begin();
    this.#counts.tidy();
    const { retentionMs, bytesMax } = this.#settings;
    const keptMs = this.#trusts(nowMs) ? retentionMs : Number.POSITIVE_INFINITY;
    for (const hourMs of expiredHours(this.#files.onDisk, { nowMs, retentionMs: keptMs, bytesMax }))
      this.#files.removeHour(hourMs);
    this.#tidyProperties(nowMs);
    // Each merge is a task of its own, so that buffered rows are written in between.
    for (const files of mergeable(this.#files.all, nowMs)) void this.#inTurn(() => this.#merge(files));
    void this.#eraser.resume();
    this.#postState();
  }

  #tidyProperties(nowMs: number): void {
    try {
      tidyFenceProperties(this.#settings.folder, this.#recordedSince(nowMs));
    } catch {
      // The folder does not exist, or the history folder is unusable, which is reported elsewhere.
    }
  }

  /** Merges files, unless they have changed. Never rejects. */
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

  #trusts(nowMs: number): boolean {
    return !Number.isFinite(this.#settings.retentionMs) || this.#expiryClock.trusts(nowMs);
  }

  #waiting(topic: HistoryTopic): number {
    return this.#bufferOf(topic).waiting;
  }

  #postState(): void {
    const waiting = (topic: HistoryTopic): number => this.#waiting(topic);
    this.#deps.post({
      say: 'state',
      state: this.#counts.state({ files: this.#files, problem: this.#problem, waiting }),
    });
  }

  #warnDamaged(path: string, why: string): void {
    this.#notice('A file of the history cannot be read, and is left out', { path, error: why });
  }

  #notice(text: string, facts: object, isGood = false): void {
    this.#deps.post({ say: 'notice', text, facts, isGood });
  }
}
