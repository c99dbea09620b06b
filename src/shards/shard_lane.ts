import type { AcceptedLocation } from '../core/location/accepted.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import { hubError } from '../errors.ts';
import { Lane, type LaneDriver, type BatchGate } from '../lane/lane.ts';
import type { ThreadMemory } from '../lane/thread.ts';
import {
  halvesOf,
  type LaneItem,
  LocationPacker,
  lastSeqOf,
  type PackedRun,
  type LocationTimes,
  weightOf,
} from '../wire/location_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type RecoveredParts, ShardWorker, type ShardWorkerOptions } from './shard_worker.ts';

/** Maximum number of attempts to replace a worker that dies during recovery, after which its batch is lost. */
const REVIVALS_MAX = 10;
/**
 * Number of worker deaths over the same item after which it is dropped. Unrelated kills are unlikely to hit the same
 * item as often.
 */
const DEATHS_MAX = 3;

/**
 * Idle time after which a worker frees memory, and the number of items since it last did. Freeing blocks the worker for
 * up to 100 ms, so it must not follow each short pause.
 */
const REST_AFTER_MS = 15_000;
const REST_AFTER_ITEMS = 10_000;

/** Functions and settings that a shard lane needs. */
export interface ShardLaneOptions extends ShardWorkerOptions {
  readonly capacity: number;
  readonly batchMax: number;
  /** See LaneOptions. */
  readonly pace?: BatchGate | undefined;
  /** Processes the outcome of a batch. `settled` also waits for the promise. */
  outcome(reply: ShardReply): Promise<void> | undefined;
  /** Reports an item that was dropped because it makes the worker fail repeatedly. */
  lost(item: LaneItem, error: unknown): void;
  /** Reports that the worker has failed and is being restarted. */
  restarted(error: unknown): void;
}

/**
 * Lane to the worker thread of one shard. Survives a failed thread: a new worker receives the entities, the last-known
 * rows, and the changes since these rows, without publishing anything. It then has the state of its predecessor after
 * the last finished batch, including all timers. The unfinished batch runs again. If it fails again, it is bisected
 * until the failing item is isolated, and that item is dropped.
 */
export class ShardLane {
  readonly lane: Lane<LaneItem, ShardReply | undefined>;
  readonly #options: ShardLaneOptions;
  readonly #packer = new LocationPacker();
  readonly #worker: ShardWorker;
  /** Whether the worker has failed, so that its state is unreliable. */
  #hasFailed = false;
  #closed = false;
  /** Time since which a worker that has memory to free is idle. */
  #idleSinceMs: number | undefined;
  /** Number of the last finished item when the worker freed memory. */
  #restedAt = 0;
  #restDue = false;
  /** Handle of the current body's contiguous records. */
  #open: PackedRun | undefined;
  /** Work of the finished parts of the current batch. */
  #works: Promise<void>[] = [];

  constructor(options: ShardLaneOptions) {
    this.#options = options;
    this.#worker = new ShardWorker(options);
    const driver: LaneDriver<LaneItem, ShardReply | undefined> = {
      weigh: weightOf,
      run: (items) => this.#run(items),
      outcome: (reply, items) => {
        this.#packer.done(items);
        return this.#take(reply);
      },
      failure: (error) => this.#fail(error),
    };
    const { capacity, batchMax } = options;
    this.lane = new Lane(driver, { pendingMax: capacity, batchMax, runsAhead: true, pace: options.pace });
  }

  /** Adds a location. hot */
  location(location: AcceptedLocation, seq: number, times: LocationTimes): void {
    this.lane.push(this.#packer.pack(location, seq, times));
  }

  /** Adds records of a scanned body, between two offsets (see LocationPacker). Call `pass` afterwards. hot */
  scanned(body: ScannedBody, from: number, to: number, seq: number): void {
    const before = this.#open;
    const run = this.#packer.copy(body, from, to, seq, before);
    if (before !== undefined && run.seq !== before.seq) this.lane.push(before);
    this.#open = run;
  }

  /** Pushes the added records of a body. `newProviders` are its new providers in this shard. hot */
  pass(newProviders: readonly string[]): void {
    const run = this.#open;
    if (run === undefined) return;
    this.#open = undefined;
    this.lane.push(newProviders.length === 0 ? run : { ...run, newProviders });
  }

  /** Requests the rows of all objects changed so far, as soon as pending items are done. */
  flush(): void {
    const { last } = this.lane;
    if (!this.#worker.flush.isChanged && last === undefined) return;
    this.#worker.flush.flush(last === undefined ? 0 : lastSeqOf(last));
    this.lane.wake();
  }

  /**
   * Requests the rows of all objects changed so far, gradually. Call it periodically. Returns whether the next call has
   * work even if no step comes before.
   */
  flushInBackground(): boolean {
    if (!this.#worker.flush.isChanged && this.lane.last === undefined) return this.#rest();
    this.#idleSinceMs = undefined;
    this.#worker.flush.beginRound();
    this.lane.wake();
    return true;
  }

  /** Frees memory of a worker that is idle after much work. Returns whether that is still to come. */
  #rest(): boolean {
    if (this.#worker.doneTo - this.#restedAt < REST_AFTER_ITEMS) {
      this.#idleSinceMs = undefined;
      return false;
    }
    const nowMs = this.#options.now();
    this.#idleSinceMs ??= nowMs;
    if (nowMs - this.#idleSinceMs < REST_AFTER_MS) return true;
    this.#restedAt = this.#worker.doneTo;
    this.#restDue = true;
    this.lane.wake();
    return false;
  }

  /** See ShardWorker. */
  forgetNames(): void {
    this.#worker.forgetNames();
  }

  /** Terminates the worker thread immediately, like a crash. The next batch starts a new one. */
  kill(): Promise<void> {
    return this.#worker.kill();
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#worker.memory();
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#worker.close();
  }

  /**
   * Runs a batch. Returns undefined if it has failed; the outcomes of its successful parts are then processed already.
   */
  async #run(items: readonly LaneItem[]): Promise<ShardReply | undefined> {
    try {
      if (this.#restDue && !this.#hasFailed && items.length === 0) await this.#worker.rest();
      this.#restDue = false;
      if (!this.#hasFailed) return await this.#worker.step(items, this.lane.next);
    } catch (error) {
      this.#recordFailure(error);
    }
    // A worker that has thrown would throw again, so the batch is bisected at once. A worker may die for any reason.
    const isPoisoned = this.#worker.isAlive && isSeveral(items);
    await this.#runInParts(isPoisoned ? halvesOf(items) : [items]);
    // Wakes the lane, since motions of the parts may wait for the end of this batch.
    this.lane.wake();
    return undefined;
  }

  /**
   * Runs the parts of a failed batch, and bisects those that fail. A single item is dropped if the worker throws over
   * it, or has died over it several times.
   */
  async #runInParts(batch: readonly (readonly LaneItem[])[]): Promise<void> {
    await this.#revive(batch.flat());
    const parts = batch.toReversed();
    let deaths = 0;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        const reply = await this.#worker.step(part, parts.at(-1)?.[0] ?? this.lane.next);
        this.#addWork(this.#options.outcome(reply));
      } catch (error) {
        this.#recordFailure(error);
        if (isSeveral(part)) parts.push(...halvesOf(part).toReversed());
        else if (!this.#worker.isAlive && ++deaths < DEATHS_MAX) parts.push(part);
        else this.#giveUp(part, error);
        if (parts.at(-1) !== part) deaths = 0;
        await this.#revive(parts.toReversed().flat());
      }
    }
  }

  #recordFailure(error: unknown): void {
    if (this.#closed) throw error;
    this.#hasFailed = true;
    this.#options.restarted(error);
  }

  /** Replaces the worker. Throws if that fails repeatedly; then the items are lost. */
  async #revive(items: readonly LaneItem[]): Promise<void> {
    // State that makes every worker fail must not block the lane forever.
    let known: RecoveredParts = 'all';
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#worker.replace({ known, failed: (error) => this.#recordFailure(error) });
        this.#hasFailed = false;
        return;
      } catch (error) {
        this.#recordFailure(error);
        if (this.#worker.isAlive) known = known === 'all' ? 'rows' : 'nothing';
        if (attempt < REVIVALS_MAX) continue;
        this.#giveUp(items, error);
        throw error;
      }
    }
  }

  #take(reply: ShardReply | undefined): Promise<void> | undefined {
    if (reply !== undefined) this.#addWork(this.#options.outcome(reply));
    const [first, ...more] = this.#works.splice(0);
    return more.length === 0 ? first : Promise.all([first, ...more]).then(() => undefined);
  }

  #addWork(work: Promise<void> | undefined): void {
    if (work === undefined) return;
    // The failure is reported at the end of the batch.
    work.catch(() => undefined);
    this.#works.push(work);
  }

  #giveUp(items: readonly LaneItem[], error: unknown): void {
    this.#worker.giveUp(items);
    for (const item of items) this.#options.lost(item, error);
    this.#addWork(Promise.reject(hubError('worker_failed', { operation: 'process_locations' }, { cause: error })));
  }

  /** Handles a lost batch, or an outcome that the hub could not process. */
  #fail(error: unknown): void {
    this.#works = [];
    if (!this.#closed) this.#options.restarted(error);
  }
}

function isSeveral([first, ...more]: readonly LaneItem[]): boolean {
  return more.length > 0 || (first !== undefined && weightOf(first) > 1);
}
