import type { PackedRows } from '../core/row_bytes.ts';
import type { Borrowed } from '../model/borrowed.ts';
import { type StepLog, MemoryStepLog } from './step_log.ts';

/**
 * Overview of the path of a row to the disk.
 *
 * A last-known row contains the last position of an object and its fence memberships (core/item.ts). A shard has this
 * state in memory and writes the row on request, as bytes (core/row_bytes.ts) that are only copied from then on. Three
 * classes control the path:
 *
 *   FlushScheduler     here, one for each shard   when: how many rows the next batch may contain
 *   OutcomeDispatcher  hub/, one for all          waiting: events and answers, until the rows are stored
 *   StoreWriter        store/, one for all        how: in groups, one commit at a time, with retries
 *
 * 1. The row of an object whose memberships have changed, or that was removed, is in the outcome of that batch
 *   (`rows`). Any other changed object is dirty: its row comes later. Until then the change is in the StepLog, from
 *   which a new worker recovers it if this one dies.
 * 2. Every `db_flush_interval` a round begins. From then each batch gets a flush budget, at the pace of the FlushPacer,
 *   and contains as many rows of dirty objects (`backgroundRows`). While the store lags the budget is 0, for at most
 *   two seconds.
 * 3. The OutcomeDispatcher passes both to the StoreWriter, with wall-clock times (row_times.ts). Events of memberships
 *   wait for their rows in a CommitGate. No event waits for background rows: they may wait 50 ms to share a commit.
 * 4. The StoreWriter collects rows in memory that the store thread can read (row_queue.ts) and commits them in that
 *   thread, with changed entities. Failures and delays are reported, and the rows are written later.
 * 5. A file has rows in a log first, and in their tables later (row_log.ts).
 * 6. At the end of the round, the StepLog drops the steps from before the round.
 */

/** Result of a batch: state changes and rows. */
export interface StepDone {
  readonly effects: Borrowed;
  /** Record of the step; undefined if steps are not recorded or nothing has changed. */
  readonly record: Borrowed | undefined;
  readonly backgroundRows: Pick<PackedRows, 'count'>;
  readonly dirtyCount: number;
}

/**
 * Observer of rounds. A round ends when the rows of all objects that had changed before its start have been emitted.
 */
export interface RoundWatch {
  begun(): void;
  over(): void;
}

/** Schedules the rows of a shard's changed objects, and retains the changes that are not in emitted rows yet. */
export class FlushScheduler {
  readonly stepLog: StepLog = new MemoryStepLog();
  readonly #pacer: FlushPacer;
  readonly #isStoreBehind: () => boolean;
  readonly #watch: RoundWatch | undefined;
  /** Whether anything has changed since all rows were emitted. */
  #changed = false;
  /** Number of the last item whose rows are requested; 0 if it is done already. */
  #flushTo: number | undefined;
  #roundDue = false;
  #askedMs = 0;

  /** `share` is this shard's share of the store's throughput. */
  constructor(share: number, isStoreBehind: () => boolean, watch?: RoundWatch) {
    this.#pacer = new FlushPacer(share);
    this.#isStoreBehind = isStoreBehind;
    this.#watch = watch;
  }

  get isChanged(): boolean {
    return this.#changed;
  }

  /** Requests all rows once item number `to` is done. */
  flush(to: number): void {
    this.#flushTo = to;
  }

  /** Requests all rows, gradually. */
  beginRound(): void {
    this.#roundDue = !this.#pacer.isRunning;
  }

  /** Returns the maximum number of background rows of the next batch. */
  flushBudget(nowMs: number): number {
    this.#askedMs = nowMs;
    if (this.#roundDue) {
      this.#roundDue = false;
      this.#pacer.begin(nowMs);
      this.stepLog.mark();
      this.#watch?.begun();
    }
    return this.#flushTo === undefined ? this.#pacer.flushBudget(nowMs, this.#isStoreBehind()) : Infinity;
  }

  /** Records a finished batch, after which all items up to `doneTo` are done. */
  note({ effects, record, backgroundRows, dirtyCount }: StepDone, doneTo: number): void {
    this.#changed = true;
    if (record === undefined) this.stepLog.append(effects);
    else this.stepLog.appendRecord(record);
    const wasRunning = this.#pacer.isRunning;
    this.#pacer.recordBatch({ rows: backgroundRows.count, dirtyCount, askedMs: this.#askedMs });
    if (wasRunning && !this.#pacer.isRunning) {
      this.stepLog.dropMarked();
      this.#watch?.over();
    }
    if (dirtyCount > 0) return;
    this.stepLog.clear();
    this.#changed = false;
    if (this.#flushTo !== undefined && this.#flushTo <= doneTo) this.#flushTo = undefined;
  }

  /** Ends the round after the worker has died and was replaced. */
  endRound(): void {
    this.#pacer.end();
  }
}

/** Minimum rate of a round, in rows per millisecond, at which storing is a small part of the load. */
const ROWS_PER_MS = 8;
/** Maximum duration of a round. A round with many rows has a higher rate, so that no row gets old. */
const ROUND_MS = 1000;
/** Minimum number of rows of each batch in a round, except the last, so that they are worth a commit. */
const ROWS_MIN = 100;
/** Maximum time that a round waits for a lagging store, since waiting takes memory. */
const OVERDUE_MS = 2000;

/**
 * Paces the rounds in which a shard emits the rows of all changed objects, some with each batch. Emitting all at once
 * would block the shard, the main thread, and other commits of the store.
 *
 * Objects that had changed before the round come first; objects that change again queue after them. So the round is
 * complete when as many rows were emitted as objects had changed.
 */
export class FlushPacer {
  readonly #rowsPerMsMin: number;
  #rowsPerMs = 0;
  /** Remaining rows of the round; undefined outside a round, Infinity until the rows are counted. */
  #left: number | undefined;
  #begunMs = 0;
  /** Time up to which rows were requested. */
  #askedMs = 0;

  /** `share` is this shard's share of the store's throughput. */
  constructor(share: number) {
    this.#rowsPerMsMin = ROWS_PER_MS * share;
  }

  get isRunning(): boolean {
    return this.#left !== undefined;
  }

  begin(nowMs: number): void {
    this.#left = Number.POSITIVE_INFINITY;
    this.#rowsPerMs = this.#rowsPerMsMin;
    this.#begunMs = nowMs;
    this.#askedMs = nowMs - ROWS_MIN / this.#rowsPerMs;
  }

  /** Returns the maximum number of rows of the next batch; 0 while the store lags, for at most two seconds. */
  flushBudget(nowMs: number, isStoreBehind: boolean): number {
    if (this.#left === undefined || (isStoreBehind && nowMs - this.#begunMs < OVERDUE_MS)) return 0;
    const due = Math.ceil((nowMs - this.#askedMs) * this.#rowsPerMs);
    return due < Math.min(ROWS_MIN, this.#left) ? 0 : due;
  }

  /** Records the number of rows in a batch, and the number of changed objects that remain. */
  recordBatch({ rows, dirtyCount, askedMs }: { rows: number; dirtyCount: number; askedMs: number }): void {
    if (this.#left === undefined) return;
    if (rows > 0) this.#askedMs = askedMs;
    if (this.#left === Number.POSITIVE_INFINITY) {
      this.#left = dirtyCount;
      this.#rowsPerMs = Math.max(this.#rowsPerMsMin, dirtyCount / ROUND_MS);
    } else this.#left -= rows;
    if (this.#left <= 0 || dirtyCount === 0) this.#left = undefined;
  }

  /** Ends the round early, because its shard has died. */
  end(): void {
    this.#left = undefined;
  }
}
