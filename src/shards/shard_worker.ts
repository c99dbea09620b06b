import type { Item, LastKnownRow } from '../core/item.ts';
import { type OpenThread, openThread, type Thread, type ThreadMemory } from '../lane/thread.ts';
import { lend } from '../model/borrowed.ts';
import type { ObjectKind } from '../model/id.ts';
import type { PackedStep } from '../wire/journal_record.ts';
import { type LaneItem, lastSeqOf } from '../wire/location_record.ts';
import { type LaneBatch, packBatch, type ShardReply, type ShardSettings, unpackShardReply } from '../wire/messages.ts';
import { FlushScheduler, type RoundWatch } from './flush_scheduler.ts';
import { StateMirror } from './state_mirror.ts';

const SHARD_WORKER = new URL('../../workers/shard.ts', import.meta.url);
const NOTHING = lend(new Uint8Array(0));
/** Size of the shared memory. A full batch and its answer usually fit; longer ones are transferred. */
const SHARED_BYTES = 1 << 23;
/**
 * Size of the young generation, in MB. A shard replaces the position of each object with every location; many shards have
 * few objects each.
 */
const YOUNG_MB = { least: 16, most: 64, ofAll: 128 };

/** Functions and settings that a shard's worker needs. */
export interface ShardWorkerOptions {
  readonly settings: ShardSettings;
  /** Returns monotonic time; `clockSteps` convert it to wall-clock time. */
  now(): number;
  clockSteps?(): LaneBatch['clockSteps'];
  /** Returns the time of receipt of the earliest queued item; undefined for none. */
  heldSinceMs?(): number | undefined;
  /** This shard's share of what all shards have together: the throughput of the store, and memory for young objects. */
  readonly share: number;
  /** Whether each step is recorded for other hubs. */
  readonly recordsSteps?: boolean;
  /** Number of the shard. */
  readonly shard: number;
  readonly rounds?: RoundWatch | undefined;
  /** Whether the store lags. */
  isStoreBehind(): boolean;
  /** Starts the thread; default openThread. */
  readonly openThread?: OpenThread | undefined;
  /**
   * Returns the newest emitted rows, for a new worker. `hasAdopted` selects the objects that the shard has adopted from
   * another hub, whose rows count even before the log contains their arrival.
   */
  rows(hasAdopted: HasObject): Promise<readonly LastKnownRow[]>;
}

/** Predicate of objects. */
export type HasObject = (kind: ObjectKind, id: string) => boolean;

/** State that a new worker recovers besides entities: rows and later steps, rows only, or nothing. */
export type RecoveredParts = 'all' | 'rows' | 'nothing';

/** Worker thread of one shard, and the state needed to replace it. */
export class ShardWorker {
  readonly flush: FlushScheduler;
  readonly #options: ShardWorkerOptions;
  readonly #mirror = new StateMirror();
  readonly #thread: Thread;
  #doneTo = 0;
  /** Sequence number of the last record of the shared log that the worker has applied. */
  #config = 0;
  /** Number of steps so far. */
  #steps = 0;
  /** Whether the next step restarts the numbering of names in recorded positions. */
  #namesAnew = false;

  constructor(options: ShardWorkerOptions) {
    this.#options = options;
    this.flush = new FlushScheduler(options.share, () => options.isStoreBehind(), options.rounds);
    this.#thread = (options.openThread ?? openThread)(SHARD_WORKER, {
      workerData: options.settings satisfies ShardSettings,
      sharedBytes: SHARED_BYTES,
      youngGenerationMb: Math.min(Math.max(YOUNG_MB.least, YOUNG_MB.ofAll * options.share), YOUNG_MB.most),
    });
  }

  get isAlive(): boolean {
    return this.#thread.isAlive;
  }

  /** Number of the last item that is done or dropped. */
  get doneTo(): number {
    return this.#doneTo;
  }

  /**
   * Runs a batch. `next` is the item after it. Deadlines later than its time of receipt must not fire yet, since it may
   * postpone them.
   */
  async step(items: readonly LaneItem[], next: LaneItem | undefined): Promise<ShardReply> {
    const askedMs = this.#options.now();
    const flushBudget = this.flush.flushBudget(askedMs);
    const nowMs = Math.min(
      askedMs,
      next?.receivedMs ?? Number.POSITIVE_INFINITY,
      this.#options.heldSinceMs?.() ?? Number.POSITIVE_INFINITY,
    );
    for (const item of items) if ('config' in item) this.#config = item.config ?? this.#config;
    const config = this.#config;
    const isRecorded = this.#options.recordsSteps === true;
    const clockSteps = this.#options.clockSteps?.();
    const position = { shard: this.#options.shard, step: this.#steps++ };
    const recorded = isRecorded ? { recordedWith: { config }, position } : undefined;
    const namesAnew = this.#namesAnew || undefined;
    this.#namesAnew = false;
    const batch = packBatch({ nowMs, sentMs: askedMs, items, flushBudget, clockSteps, namesAnew, ...recorded });
    const isHeld = !isRecorded && items.some(({ kind }) => kind === 'locations');
    this.flush.stepLog.hold(isHeld ? batch : NOTHING);
    const reply = unpackShardReply(await this.#thread.run(batch));
    this.#mirror.apply(items);
    this.#recordDone(items);
    this.flush.note({ ...reply.outcome, record: reply.record }, this.#doneTo);
    return { ...reply, config, step: position.step };
  }

  /** Gives up items that will never be done. */
  giveUp(items: readonly LaneItem[]): void {
    // The objects of these items are in transit, even if their state is lost.
    for (const item of items) if (item.kind === 'exportState' || item.kind === 'release') this.#mirror.apply([item]);
    this.#recordDone(items);
  }

  #recordDone(items: readonly LaneItem[]): void {
    const last = items.at(-1);
    if (last !== undefined) this.#doneTo = lastSeqOf(last);
  }

  /** Restarts the numbering of names in the recorded positions with the next step. */
  forgetNames(): void {
    this.#namesAnew = true;
  }

  /** Lets the thread collect garbage. */
  async rest(): Promise<void> {
    await this.#thread.signal('rest');
  }

  /**
   * Starts a new thread and recovers the parts `known` of the previous one's state. Calls `failed` if the rows cannot
   * be read. Rejects if the new thread fails.
   */
  async replace({ known, failed }: { readonly known: RecoveredParts; failed(error: unknown): void }): Promise<void> {
    await this.#thread.restart();
    this.flush.endRound();
    // Drops the omitted steps for later workers as well, because steps can only be replayed without gaps.
    if (known !== 'all') this.flush.stepLog.clear();
    const rows = known === 'nothing' ? [] : await this.#rows(failed);
    await this.#thread.run(packBatch(this.#recoveryBatch(rows, this.flush.stepLog.steps())));
  }

  /** Terminates the thread immediately, like a crash. */
  kill(): Promise<void> {
    return this.#thread.kill();
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#thread.memory();
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  /**
   * Returns the last-known rows of the shard's objects. If the store fails, returns none, since the shard must run
   * anyway.
   */
  async #rows(failed: (error: unknown) => void): Promise<readonly LastKnownRow[]> {
    let rows: readonly LastKnownRow[] = [];
    try {
      rows = await this.#options.rows((kind, id) => this.#mirror.hasAdopted(kind, id));
    } catch (error) {
      failed(error);
    }
    return rows.filter(({ kind, id }) => this.#mirror.has(kind, id));
  }

  /**
   * Returns a batch that recovers a worker's state. No deadline is due in it, since due deadlines have fired before.
   */
  #recoveryBatch(rows: readonly LastKnownRow[], steps: readonly PackedStep[]): LaneBatch {
    const again = { seq: 0, receivedMs: 0 };
    const { rules, variants, suppressUntilMs } = this.#mirror;
    const items: (Item | LaneItem)[] = [
      { ...again, kind: 'rules', rules },
      ...this.#mirror.entities().map((item) => ({ ...item, ...again })),
      { ...again, kind: 'adopt', rows, steps, suppressUntilMs },
      // Comes last, so that recovery renders no events.
      { ...again, kind: 'variants', variants },
    ];
    return { nowMs: 0, sentMs: 0, items, flushBudget: 0 };
  }
}
