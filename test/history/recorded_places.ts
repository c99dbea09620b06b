import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Fix } from '../../src/core/location/fix.ts';
import { type PositionTopic, PositionWriter } from '../../src/core/history_rows.ts';
import { sqlText } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import type { FromRecorder, RecorderSettings, RecorderState } from '../../src/history/messages.ts';
import { Recorder } from '../../src/history/recorder.ts';
import { look } from '../../src/model/borrowed.ts';
import { HISTORY_TOPICS, type HistoryTopic } from '../../src/model/history.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

export const EVERYTHING = { topics: HISTORY_TOPICS, fromMs: -1e14, toMs: 1e14 };
/** Start of an hour. */
export const NOW_MS = Date.parse('2026-03-01T10:00:00Z');

/** A recorded position. */
export interface Place {
  readonly id: string;
  readonly timeMs: number;
  readonly topic?: PositionTopic;
  readonly lon?: number;
  readonly lat?: number;
  readonly zoneId?: string;
  readonly source?: string;
  readonly members?: string;
}

/** Writer of a shard's positions. */
export function openPlaceWriter(): PositionWriter {
  return new PositionWriter({ topics: ['locations', 'motions'], withMembers: true }, newRecordBuffer);
}

/** Positions of a step in the format of a shard. */
export function placeBytes(places: readonly Place[], writer = openPlaceWriter()): Uint8Array {
  for (const place of places) {
    const { id, timeMs, topic = 'locations', lon = 8, lat = 50, zoneId, source = 'hall', members = '' } = place;
    const isLocal = zoneId !== undefined;
    const fix = {
      ...{ providerId: topic === 'motions' ? 'tag' : id, source, isLocal, zone: isLocal ? { id: zoneId } : undefined },
      text: members,
      providerNumber: 0,
      copyNumbers: (to: Float64Array, at: number) => {
        to.set([lon, lat, 0, timeMs, Number.NaN, 90, timeMs + 1, 1, 2, Number.NaN, 0.5], at);
      },
    } as unknown as Fix;
    if (topic === 'motions') writer.motion(id, fix, []);
    else writer.location(fix, []);
  }
  const taken = writer.take();
  return taken === undefined ? new Uint8Array() : look(taken.bytes).slice();
}

/** Positions of a shard's step in the format of a block. */
export function inBlock(shard: number, bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(8 + bytes.length);
  new Uint32Array(block.buffer, 0, 2).set([shard, bytes.length]);
  block.set(bytes, 8);
  return block;
}

interface BenchSettings extends Partial<RecorderSettings> {
  readonly waitingBytesMax?: number;
}

/** A recorder with a simulated clock and timers. */
export class Bench {
  readonly folder: string;
  readonly said: FromRecorder[] = [];
  readonly recorder: Recorder;
  nowMs = NOW_MS;
  elapsedMs = 0;
  readonly #timers: { readonly intervalMs: number; readonly callback: () => void }[] = [];

  constructor(context: TestContext, { waitingBytesMax, ...settings }: BenchSettings = {}) {
    const parent = temporaryFolder();
    this.folder = settings.folder ?? join(parent, 'history');
    this.recorder = new Recorder(
      {
        ...{ folder: this.folder, topics: HISTORY_TOPICS, withProperties: false, flushMs: 5000, minIntervalMs: 0 },
        ...{ retentionMs: 30 * 86_400_000, bytesMax: Number.POSITIVE_INFINITY, minDistanceMeters: 0, ...settings },
      },
      {
        now: () => this.nowMs,
        elapsed: () => this.elapsedMs,
        post: (message) => void this.said.push(message),
        every: (intervalMs, callback) => {
          this.#timers.push({ intervalMs, callback });
          return () => undefined;
        },
        ...(waitingBytesMax !== undefined && { waitingBytesMax }),
      },
    );
    context.after(async () => {
      await this.recorder.close();
    });
    this.recorder.start();
  }

  /** Advances the time, runs due timers, and waits for them. */
  async pass(ms: number): Promise<void> {
    this.nowMs += ms;
    this.elapsedMs += ms;
    for (const { intervalMs, callback } of this.#timers) if (intervalMs <= ms) callback();
    await this.done();
  }

  /** Waits for work in flight. */
  async done(): Promise<void> {
    // Work in flight may start further work.
    for (let turns = 0; turns < 8; turns++) {
      const { lease } = await this.recorder.files({ topics: [], fromMs: 0, toMs: 0 });
      this.recorder.release(lease);
    }
  }

  add(...places: readonly Place[]): void {
    this.recorder.places(inBlock(0, placeBytes(places)));
  }

  get state(): RecorderState {
    const last = this.said.findLast((message) => message.say === 'state');
    if (last === undefined) throw new Error('It has logged nothing yet');
    return last.state;
  }

  /** Its log messages. */
  get notices(): readonly string[] {
    return this.said.flatMap((message) => (message.say === 'notice' ? [message.text] : []));
  }

  /** All rows of a topic in its files. */
  rows(topic: HistoryTopic, columns = '*'): Promise<readonly Record<string, unknown>[]> {
    return rowsBelow(this.folder, topic, columns);
  }
}

/** All rows of a topic in the files of a folder, in the order of the files. */
export async function rowsBelow(
  folder: string,
  topic: HistoryTopic,
  columns = '*',
): Promise<readonly Record<string, unknown>[]> {
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  try {
    const paths = sqlText(join(folder, topic, '**/*.parquet'));
    return await duck.rows(`SELECT ${columns} FROM read_parquet(${paths}, hive_partitioning = false)`);
  } finally {
    duck.close();
  }
}
