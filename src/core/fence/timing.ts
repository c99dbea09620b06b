import type { Fence } from '../../model/fence.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';

/**
 * Effective timing of an object's entry into and exit from a fence.
 *
 * A provider's value overrides its trackable's, which overrides the fence's. Null and absent fall through; -1 means
 * infinite and counts as set. A fence timeout of 0 is infinite; every other 0 means immediately.
 */
export interface Timing {
  /** Time without an observation after which a member exits. */
  readonly fenceTimeoutMs: number;
  readonly exitToleranceMeters: number;
  /** Time within the exit tolerance after which a member exits. */
  readonly toleranceTimeoutMs: number;
  /**
   * Whether a tolerance timeout was set anywhere. If not, it equals the fence timeout and does not shorten an exit
   * delay.
   */
  readonly toleranceTimeoutSet: boolean;
  readonly exitDelayMs: number;
  readonly entryToleranceMeters: number;
  /** Time within the entry tolerance after which an object enters. */
  readonly entryToleranceTimeoutMs: number;
  readonly entryDelayMs: number;
}

/** Timing values that one entity sets; undefined where it sets none. */
export interface OwnTiming {
  readonly fenceTimeout: number | undefined;
  readonly exitTolerance: number | undefined;
  readonly toleranceTimeout: number | undefined;
  readonly exitDelay: number | undefined;
  readonly entryTolerance: number | undefined;
  readonly entryToleranceTimeout: number | undefined;
  readonly entryDelay: number | undefined;
}

/** Timing of an entity that sets no value. */
export const UNSET: OwnTiming = {
  fenceTimeout: undefined,
  exitTolerance: undefined,
  toleranceTimeout: undefined,
  exitDelay: undefined,
  entryTolerance: undefined,
  entryToleranceTimeout: undefined,
  entryDelay: undefined,
};

/** Returns the values that a provider or trackable sets; the shared UNSET without any. */
export function timingOfObject(entity: LocationProvider | Trackable | undefined): OwnTiming {
  if (entity === undefined) return UNSET;
  const own: OwnTiming = {
    fenceTimeout: entity.fence_timeout ?? entity.timeout ?? undefined,
    exitTolerance: entity.exit_tolerance ?? undefined,
    toleranceTimeout: entity.tolerance_timeout ?? undefined,
    exitDelay: entity.exit_delay ?? undefined,
    entryTolerance: undefined,
    entryToleranceTimeout: entity.entry_tolerance_timeout ?? undefined,
    entryDelay: entity.entry_delay ?? undefined,
  };
  return Object.values(own).every((value) => value === undefined) ? UNSET : own;
}

/** Whether two entities set the same values. */
export function sameTiming(a: OwnTiming, b: OwnTiming): boolean {
  return a === b || TIMINGS.every((name) => a[name] === b[name]);
}

const TIMINGS = Object.keys(UNSET) as (keyof OwnTiming)[];

/** Returns the values that a fence sets. */
export function timingOfFence(fence: Fence): OwnTiming {
  return {
    fenceTimeout: fence.timeout ?? undefined,
    exitTolerance: fence.exit_tolerance ?? undefined,
    toleranceTimeout: fence.tolerance_timeout ?? undefined,
    exitDelay: fence.exit_delay ?? undefined,
    entryTolerance: fence.entry_tolerance ?? undefined,
    entryToleranceTimeout: fence.entry_tolerance_timeout ?? undefined,
    entryDelay: fence.entry_delay ?? undefined,
  };
}

/**
 * Returns the effective timing of an object in a fence. `trackable` is the timing of the trackable that applies: the
 * object itself, or the only trackable of a provider.
 */
export function effectiveTiming(fence: OwnTiming, provider: OwnTiming, trackable: OwnTiming): Timing {
  const fenceTimeout = provider.fenceTimeout ?? trackable.fenceTimeout ?? fence.fenceTimeout ?? 0;
  const toleranceTimeout = provider.toleranceTimeout ?? trackable.toleranceTimeout ?? fence.toleranceTimeout;
  const fenceTimeoutMs = fenceTimeout === 0 ? Number.POSITIVE_INFINITY : milliseconds(fenceTimeout);
  return {
    fenceTimeoutMs,
    exitToleranceMeters: provider.exitTolerance ?? trackable.exitTolerance ?? fence.exitTolerance ?? 0,
    toleranceTimeoutMs: toleranceTimeout === undefined ? fenceTimeoutMs : milliseconds(toleranceTimeout),
    toleranceTimeoutSet: toleranceTimeout !== undefined,
    exitDelayMs: milliseconds(provider.exitDelay ?? trackable.exitDelay ?? fence.exitDelay ?? 0),
    entryToleranceMeters: fence.entryTolerance ?? 0,
    entryToleranceTimeoutMs: milliseconds(
      provider.entryToleranceTimeout ?? trackable.entryToleranceTimeout ?? fence.entryToleranceTimeout ?? -1,
    ),
    entryDelayMs: milliseconds(provider.entryDelay ?? trackable.entryDelay ?? fence.entryDelay ?? 0),
  };
}

function milliseconds(value: number): number {
  return value === -1 ? Number.POSITIVE_INFINITY : value;
}
