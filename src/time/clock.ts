import {
  eventTime,
  wallClockOfEventTime,
  NO_CLOCK_STEPS,
  monotonicTime,
  type ClockStep,
  wallClockTime,
} from '../model/clock_steps.ts';

/** Clock and timers of the hub, which hub/ passes to all other parts. */

/** Times of the hub (model/clock_steps.ts), and monotonic time for durations. All in milliseconds. */
export interface Clock {
  /** Wall-clock time since 1970. Decreases only if the system clock steps backward by more than a second. */
  now(): number;
  /** Monotonic time. Never decreases, and does not advance while the hub is suspended. */
  monotonic(): number;
  /** Monotonic time of the platform, unaffected by the system clock, for durations. */
  elapsed(): number;
  /** Converts monotonic time to wall-clock time. */
  wallClockTime(runningMs: number): number;
  /** Converts wall-clock time to monotonic time. */
  monotonicTime(dayMs: number): number;
  /** Converts wall-clock time, for example sent by a client, to event time. */
  eventTime(dayMs: number): number;
  /** Converts event time to wall-clock time. */
  wallClockOfEventTime(eventMs: number): number;
  /** Backward steps of the system clock and suspensions of the hub, the newest last. A change creates a new list. */
  readonly clockSteps: readonly ClockStep[];
  /**
   * Reads the clock. After the first heartbeat, heartbeats must be frequent: a gap, because the process or the machine
   * was stopped or the system clock was set ahead, counts as a suspension.
   */
  heartbeat(): void;
}

/** Time sources of a clock: the system clock, and one that is never set. */
export interface TimeSources {
  readonly system: () => number;
  readonly elapsed: () => number;
}

/**
 * Smaller backward corrections of the system clock are absorbed: the time stands still until the system clock catches
 * up.
 */
const WAITED_OUT_MS = 1000;
/** Interval of heartbeats. */
export const HEARTBEAT_MS = 250;
/** If the clock was not read for longer than this, the hub was suspended. */
const SUSPENDED_MS = 1000;
/** Beyond this number the two oldest clock steps, or the two oldest suspensions, are merged. */
const CLOCK_STEPS_MAX = 16;

const OF_THE_SYSTEM: TimeSources = { system: () => Date.now(), elapsed: () => performance.now() };

/** Returns a clock that starts now. */
export function openClock({ system, elapsed }: TimeSources = OF_THE_SYSTEM): Clock {
  let lastMs = system();
  let lastElapsedMs = elapsed();
  let aheadMs = 0;
  let clockSteps = NO_CLOCK_STEPS;
  let isBeating = false;
  // hot
  const now = (): number => {
    const systemMs = system();
    const elapsedMs = elapsed();
    const expectedMs = lastMs + Math.max(0, Math.round(elapsedMs - lastElapsedMs));
    if (expectedMs - systemMs > WAITED_OUT_MS) {
      const byMs = expectedMs - systemMs;
      clockSteps = shortened([...clockSteps, { toMs: systemMs, byMs }]);
      aheadMs += byMs;
      lastMs = systemMs;
      lastElapsedMs = elapsedMs;
    } else if (systemMs > lastMs) {
      if (isBeating && systemMs - lastMs > SUSPENDED_MS) {
        // Monotonic time advances by one millisecond, so that a monotonic time is either before or after the
        // suspension.
        const stoodMs = systemMs - lastMs - 1;
        clockSteps = shortened([...clockSteps, { toMs: lastMs + aheadMs, byMs: -stoodMs }]);
        aheadMs -= stoodMs;
      }
      lastMs = systemMs;
      lastElapsedMs = elapsedMs;
    }
    return lastMs;
  };
  return {
    now,
    monotonic: () => now() + aheadMs,
    elapsed,
    wallClockTime: (runningMs) => wallClockTime(runningMs, clockSteps),
    monotonicTime: (dayMs) => monotonicTime(dayMs, clockSteps),
    eventTime: (dayMs) => eventTime(dayMs, clockSteps),
    wallClockOfEventTime: (eventMs) => wallClockOfEventTime(eventMs, clockSteps),
    get clockSteps() {
      return clockSteps;
    },
    heartbeat() {
      now();
      isBeating = true;
    },
  };
}

function shortened(clockSteps: readonly ClockStep[]): readonly ClockStep[] {
  if (clockSteps.length <= CLOCK_STEPS_MAX) return clockSteps;
  const steps = clockSteps.filter(({ byMs }) => byMs > 0);
  const standstills = clockSteps.filter(({ byMs }) => byMs < 0);
  const [first, second] = (steps.length > standstills.length ? steps : standstills) as [ClockStep, ClockStep];
  const sum = { toMs: first.toMs, byMs: first.byMs + second.byMs };
  return clockSteps.filter((each) => each !== second).map((each) => (each === first ? sum : each));
}

/** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
export function schedule(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Calls `callback` at every interval; never if the interval is 0. Returns a function that cancels it. */
export function every(intervalMs: number, callback: () => void): () => void {
  if (intervalMs === 0) return () => undefined;
  const timer = setInterval(callback, intervalMs);
  return () => clearInterval(timer);
}
