import { Budget } from './budget.ts';

/**
 * Memory for WebSocket frames that are being received.
 *
 * The native server buffers an incomplete frame, up to a bound that is fixed at the connection's upgrade, and does not
 * report how much it holds. It retains the memory after a fragmented frame. So each connection reserves the most that
 * it may come to hold when it opens, and releases it when it closes:
 *
 *   large   the largest frame that is allowed   while half of the share then remains
 *   medium  1 MiB                               while the share lasts
 *   small   64 KiB                              always, not counted: the number of connections is bounded separately
 *
 * If clients may authenticate, authenticated ones share one half, and all others the other.
 */
export interface FrameMemoryOptions {
  readonly frameMaxBytes: number;
  /** For all connections together. */
  readonly maxBytes: number;
  /** Whether authenticated clients and others have separate shares. */
  readonly isShared: boolean;
}

const MEDIUM_BYTES = 1 << 20;
const SMALL_BYTES = 1 << 16;
/** How far a frame may exceed the bound for the hub to receive and report it. */
const TELLABLE_BYTES = 64 * 1024;
/**
 * A connection closed by a close frame lives until the client closes it, or is cut after 4 to 16 s, in steps of 4, as
 * measured. The native server reports neither.
 */
const LINGER_MS = 20_000;

/** Bytes that the native server may hold for a connection with such a bound. */
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

  /** Reserves the most that is available to a connection. */
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

/** Memory reserved by one connection. */
export class FrameCapacity {
  /** Index in `tiers`. */
  readonly tier: number;
  readonly frameMaxBytes: number;
  readonly #budget: Budget;

  constructor({ tier, frameMaxBytes, budget }: { tier: number; frameMaxBytes: number; budget: Budget }) {
    this.tier = tier;
    this.frameMaxBytes = frameMaxBytes;
    this.#budget = budget;
  }

  /** Releases it once: at once if the connection is closed, or later if it may linger. */
  give(isGone: boolean): void {
    if (this.frameMaxBytes <= SMALL_BYTES) return;
    const bytes = capacityOf(this.frameMaxBytes);
    if (isGone) this.#budget.give(bytes);
    else setTimeout(() => this.#budget.give(bytes), LINGER_MS).unref();
  }
}
