import type { Fence } from '../../model/fence.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';

/**
 * The values that time an object's entry into and exit from a fence.
 *
 * A provider's value overrides its trackable's, which overrides the fence's; null or absent falls through, -1 is
 * infinite and a set value. A fence timeout of 0 is infinite, all other zeros mean "at once".
 */
export interface Timing {
  /** Silence after which a member exits. */
  readonly fenceTimeoutMs: number;
  readonly exitToleranceMetres: number;
  /** Time within the exit tolerance after which a member exits. */
  readonly toleranceTimeoutMs: number;
  /** Whether a tolerance timeout was set anywhere; unset it is the fence timeout, and does not hurry an exit delay. */
  readonly toleranceTimeoutSet: boolean;
  readonly exitDelayMs: number;
  readonly entryToleranceMetres: number;
  /** Time in the entry tolerance after which an object enters. */
  readonly entryToleranceTimeoutMs: number;
  readonly entryDelayMs: number;
}

/** What one entity sets, of the values above; undefined where it sets nothing. */
export interface OwnTiming {
  readonly fenceTimeout: number | undefined;
  readonly exitTolerance: number | undefined;
  readonly toleranceTimeout: number | undefined;
  readonly exitDelay: number | undefined;
  readonly entryTolerance: number | undefined;
  readonly entryToleranceTimeout: number | undefined;
  readonly entryDelay: number | undefined;
}

/** Of an entity that sets nothing. */
export const UNSET: OwnTiming = {
  fenceTimeout: undefined,
  exitTolerance: undefined,
  toleranceTimeout: undefined,
  exitDelay: undefined,
  entryTolerance: undefined,
  entryToleranceTimeout: undefined,
  entryDelay: undefined,
};

/** What a provider or trackable sets; shared and empty when it sets nothing. */
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

/** What a fence sets. */
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
 * The effective timing of an object in a fence. `trackable` is the trackable whose values apply, if any: the object
 * itself, or the only trackable of a provider.
 */
export function effectiveTiming(fence: OwnTiming, provider: OwnTiming, trackable: OwnTiming): Timing {
  const fenceTimeout = provider.fenceTimeout ?? trackable.fenceTimeout ?? fence.fenceTimeout ?? 0;
  const toleranceTimeout = provider.toleranceTimeout ?? trackable.toleranceTimeout ?? fence.toleranceTimeout;
  const fenceTimeoutMs = fenceTimeout === 0 ? Number.POSITIVE_INFINITY : milliseconds(fenceTimeout);
  return {
    fenceTimeoutMs,
    exitToleranceMetres: provider.exitTolerance ?? trackable.exitTolerance ?? fence.exitTolerance ?? 0,
    toleranceTimeoutMs: toleranceTimeout === undefined ? fenceTimeoutMs : milliseconds(toleranceTimeout),
    toleranceTimeoutSet: toleranceTimeout !== undefined,
    exitDelayMs: milliseconds(provider.exitDelay ?? trackable.exitDelay ?? fence.exitDelay ?? 0),
    entryToleranceMetres: fence.entryTolerance ?? 0,
    entryToleranceTimeoutMs: milliseconds(
      provider.entryToleranceTimeout ?? trackable.entryToleranceTimeout ?? fence.entryToleranceTimeout ?? -1,
    ),
    entryDelayMs: milliseconds(provider.entryDelay ?? trackable.entryDelay ?? fence.entryDelay ?? 0),
  };
}

function milliseconds(value: number): number {
  return value === -1 ? Number.POSITIVE_INFINITY : value;
}
