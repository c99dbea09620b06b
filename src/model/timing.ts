import { DurationMs, Meters } from './schema.ts';

/**
 * Values that decide when an object enters and leaves a fence. A provider's value overrides its trackable's, which
 * overrides the fence's; null or absent falls through. core/fence/timing.ts resolves the effective value.
 */
export const exitTolerance = Meters('Distance outside the fence within which an exit is delayed.');
export const toleranceTimeout = DurationMs('How long an object may stay within the exit tolerance.');
export const entryToleranceTimeout = DurationMs('How long until an object in the entry tolerance enters.');
export const exitDelay = DurationMs('How long an exit is delayed.');
export const entryDelay = DurationMs('How long an entry is delayed.');
export const fenceTimeout = DurationMs('How long without locations until an object exits; 0 is infinite.');

/** Timing fields shared by providers and trackables. `timeout` is the older name of `fence_timeout`. */
export const objectTiming = {
  fence_timeout: fenceTimeout,
  timeout: fenceTimeout,
  exit_tolerance: Meters(
    'Distance outside a fence within which an exit is delayed. A collision lasts up to the sum of both distances.',
  ),
  tolerance_timeout: toleranceTimeout,
  entry_tolerance_timeout: entryToleranceTimeout,
  exit_delay: exitDelay,
  entry_delay: entryDelay,
};
