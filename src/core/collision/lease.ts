import type { TrackableMotion } from '../motion/motion.ts';

/**
 * When two trackables that touched are released from one another. For each update of either one the pair is in one
 * area: `touching`; `near`, apart by no more than the exit tolerance; or `out`: farther apart, on another floor, above
 * one another. Two deadlines run: T, the tolerance timeout, and O, the exit delay; the earlier one releases.
 *
 *   state    | touching | near                  | out
 *   ---------+----------+-----------------------+----------------------------------------------------
 *   touching | touching | near, T starts        | out, T and O start
 *   near     | touching | near, T goes on       | out, T goes on, O starts
 *   out      | touching | near, T goes on or    | out, T and O go on
 *            |          | starts, O ends        |
 *
 * A tolerance timeout that nobody has set never ends, so it starts and goes on without effect.
 */
export type Lease =
  | { readonly at: 'touching' }
  | { readonly at: 'near'; readonly toleranceEndMs: number }
  | { readonly at: 'out'; readonly toleranceEndMs: number; readonly delayEndMs: number };

export type Area = Lease['at'];

/** What holds two trackables together. Timeouts and delays are the larger of the two. */
export interface Holding {
  /** The sum of the two exit tolerances: each extends its own trackable. */
  readonly toleranceMetres: number;
  /** Infinity when neither sets one. */
  readonly toleranceTimeoutMs: number;
  readonly exitDelayMs: number;
}

export const TOUCHING: Lease = { at: 'touching' };

/** A trackable that may be held together with another. */
interface Held {
  readonly motion: TrackableMotion;
}

export function holdingOf(a: Held, b: Held): Holding {
  return {
    toleranceMetres: a.motion.exitToleranceMetres + b.motion.exitToleranceMetres,
    toleranceTimeoutMs: longer(a.motion.toleranceTimeoutMs, b.motion.toleranceTimeoutMs) ?? Number.POSITIVE_INFINITY,
    exitDelayMs: longer(a.motion.exitDelayMs, b.motion.exitDelayMs) ?? 0,
  };
}

/** The state after an update at `nowMs` that finds the pair in `area`. */
export function observe(hold: Lease, area: Area, holding: Holding, nowMs: number): Lease {
  switch (area) {
    case 'touching':
      return TOUCHING;
    case 'near':
      return toNear(hold, nowMs + holding.toleranceTimeoutMs);
    case 'out':
      return toOut(hold, nowMs + holding.toleranceTimeoutMs, nowMs + holding.exitDelayMs);
  }
}

function toNear(hold: Lease, toleranceEndMs: number): Lease {
  switch (hold.at) {
    case 'touching':
      return { at: 'near', toleranceEndMs };
    case 'near':
      return hold;
    case 'out': {
      const running = hold.toleranceEndMs !== Number.POSITIVE_INFINITY;
      return { at: 'near', toleranceEndMs: running ? hold.toleranceEndMs : toleranceEndMs };
    }
  }
}

function toOut(hold: Lease, toleranceEndMs: number, delayEndMs: number): Lease {
  switch (hold.at) {
    case 'touching':
      return { at: 'out', toleranceEndMs, delayEndMs };
    case 'near':
      return { at: 'out', toleranceEndMs: hold.toleranceEndMs, delayEndMs };
    case 'out':
      return hold;
  }
}

/** When the pair is released if nothing more is heard of it; Infinity while it touches. */
export function releaseMs(hold: Lease): number {
  switch (hold.at) {
    case 'touching':
      return Number.POSITIVE_INFINITY;
    case 'near':
      return hold.toleranceEndMs;
    case 'out':
      return Math.min(hold.toleranceEndMs, hold.delayEndMs);
  }
}

/** The longer of two durations, undefined when neither is set; -1 is infinite. */
function longer(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined && other === undefined) return undefined;
  if (one === -1 || other === -1) return Number.POSITIVE_INFINITY;
  return Math.max(one ?? 0, other ?? 0);
}
