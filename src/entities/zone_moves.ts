import type { ZoneMove } from '../core/zone/following.ts';
import type { Entities } from './entities.ts';

/**
 * The shortest time between two groups of moves, in milliseconds. Each is a transaction, and everybody is told of it:
 * an object that is located a thousand times a second must not keep the hub busy with that.
 */
const PACE_MS = 50;
/** How long moves that could not be kept wait before they are tried again. */
const RETRY_MS = 1000;

export interface ZoneMovesOptions {
  readonly entities: Pick<Entities, 'has' | 'hasMobileZones' | 'moveZones' | 'settled'>;
  /** Resolves when the shards have done what they were told so far, or could not. */
  shardsSettled(): Promise<void>;
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
}

/**
 * Carries zones after the objects that they follow. Nobody waits for that but who asks for zones: what arrives while a
 * group of moves is being kept, or too soon after it, is the next group, the latest move of each zone. So what waits is
 * bounded by the number of zones.
 */
export class ZoneMoves {
  readonly #options: ZoneMovesOptions;
  readonly #pending = new Map<string, ZoneMove>();
  /** Per zone the number of the item that has moved it last. */
  readonly #lastSeq = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #isQueued = false;
  #isClosed = false;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: ZoneMovesOptions) {
    this.#options = options;
  }

  /** Takes what a shard has found out. Shards come in any order; the number of the item decides. */
  take(moves: readonly ZoneMove[]): void {
    for (const move of moves) {
      if (!this.#options.entities.has('zone', move.id) || move.seq < (this.#lastSeq.get(move.id) ?? 0)) continue;
      this.#lastSeq.set(move.id, move.seq);
      this.#pending.set(move.id, move);
    }
    if (this.#pending.size > 0) this.#startIn(this.#lastMs + PACE_MS - this.#options.now());
  }

  /** The zone is deleted. */
  forget(id: string): void {
    this.#lastSeq.delete(id);
    this.#pending.delete(id);
  }

  /**
   * Resolves when the zones are where everything that was accepted so far has taken them, or could not be taken there;
   * undefined where no zone follows anything.
   */
  settled(): Promise<void> | undefined {
    return this.#options.entities.hasMobileZones ? this.#settle() : undefined;
  }

  /** Makes the moves that wait, and takes no more. */
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
    const kept = this.#options.entities.moveZones(() => {
      // Asked again, where changes of another hub came first.
      if (taken === undefined) this.#isQueued = false;
      else this.#putBack(taken);
      taken = [...this.#pending.values()];
      this.#pending.clear();
      return taken;
    });
    kept.catch(() => {
      if (taken === undefined) this.#isQueued = false;
      else this.#putBack(taken);
      this.#startIn(RETRY_MS);
    });
  }

  /** Has moves wait again, but those of zones that were deleted, and those that newer ones have followed. */
  #putBack(taken: readonly ZoneMove[]): void {
    for (const move of taken) {
      if (this.#lastSeq.get(move.id) === move.seq && !this.#pending.has(move.id)) this.#pending.set(move.id, move);
    }
  }
}
