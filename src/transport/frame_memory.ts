import { Budget } from './budget.ts';

/**
 * Memory for frames that are on their way.
 *
 * The native server keeps what has come of an unfinished frame, up to a bound that a connection has from its upgrade on,
 * and tells nobody how much that is. After a frame that came in pieces it keeps the memory, too. So each connection takes
 * the most that it may come to hold when it opens, and gives it back when it is gone:
 *
 *   large   the largest frame that is allowed   while half of the share is left then
 *   medium  1 MiB                               while the share lasts
 *   small   64 KiB                              always, and not counted: connections have a bound of their own
 *
 * Where clients may show who they are, those that have done so have one half, and all others the other.
 */
export interface FrameMemoryOptions {
  readonly frameMaxBytes: number;
  /** Of all connections together. */
  readonly maxBytes: number;
  /** Whether some clients are known, and others are not. */
  readonly isShared: boolean;
}

const MEDIUM_BYTES = 1 << 20;
const SMALL_BYTES = 1 << 16;
/** How far a frame may be over the bound for its sender to be told so. */
const TELLABLE_BYTES = 64 * 1024;
/**
 * A connection that was closed by a close frame lives on until the client ends it, and is cut after 4 to 16 s, in steps
 * of 4, as measured. Nobody is told of either.
 */
const LINGER_MS = 20_000;

/** What the native server may keep for a connection with such a bound. */
export function capacityOf(frameMaxBytes: number): number {
  return Math.min(frameMaxBytes + TELLABLE_BYTES, 2 ** 31);
}

export class FrameMemory {
  /** Bounds of frames, in bytes: the largest first. */
  readonly tiers: readonly number[];
  readonly #ofKnown: Budget;
  readonly #ofOthers: Budget;

  constructor({ frameMaxBytes, maxBytes, isShared }: FrameMemoryOptions) {
    this.tiers = [frameMaxBytes, ...[MEDIUM_BYTES, SMALL_BYTES].filter((bytes) => bytes < frameMaxBytes)];
    this.#ofKnown = new Budget(isShared ? maxBytes / 2 : maxBytes);
    this.#ofOthers = isShared ? new Budget(maxBytes / 2) : this.#ofKnown;
  }

  /** The most that a connection can have now. */
  take(isKnown: boolean): FrameCapacity {
    const budget = isKnown ? this.#ofKnown : this.#ofOthers;
    const tier = this.tiers.findIndex((bytes, n) => {
      if (bytes <= SMALL_BYTES) return true;
      return n === 0
        ? budget.takeLeaving(capacityOf(bytes), budget.maxBytes / 2 - TELLABLE_BYTES)
        : budget.take(capacityOf(bytes));
    });
    return new FrameCapacity({ tier, frameMaxBytes: this.tiers[tier] ?? SMALL_BYTES, budget });
  }
}

/** What one connection has. */
export class FrameCapacity {
  /** Place among the tiers. */
  readonly tier: number;
  readonly frameMaxBytes: number;
  readonly #budget: Budget;

  constructor({ tier, frameMaxBytes, budget }: { tier: number; frameMaxBytes: number; budget: Budget }) {
    this.tier = tier;
    this.frameMaxBytes = frameMaxBytes;
    this.#budget = budget;
  }

  /** Gives it back once: when the connection is gone, or may still linger. */
  give(isGone: boolean): void {
    if (this.frameMaxBytes <= SMALL_BYTES) return;
    const bytes = capacityOf(this.frameMaxBytes);
    if (isGone) this.#budget.give(bytes);
    else setTimeout(() => this.#budget.give(bytes), LINGER_MS).unref();
  }
}
