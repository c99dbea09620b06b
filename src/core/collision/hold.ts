import type { TrackableMotion } from '../motion/motion.ts';

/**
 * State machine that decides when two colliding trackables are released. Each update of a trackable finds the pair in
 * one area: `touching`; `near`, apart by at most the exit tolerance; or `out`: farther apart, on different floors, or
 * at heights that do not overlap. Two timers run: T, the tolerance timeout, and O, the exit delay. The first to expire
 * releases the pair.
 *
 *   state    | touching | near                  | out
 *   ---------+----------+-----------------------+----------------------------------------------------
 *   touching | touching | near, T starts        | out, T and O start
 *   near     | touching | near, T continues     | out, T continues, O starts
 *   out      | touching | near, T continues or  | out, T and O continue
 *            |          | starts, O stops       |
 *
 * An unset tolerance timeout is infinite: its timer runs without effect.
 */
export type CollisionHold =
  | { readonly at: 'touching' }
  | { readonly at: 'near'; readonly toleranceEndMs: number }
  | { readonly at: 'out'; readonly toleranceEndMs: number; readonly delayEndMs: number };

export type PairArea = CollisionHold['at'];

/** Effective tolerance, timeout and delay of a pair. Timeout and delay are the larger of the two trackables' values. */
export interface Holding {
  /** Sum of the exit tolerances, since each extends its own trackable. */
  readonly toleranceMeters: number;
  /** Infinity if neither sets one. */
  readonly toleranceTimeoutMs: number;
  readonly exitDelayMs: number;
}

export const TOUCHING: CollisionHold = { at: 'touching' };

/** A trackable of a pair. */
interface Held {
  readonly motion: TrackableMotion;
}

export function holdingOf(a: Held, b: Held): Holding {
  return {
    toleranceMeters: a.motion.exitToleranceMeters + b.motion.exitToleranceMeters,
    toleranceTimeoutMs: longer(a.motion.toleranceTimeoutMs, b.motion.toleranceTimeoutMs) ?? Number.POSITIVE_INFINITY,
    exitDelayMs: longer(a.motion.exitDelayMs, b.motion.exitDelayMs) ?? 0,
  };
}

/** Returns the state after an update at `nowMs` that finds the pair in `area`. */
export function observe(hold: CollisionHold, area: PairArea, holding: Holding, nowMs: number): CollisionHold {
  switch (area) {
    case 'touching':
      return TOUCHING;
    case 'near':
      return toNear(hold, nowMs + holding.toleranceTimeoutMs);
    case 'out':
      return toOut(hold, nowMs + holding.toleranceTimeoutMs, nowMs + holding.exitDelayMs);
  }
}

function toNear(hold: CollisionHold, toleranceEndMs: number): CollisionHold {
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

function toOut(hold: CollisionHold, toleranceEndMs: number, delayEndMs: number): CollisionHold {
  switch (hold.at) {
    case 'touching':
      return { at: 'out', toleranceEndMs, delayEndMs };
    case 'near':
      return { at: 'out', toleranceEndMs: hold.toleranceEndMs, delayEndMs };
    case 'out':
      return hold;
  }
}

/** Returns the time at which the pair is released if no update follows; Infinity while it touches. */
export function releaseMs(hold: CollisionHold): number {
  switch (hold.at) {
    case 'touching':
      return Number.POSITIVE_INFINITY;
    case 'near':
      return hold.toleranceEndMs;
    case 'out':
      return Math.min(hold.toleranceEndMs, hold.delayEndMs);
  }
}

/** Returns the longer of two durations, undefined if neither is set; -1 is infinite. */
function longer(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined && other === undefined) return undefined;
  if (one === -1 || other === -1) return Number.POSITIVE_INFINITY;
  return Math.max(one ?? 0, other ?? 0);
}
