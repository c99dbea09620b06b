import type { LastKnownRow } from '../core/item.ts';
import { FlushPacer } from './flush_pacer.ts';
import { ReplayLog } from './replay_log.ts';

/** What a batch has done about rows. */
export interface RowsBrought {
  readonly backgroundRows: readonly LastKnownRow[];
  readonly dirtyCount: number;
}

/** When a shard hands out the rows of what has changed, and what is not in its rows yet. */
export class FlushScheduler {
  readonly replay = new ReplayLog();
  readonly #pacer: FlushPacer;
  readonly #isStoreBehind: () => boolean;
  /** Whether something was done since all rows were handed out. */
  #changed = false;
  /** The number of the item up to which all rows are asked for; 0: what is done already. */
  #flushTo: number | undefined;
  #roundDue = false;
  #askedMs = 0;

  /** `share`: the part of what the store takes that is for this shard. */
  constructor(share: number, isStoreBehind: () => boolean) {
    this.#pacer = new FlushPacer(share);
    this.#isStoreBehind = isStoreBehind;
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
      this.replay.mark();
    }
    return this.#flushTo === undefined ? this.#pacer.flushBudget(nowMs, this.#isStoreBehind()) : Infinity;
  }

  /** That batch is finished, with everything up to the item of that number. */
  note({ backgroundRows, dirtyCount }: RowsBrought, doneTo: number): void {
    this.#changed = true;
    this.replay.note();
    const wasRunning = this.#pacer.isRunning;
    this.#pacer.brought({ rows: backgroundRows.length, dirtyCount, askedMs: this.#askedMs });
    if (wasRunning && !this.#pacer.isRunning) this.replay.dropMarked();
    if (dirtyCount > 0) return;
    this.replay.clear();
    this.#changed = false;
    if (this.#flushTo !== undefined && this.#flushTo <= doneTo) this.#flushTo = undefined;
  }

  /** The worker has died, and a new one knows what the last one knew. */
  endRound(): void {
    this.#pacer.end();
  }
}
