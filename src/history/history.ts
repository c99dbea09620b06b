import { Worker } from 'node:worker_threads';
import type { PackedPositions, PositionTopic } from '../core/history_rows.ts';
import type { DeliveryBatch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { look } from '../model/borrowed.ts';
import {
  HISTORY_TOPICS,
  type HistoryHealth,
  type HistoryTopic,
  recordedSince,
  type TopicState,
} from '../model/history.ts';
import { formatTime } from '../model/time.ts';
import type { FilterFields } from '../model/topics.ts';
import type { EventTopic } from './event_rows.ts';
import type { Erased, Erasure } from './erasure.ts';
import { hashOf, LONG_PROPERTIES } from './fence_properties.ts';
import type { FilesWanted, LeasedFiles } from './files.ts';
import type { FromRecorder, RecorderSettings, RecorderState, ToRecorder } from './messages.ts';
import { PositionBlocks } from './position_blocks.ts';
import { ended } from './thread_end.ts';

export interface HistoryDeps {
  readonly fanout: Pick<Fanout, 'listen'>;
  /** Whether this hub records the events of an entity that all hubs of the cluster publish. */
  announces(id: string): boolean;
  /** Wall-clock time. */
  now(): number;
  /** Properties of a fence, if it has any. */
  fenceProperties(id: string): object | undefined;
  /** Makes a shard restart the numbering of names in its records. */
  forgetNames(shard: number): void;
  schedule(delayMs: number, callback: () => void): () => void;
  readonly log: { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
}

const RECORDER_WORKER = new URL('../../workers/history.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
/** Delay before a partly filled block is sent. */
const GATHER_MS = 100;
/** Maximum number of bytes of events that the thread has not accepted. A character takes at most two. */
const [EVENT_BYTES_MAX, CHARACTER_BYTES] = [64 << 20, 2] as const;
/** Interval in which long properties are sent again, so that the thread does not remove their file. */
const PROPERTIES_AGAIN_MS = 600_000;
/** Maximum number of long properties tracked as sent. */
const SENT_MAX = 10_000;
/** Delay before a failed thread is replaced. */
const RESTART_MS = 1000;
/** Maximum time to write buffered rows, and to stop after that. */
const [CLOSE_MS, END_MS] = [15_000, 2000] as const;

const NOTHING: TopicState = { recorded: 0, dropped: 0, tooOld: 0, waiting: 0, rows: 0, files: 0, bytes: 0 };

/**
 * Main-thread side of the history: passes positions recorded by shards and published events to the recorder's thread
 * (recorder.ts). The hub never waits for the thread: rows that it does not accept in time are dropped and counted.
 */
export class History {
  readonly settings: RecorderSettings;
  readonly #deps: HistoryDeps;
  readonly #blocks: PositionBlocks;
  readonly #ends: (() => void)[] = [];
  readonly #asked = new Map<number, { resolve(answer: LeasedFiles | Erased): void; reject(error: Error): void }>();
  /** Events sent to the current thread. */
  readonly #sentEvents: Record<EventTopic, number> = { fence_events: 0, collision_events: 0 };
  readonly #droppedEvents: Record<EventTopic, number> = { fence_events: 0, collision_events: 0 };
  #worker: Worker | undefined;
  #state: RecorderState | undefined;
  /** Counters of failed threads. */
  #before: Partial<Record<HistoryTopic, Pick<TopicState, 'recorded' | 'dropped' | 'tooOld'>>> = {};
  #eventBytes = 0;
  /** Hashes of long properties of fences; an empty string for short properties. */
  readonly #hashes = new WeakMap<object, string>();
  /** Times when long properties were sent to the current thread, by hash. */
  readonly #sentProperties = new Map<string, number>();
  #lastAsked = 0;
  #gathering: (() => void) | undefined;
  #restarting: (() => void) | undefined;
  #closed: (() => void) | undefined;

  constructor(settings: RecorderSettings, deps: HistoryDeps) {
    this.settings = settings;
    this.#deps = deps;
    this.#blocks = new PositionBlocks((block, memory, bytes) => this.#post({ say: 'places', block, memory, bytes }));
    for (const topic of ['fence_events', 'collision_events'] as const) {
      if (!settings.topics.includes(topic)) continue;
      const receive = (batch: DeliveryBatch, fields: readonly FilterFields[], how: string): void => {
        if (how === 'announced' && !deps.announces(String(fields[0]?.[0]))) return;
        this.#event(topic, batch, fields);
      };
      const view = { crs: 'EPSG:4326', ...(topic === 'fence_events' && { propertiesMax: LONG_PROPERTIES }) };
      this.#ends.push(deps.fanout.listen({ receive }, { topic, view }));
    }
  }

  start(): void {
    const worker = new Worker(RECORDER_WORKER, { name: 'history', workerData: this.settings, resourceLimits: HEAP_MB });
    this.#worker = worker;
    this.#blocks.begin();
    worker.on('message', (message: FromRecorder) => this.#receive(message));
    worker.on('error', (error) =>
      this.#deps.log.warn('The thread of the history has failed', { error: String(error) }),
    );
    worker.on('exit', () => this.#ended());
  }

  /** Buffers the positions of a shard's step. hot: once per batch. */
  readonly take = (shard: number, places: PackedPositions): void => {
    this.#blocks.add(shard, look(places.bytes), places.counts);
    this.#gathering ??= this.#deps.schedule(GATHER_MS, () => this.#offer());
  };

  /**
   * Leases the files of some topics and hours, with all rows received so far. Rejects if rows cannot be written now.
   */
  files(wanted: FilesWanted): Promise<LeasedFiles> {
    return this.#ask((id) => ({ say: 'files', id, wanted }));
  }

  /**
   * Erases rows of an object, also those received so far that are in no file yet. Rejects if that fails; if it had
   * begun, the thread retries it.
   */
  erase(erasure: Erasure): Promise<Erased> {
    return this.#ask((id) => ({ say: 'erase', id, erasure }));
  }

  release(lease: number): void {
    this.#post({ say: 'release', lease });
  }

  /** Reports an unreadable file. */
  damaged(path: string, why: string): void {
    this.#post({ say: 'damaged', path, why });
  }

  /** Returns the counters of a topic since the start of the hub. */
  counts(topic: HistoryTopic): TopicState {
    const now = this.#state?.topics[topic] ?? NOTHING;
    const before = this.#before[topic] ?? NOTHING;
    const here = isOfPlaces(topic) ? this.#blocks.dropped[topic] : this.#droppedEvents[topic];
    return {
      ...now,
      recorded: before.recorded + now.recorded,
      dropped: before.dropped + now.dropped + here,
      tooOld: before.tooOld + now.tooOld,
    };
  }

  /** Returns the earliest recorded time; -Infinity if history is retained forever. */
  recordedSince(): number {
    return recordedSince({ nowMs: this.#deps.now(), retentionMs: this.settings.retentionMs });
  }

  get isFailing(): boolean {
    return this.#problem !== undefined;
  }

  get damagedFiles(): number {
    return this.#state?.damaged ?? 0;
  }

  health(): HistoryHealth {
    const problem = this.#problem;
    const { oldestMs } = this.#state ?? {};
    const sinceMs = this.recordedSince();
    return {
      enabled: true,
      state: problem === undefined ? 'ok' : 'failing',
      ...(problem !== undefined && { problem }),
      ...(Number.isFinite(sinceMs) && { recorded_since: formatTime(sinceMs) }),
      ...(oldestMs !== undefined && { oldest: formatTime(oldestMs) }),
      damaged_files: this.damagedFiles,
      topics: HISTORY_TOPICS.filter((topic) => this.settings.topics.includes(topic)).map((topic) => {
        const { tooOld, ...counts } = this.counts(topic);
        return { topic, ...counts, too_old: tooOld };
      }),
    };
  }

  /** Writes buffered rows, and stops the thread. Never rejects. */
  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    this.#restarting?.();
    this.#gathering?.();
    this.#blocks.flush();
    const worker = this.#worker;
    if (worker === undefined) return;
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#post({ say: 'close' });
    const call = this.#deps.schedule(CLOSE_MS, () => this.#closed?.());
    await closed;
    call();
    await ended(worker, { patienceMs: END_MS, schedule: this.#deps.schedule });
  }

  get #problem(): string | undefined {
    return this.#worker === undefined ? 'its thread is being restarted' : this.#state?.problem;
  }

  #event(topic: EventTopic, batch: DeliveryBatch, fields: readonly FilterFields[]): void {
    const { strings: texts } = batch;
    const isFence = topic === 'fence_events';
    const properties = texts.map((_, i) => (isFence ? this.#longProperties(String(fields[i]?.[0])) : undefined));
    const bytes = CHARACTER_BYTES * texts.reduce((sum, { length }) => sum + length, 0);
    if (this.#worker === undefined || this.#eventBytes + bytes > EVENT_BYTES_MAX) {
      this.#droppedEvents[topic] += texts.length;
      return;
    }
    this.#eventBytes += bytes;
    this.#sentEvents[topic] += texts.length;
    this.#post({ say: 'events', topic, texts, properties, bytes });
  }

  /** If the properties of a fence are too long for its events, sends them to the thread and returns their hash. */
  #longProperties(fenceId: string): string | undefined {
    const properties = this.#deps.fenceProperties(fenceId);
    if (properties === undefined) return undefined;
    let known = this.#hashes.get(properties);
    if (known === undefined) {
      const json = JSON.stringify(properties);
      known = json.length > LONG_PROPERTIES ? hashOf(json) : '';
      this.#hashes.set(properties, known);
    }
    if (known === '') return undefined;
    const nowMs = this.#deps.now();
    if (nowMs - (this.#sentProperties.get(known) ?? Number.NEGATIVE_INFINITY) < PROPERTIES_AGAIN_MS) return known;
    const json = JSON.stringify(properties);
    const bytes = CHARACTER_BYTES * json.length;
    if (this.#worker === undefined || this.#eventBytes + bytes > EVENT_BYTES_MAX) return known;
    this.#eventBytes += bytes;
    this.#post({ say: 'fenceProperties', hash: known, json, bytes });
    this.#sentProperties.delete(known);
    this.#sentProperties.set(known, nowMs);
    if (this.#sentProperties.size > SENT_MAX)
      this.#sentProperties.delete([...this.#sentProperties.keys()][0] as string);
    return known;
  }

  /** Sends a request after all rows received so far. */
  #ask<Answer extends LeasedFiles | Erased>(request: (id: number) => ToRecorder): Promise<Answer> {
    this.#blocks.flush();
    return new Promise((resolve, reject) => {
      if (this.#worker === undefined) return reject(new Error('The thread of the history is being restarted'));
      const id = ++this.#lastAsked;
      this.#asked.set(id, { resolve: resolve as (answer: LeasedFiles | Erased) => void, reject });
      this.#post(request(id));
    });
  }

  #post(message: ToRecorder): void {
    this.#worker?.postMessage(message);
  }

  #receive(message: FromRecorder): void {
    switch (message.say) {
      case 'taken':
        this.#blocks.taken(message.block);
        return;
      case 'namesMissing':
        this.#deps.forgetNames(message.shard);
        return;
      case 'eventsTaken':
        this.#eventBytes -= message.bytes;
        return;
      case 'files':
        this.#answer(message.id)?.resolve(message.leased);
        return;
      case 'erased':
        this.#answer(message.id)?.resolve(message.erased);
        return;
      case 'failed':
        this.#answer(message.id)?.reject(new Error(message.why));
        return;
      case 'state':
        this.#state = message.state;
        return;
      case 'notice':
        this.#deps.log[message.isGood ? 'info' : 'warn'](message.text, message.facts);
        return;
      case 'closed':
        this.#closed?.();
        return;
    }
  }

  #offer(): void {
    this.#gathering = this.#blocks.offer() ? undefined : this.#deps.schedule(GATHER_MS, () => this.#offer());
  }

  /** Returns the number of rows sent to the current thread. */
  #sent(topic: HistoryTopic): number {
    return isOfPlaces(topic) ? this.#blocks.sent[topic] : this.#sentEvents[topic];
  }

  #leftOut(topic: HistoryTopic): number {
    return (isOfPlaces(topic) && this.#state?.leftOut[topic]) || 0;
  }

  #answer(id: number) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }

  /** Handles the exit of the thread, whose unwritten rows are lost. */
  #ended(): void {
    this.#worker = undefined;
    this.#closed?.();
    for (const { reject } of this.#asked.values()) reject(new Error('The thread of the history has failed'));
    this.#asked.clear();
    if (this.#closed !== undefined) return;
    for (const topic of HISTORY_TOPICS) {
      const { recorded, tooOld } = this.#state?.topics[topic] ?? NOTHING;
      const before = this.#before[topic] ?? NOTHING;
      this.#before[topic] = {
        recorded: before.recorded + recorded,
        dropped: before.dropped + this.#sent(topic) - recorded - tooOld - this.#leftOut(topic),
        tooOld: before.tooOld + tooOld,
      };
    }
    this.#sentEvents.fence_events = 0;
    this.#sentEvents.collision_events = 0;
    this.#state = undefined;
    this.#eventBytes = 0;
    this.#sentProperties.clear();
    this.#restarting = this.#deps.schedule(RESTART_MS, () => this.start());
  }
}

function isOfPlaces(topic: HistoryTopic): topic is PositionTopic {
  return topic === 'locations' || topic === 'motions';
}
