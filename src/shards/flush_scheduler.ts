import type { PackedRows } from '../core/row_bytes.ts';
import type { Borrowed } from '../model/borrowed.ts';
import { type Journal, MemoryJournal } from './journal.ts';

/**
 * The way of a row to the disk.
 *
 * A last-known row says where an object was last, and which fences it is in (core/item.ts). A shard keeps that in memory
 * and writes the row when it is to be handed out, as bytes (core/row_bytes.ts), which are only copied from there on.
 * Three classes see to the rest:
 *
 *   FlushScheduler     here, one for each shard   when: how many rows the next batch may bring
 *   OutcomeDispatcher  hub/, one for all          who waits: events and answers, until the rows are kept
 *   StoreWriter        store/, one for all        how: in groups, one commit at a time, and again after a failure
 *
 * 1. An object whose memberships have changed, or that is gone, has its row in the outcome of that batch (`rows`). Any
 *    other that has changed is dirty: its row comes later, and until then the change is in the Journal, from which a new
 *    worker learns of it should this one die.
 * 2. Every `db_flush_interval` a round begins. From then on each batch gets a flush budget, at the pace of the FlushPacer,
 *    and brings as many rows of dirty objects (`backgroundRows`). While the store is behind it brings none, for two
 *    seconds at most.
 * 3. The OutcomeDispatcher hands both to the StoreWriter, with times of day (row_times.ts). Events of memberships wait
 *    for their rows in a CommitGate.
 *    Nobody waits for background rows: they may wait 50 ms to share a commit.
 * 4. The StoreWriter gathers rows in memory that the thread of the store can read (row_queue.ts) and commits what it has,
 *    with changed entities, in that thread. What fails or is late is reported, and written later.
 * 5. A file has them in a log first, and in their tables later (row_log.ts).
 * 6. When the round is over, the Journal drops the steps from before the round.
 */

/** What a batch has changed, and which rows it has brought. */
export interface StepDone {
  readonly effects: Borrowed;
  /** Where the step is recorded, and has changed anything. */
  readonly record: Borrowed | undefined;
  readonly backgroundRows: Pick<PackedRows, 'count'>;
  readonly dirtyCount: number;
}

/** Hears of rounds: when one begins, and when the rows are handed out of all that had changed by then. */
export interface RoundWatch {
  begun(): void;
  over(): void;
}

/** When a shard hands out the rows of what has changed, and what is not in its rows yet. */
export class FlushScheduler {
  readonly journal: Journal = new MemoryJournal();
  readonly #pacer: FlushPacer;
  readonly #isStoreBehind: () => boolean;
  readonly #watch: RoundWatch | undefined;
  /** Whether something was done since all rows were handed out. */
  #changed = false;
  /** The number of the item up to which all rows are asked for; 0: what is done already. */
  #flushTo: number | undefined;
  #roundDue = false;
  #askedMs = 0;

  /** `share`: the part of what the store takes that is for this shard. */
  constructor(share: number, isStoreBehind: () => boolean, watch?: RoundWatch) {
    this.#pacer = new FlushPacer(share);
    this.#isStoreBehind = isStoreBehind;
    this.#watch = watch;
  }

  get isChanged(): boolean {
    return this.#changed;
  }

  /** All rows are wanted as soon as the item of that number is done. */
  flush(to: number): void {
    this.#flushTo = to;
  }

  /** All rows are wanted, little by little. */
  beginRound(): void {
    this.#roundDue = !this.#pacer.isRunning;
  }

  /** A batch is about to be made: how many rows it may bring. */
  flushBudget(nowMs: number): number {
    this.#askedMs = nowMs;
    if (this.#roundDue) {
      this.#roundDue = false;
      this.#pacer.begin(nowMs);
      this.journal.mark();
      this.#watch?.begun();
    }
    return this.#flushTo === undefined ? this.#pacer.flushBudget(nowMs, this.#isStoreBehind()) : Infinity;
  }

  /** That batch is finished, with everything up to the item of that number. */
  note({ effects, record, backgroundRows, dirtyCount }: StepDone, doneTo: number): void {
    this.#changed = true;
    if (record === undefined) this.journal.append(effects);
    else this.journal.appendRecord(record);
    const wasRunning = this.#pacer.isRunning;
    this.#pacer.brought({ rows: backgroundRows.count, dirtyCount, askedMs: this.#askedMs });
    if (wasRunning && !this.#pacer.isRunning) {
      this.journal.dropMarked();
      this.#watch?.over();
    }
    if (dirtyCount > 0) return;
    this.journal.clear();
    this.#changed = false;
    if (this.#flushTo !== undefined && this.#flushTo <= doneTo) this.#flushTo = undefined;
  }

  /** The worker has died, and a new one knows what the last one knew. */
  endRound(): void {
    this.#pacer.end();
  }
}

/** Rows a millisecond that rounds hand out at least: what keeps the store a small part of the load. */
const ROWS_PER_MS = 8;
/** A round of more rows is faster: it takes no longer than this, so that no row grows old. */
const ROUND_MS = 1000;
/** Rows that are worth a commit: as many come with the first batch of a round, and with others no fewer, but the last. */
const ROWS_MIN = 100;
/** A round that the store holds up goes on after this time all the same: what it waits for takes memory. */
const OVERDUE_MS = 2000;

/**
 * Rounds in which a shard hands out the rows of all objects that have changed, some with each batch: all at once would
 * hold up everybody, the shard that makes them, the front thread and whoever waits for a commit of the store.
 *
 * The objects that had changed when the round began come first, and whatever is handed out and changes again comes
 * behind them. So the round is over when as many rows were handed out as objects had changed.
 */
export class FlushPacer {
  readonly #rowsPerMsMin: number;
  #rowsPerMs = 0;
  /** Rows of the round that are still to come; undefined: there is no round; Infinity: nobody has counted them yet. */
  #left: number | undefined;
  #begunMs = 0;
  /** Until when rows were asked for. */
  #askedMs = 0;

  /** `share`: the part of what the store takes that is for this shard. */
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

  /** Rows that the next batch may bring; none while the store is behind, for two seconds at most. */
  flushBudget(nowMs: number, isStoreBehind: boolean): number {
    if (this.#left === undefined || (isStoreBehind && nowMs - this.#begunMs < OVERDUE_MS)) return 0;
    const due = Math.ceil((nowMs - this.#askedMs) * this.#rowsPerMs);
    return due < Math.min(ROWS_MIN, this.#left) ? 0 : due;
  }

  /** A batch that was asked for rows at that time has brought some, and left so many objects that have changed. */
  brought({ rows, dirtyCount, askedMs }: { rows: number; dirtyCount: number; askedMs: number }): void {
    if (this.#left === undefined) return;
    if (rows > 0) this.#askedMs = askedMs;
    if (this.#left === Number.POSITIVE_INFINITY) {
      this.#left = dirtyCount;
      this.#rowsPerMs = Math.max(this.#rowsPerMsMin, dirtyCount / ROUND_MS);
    } else this.#left -= rows;
    if (this.#left <= 0 || dirtyCount === 0) this.#left = undefined;
  }

  /** The round is over, whatever is left: its shard has died. */
  end(): void {
    this.#left = undefined;
  }
}
