import { Budget } from './budget.ts';

/**
 * Options of the memory for WebSocket frames that are being received.
 *
 * The native server buffers an incomplete frame up to a bound that is fixed at the upgrade, does not report the
 * buffered size, and retains the memory after a fragmented frame. So each connection reserves its bound when it opens
 * and releases it when it closes:
 *
 *   large   the maximum frame size              while half of the share then remains
 *   medium  1 MiB                               while the share lasts
 *   small   64 KiB                              always, not counted: the number of connections is bounded separately
 *
 * If clients can authenticate, authenticated clients share one half and all others the other half.
 */
export interface FrameMemoryOptions {
  readonly frameMaxBytes: number;
  /** Bound for all connections together. */
  readonly maxBytes: number;
  /** Whether authenticated clients and others have separate shares. */
  readonly isShared: boolean;
}

const MEDIUM_BYTES = 1 << 20;
const SMALL_BYTES = 1 << 16;
/** Number of bytes by which a frame may exceed its bound and still be received and reported by the hub. */
const TELLABLE_BYTES = 64 * 1024;
/**
 * After a close frame, a connection stays open until the client closes it, or for 4 to 16 s (measured, in steps of 4).
 * The native server reports neither.
 */
const LINGER_MS = 20_000;

/** Returns the number of bytes that the native server may hold for a connection with this bound. */
export function capacityOf(frameMaxBytes: number): number {
  return Math.min(frameMaxBytes + TELLABLE_BYTES, 2 ** 31);
}

export class FrameMemory {
  /** Bounds of frames in bytes, largest first. */
  readonly tiers: readonly number[];
  readonly #ofKnown: Budget;
  readonly #ofOthers: Budget;

  constructor({ frameMaxBytes, maxBytes, isShared }: FrameMemoryOptions) {
    this.tiers = [frameMaxBytes, ...[MEDIUM_BYTES, SMALL_BYTES].filter((bytes) => bytes < frameMaxBytes)];
    this.#ofKnown = new Budget(isShared ? maxBytes / 2 : maxBytes);
    this.#ofOthers = isShared ? new Budget(maxBytes / 2) : this.#ofKnown;
  }

  /** Reserves the largest available bound for a connection. */
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

  /** Releases the memory: immediately if the connection is gone, later if it may linger. */
  give(isGone: boolean): void {
    if (this.frameMaxBytes <= SMALL_BYTES) return;
    const bytes = capacityOf(this.frameMaxBytes);
    if (isGone) this.#budget.give(bytes);
    else setTimeout(() => this.#budget.give(bytes), LINGER_MS).unref();
  }
}
