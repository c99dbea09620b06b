import type { AcceptedLocation } from '../core/location/accepted.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import { HubError } from '../errors.ts';
import { Lane, type LaneDriver, type Pace } from '../lane/lane.ts';
import type { ThreadMemory } from '../lane/thread.ts';
import {
  halvesOf,
  type LaneItem,
  LocationPacker,
  lastSeqOf,
  type PackedRun,
  type Times,
  weightOf,
} from '../wire/location_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type Known, ShardWorker, type ShardWorkerOptions } from './shard_worker.ts';

/** A worker that dies while it is told what the last one knew is replaced as often as this, then its batch is lost. */
const REVIVALS_MAX = 10;
/** Whoever ends workers from outside hardly hits the same item as often as this. */
const DEATHS_MAX = 3;

/** How long a worker must have had nothing to do, and what it must have done before, for it to tidy up. */
const REST_AFTER_ROUNDS = 10;
const REST_AFTER_ITEMS = 10_000;

/** What a shard lane needs of the hub. */
export interface ShardLaneOptions extends ShardWorkerOptions {
  readonly capacity: number;
  readonly batchMax: number;
  /** See LaneOptions. */
  readonly pace?: Pace | undefined;
  /** Takes what a batch has brought. The promise is what `settled` waits for besides. */
  outcome(reply: ShardReply): Promise<void> | undefined;
  /** An item that makes the worker fail again and again was given up. */
  lost(item: LaneItem, error: unknown): void;
  /** The worker has failed and is started anew. */
  restarted(error: unknown): void;
}

/**
 * A lane to the worker thread of one shard, which survives the death of the thread.
 *
 * A new worker is told the entities, then the last-known rows, then the changes since these rows, none of which publishes
 * anything. By then it knows what the old one knew after its last finished batch, with all timers. The unfinished batch
 * runs again; if it fails again, it is halved until the item that makes it fail stands alone, and that one is dropped.
 */
export class ShardLane {
  readonly lane: Lane<LaneItem, ShardReply | undefined>;
  readonly #options: ShardLaneOptions;
  readonly #packer = new LocationPacker();
  readonly #worker: ShardWorker;
  /** The worker has failed: its state is not to be trusted. */
  #broken = false;
  #closed = false;
  /** Calls of flushInBackground that found nothing changed, one after the other. */
  #idleRounds = 0;
  /** The number of the last item that was done when the worker tidied up. */
  #restedAt = 0;
  #restDue = false;
  /** What it was given of a body so far, as far as it lies together. */
  #open: PackedRun | undefined;
  /** What the parts of the current batch have asked for that are done already. */
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

  /** Takes a location. hot */
  location(location: AcceptedLocation, seq: number, times: Times): void {
    this.lane.push(this.#packer.pack(location, seq, times));
  }

  /** Takes records of a body that was scanned, from one place in it to another: see LocationPacker. `pass` is still to come. hot */
  scanned(body: ScannedBody, from: number, to: number, seq: number): void {
    const before = this.#open;
    const run = this.#packer.copy(body, from, to, seq, before);
    if (before !== undefined && run.seq !== before.seq) this.lane.push(before);
    this.#open = run;
  }

  /** Passes on what it was given of a body, of whose providers these are its own, and newProviders. hot */
  pass(newProviders: readonly string[]): void {
    const run = this.#open;
    if (run === undefined) return;
    this.#open = undefined;
    this.lane.push(newProviders.length === 0 ? run : { ...run, newProviders });
  }

  /** Asks for the rows of all objects that have changed until now, as soon as that is done. */
  flush(): void {
    const { last } = this.lane;
    if (!this.#worker.flush.isChanged && last === undefined) return;
    this.#worker.flush.flush(last === undefined ? 0 : lastSeqOf(last));
    this.lane.wake();
  }

  /** Asks for the rows of all objects that have changed until now, little by little. To be called from time to time. */
  flushInBackground(): void {
    if (!this.#worker.flush.isChanged && this.lane.last === undefined) {
      this.#rest();
      return;
    }
    this.#idleRounds = 0;
    this.#worker.flush.beginRound();
    this.lane.wake();
  }

  /** A worker that has nothing to do after much work tidies up. */
  #rest(): void {
    if (++this.#idleRounds < REST_AFTER_ROUNDS || this.#worker.doneTo - this.#restedAt < REST_AFTER_ITEMS) return;
    this.#restedAt = this.#worker.doneTo;
    this.#restDue = true;
    this.lane.wake();
  }

  /** See ShardWorker. */
  forgetNames(): void {
    this.#worker.forgetNames();
  }

  /** Ends the worker thread at once, as a crash would; the next batch starts a new one. */
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

  /** Undefined when the batch has failed and what could be done of it is handed out already. */
  async #run(items: readonly LaneItem[]): Promise<ShardReply | undefined> {
    try {
      if (this.#restDue && !this.#broken && items.length === 0) await this.#worker.rest();
      this.#restDue = false;
      if (!this.#broken) return await this.#worker.step(items, this.lane.next);
    } catch (error) {
      this.#noteFailure(error);
    }
    // A worker that has died may have had any reason; one that has thrown will do so again.
    const isPoisoned = this.#worker.isAlive && isSeveral(items);
    await this.#runInParts(isPoisoned ? halvesOf(items) : [items]);
    // Motions of the parts may wait for this batch to end.
    this.lane.wake();
    return undefined;
  }

  /**
   * Runs the parts of a batch that has failed, and halves those that fail. An item alone is given up when the worker
   * throws over it, or has died over it several times.
   */
  async #runInParts(batch: readonly (readonly LaneItem[])[]): Promise<void> {
    await this.#revive(batch.flat());
    const parts = batch.toReversed();
    let deaths = 0;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        const reply = await this.#worker.step(part, parts.at(-1)?.[0] ?? this.lane.next);
        this.#keepWork(this.#options.outcome(reply));
      } catch (error) {
        this.#noteFailure(error);
        if (isSeveral(part)) parts.push(...halvesOf(part).toReversed());
        else if (!this.#worker.isAlive && ++deaths < DEATHS_MAX) parts.push(part);
        else this.#giveUp(part, error);
        if (parts.at(-1) !== part) deaths = 0;
        await this.#revive(parts.toReversed().flat());
      }
    }
  }

  #noteFailure(error: unknown): void {
    if (this.#closed) throw error;
    this.#broken = true;
    this.#options.restarted(error);
  }

  /** Replaces the worker. Throws when that fails again and again; then the items are lost. */
  async #revive(items: readonly LaneItem[]): Promise<void> {
    // Whatever makes workers fail must not keep the lane from working for ever.
    let known: Known = 'all';
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#worker.replace({ known, failed: (error) => this.#noteFailure(error) });
        this.#broken = false;
        return;
      } catch (error) {
        this.#noteFailure(error);
        if (this.#worker.isAlive) known = known === 'all' ? 'rows' : 'nothing';
        if (attempt < REVIVALS_MAX) continue;
        this.#giveUp(items, error);
        throw error;
      }
    }
  }

  #take(reply: ShardReply | undefined): Promise<void> | undefined {
    if (reply !== undefined) this.#keepWork(this.#options.outcome(reply));
    const [first, ...more] = this.#works.splice(0);
    return more.length === 0 ? first : Promise.all([first, ...more]).then(() => undefined);
  }

  #keepWork(work: Promise<void> | undefined): void {
    if (work === undefined) return;
    // Whoever waits for the batch hears of a failure when the batch ends; until then nobody listens.
    work.catch(() => undefined);
    this.#works.push(work);
  }

  #giveUp(items: readonly LaneItem[], error: unknown): void {
    this.#worker.giveUp(items);
    for (const item of items) this.#options.lost(item, error);
    this.#keepWork(Promise.reject(new HubError('HUB_INTERNAL', LOST, { cause: error })));
  }

  /** The lane has lost a batch, or the hub could not take its outcome. */
  #fail(error: unknown): void {
    this.#works = [];
    if (!this.#closed) this.#options.restarted(error);
  }
}

function isSeveral([first, ...more]: readonly LaneItem[]): boolean {
  return more.length > 0 || (first !== undefined && weightOf(first) > 1);
}

const LOST = 'Cannot process all of what was sent: it makes a worker thread fail';
