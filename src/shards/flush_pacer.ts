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
