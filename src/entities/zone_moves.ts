import type { ZoneMove } from '../core/zone/following.ts';
import type { Entities } from './entities.ts';

/**
 * Minimum time between two groups of moves, in milliseconds. Each group is a transaction with notifications: an object
 * that is located a thousand times a second must not overload the hub.
 */
const PACE_MS = 50;
/** Delay before a retry of failed moves, in milliseconds. */
const RETRY_MS = 1000;

export interface ZoneMovesOptions {
  readonly entities: Pick<Entities, 'has' | 'hasMobileZones' | 'moveZones' | 'settled'>;
  /** Resolves when the shards have processed all input so far, or failed to. */
  shardsSettled(): Promise<void>;
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
}

/**
 * Moves zones that follow objects. Only requests for zones wait for that. Moves that arrive while a group is being
 * committed, or too soon after it, form the next group, with the latest move of each zone. So the number of waiting
 * moves is bounded by the number of zones.
 */
export class ZoneMoves {
  readonly #options: ZoneMovesOptions;
  readonly #pending = new Map<string, ZoneMove>();
  /** Sequence of the last item that moved each zone. */
  readonly #lastSeq = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #isQueued = false;
  #isClosed = false;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: ZoneMovesOptions) {
    this.#options = options;
  }

  /** Accepts moves found by a shard. Shards report in any order; the sequence of the item decides. */
  take(moves: readonly ZoneMove[]): void {
    for (const move of moves) {
      if (!this.#options.entities.has('zone', move.id) || move.seq < (this.#lastSeq.get(move.id) ?? 0)) continue;
      this.#lastSeq.set(move.id, move.seq);
      this.#pending.set(move.id, move);
    }
    if (this.#pending.size > 0) this.#startIn(this.#lastMs + PACE_MS - this.#options.now());
  }

  /** Forgets a deleted zone. */
  forget(id: string): void {
    this.#lastSeq.delete(id);
    this.#pending.delete(id);
  }

  /**
   * Resolves when the zones reflect all accepted locations, or could not be moved; undefined if no zone follows an
   * object.
   */
  settled(): Promise<void> | undefined {
    return this.#options.entities.hasMobileZones ? this.#settle() : undefined;
  }

  /** Executes the waiting moves, and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#settle();
    this.#cancel?.();
  }

  async #settle(): Promise<void> {
    await this.#options.shardsSettled();
    if (this.#pending.size > 0) this.#start();
    await this.#options.entities.settled();
  }

  #startIn(delayMs: number): void {
    if (this.#isQueued || this.#cancel !== undefined || this.#isClosed) return;
    if (delayMs <= 0) {
      this.#start();
      return;
    }
    this.#cancel = this.#options.schedule(delayMs, () => this.#start());
  }

  #start(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#lastMs = this.#options.now();
    let taken: ZoneMove[] | undefined;
    const moving = this.#options.entities.moveZones(() => {
      // Called again after a change of another hub came first.
      if (taken === undefined) this.#isQueued = false;
      else this.#putBack(taken);
      taken = [...this.#pending.values()];
      this.#pending.clear();
      return taken;
    });
    moving.catch(() => {
      if (taken === undefined) this.#isQueued = false;
      else this.#putBack(taken);
      this.#startIn(RETRY_MS);
    });
  }

  /** Queues moves again, except those of deleted zones, and those superseded by newer ones. */
  #putBack(taken: readonly ZoneMove[]): void {
    for (const move of taken) {
      if (this.#lastSeq.get(move.id) === move.seq && !this.#pending.has(move.id)) this.#pending.set(move.id, move);
    }
  }
}
