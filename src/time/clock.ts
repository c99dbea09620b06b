import {
  eventTime,
  wallClockOfEventTime,
  NO_CLOCK_STEPS,
  monotonicTime,
  type ClockStep,
  wallClockTime,
} from '../model/clock_steps.ts';

/** The clock and the timers of the hub. Everybody else is handed them by hub/. */

/** The times of the hub (model/clock_steps.ts), and one that measures durations. All in milliseconds. */
export interface Clock {
  /** Wall-clock time since 1970. Falls when the system's clock is set back by more than a second, and by no more. */
  now(): number;
  /** Running time. Never falls, and does not advance while the hub stands still. */
  running(): number;
  /** Time that has passed since some moment, whatever the system's clock was set to. */
  elapsed(): number;
  /** The wall-clock time of a running time. */
  timeOfDay(runningMs: number): number;
  /** The running time of a wall-clock time. */
  runningTime(dayMs: number): number;
  /** The event time of a wall-clock time, such as a client sends. */
  eventTime(dayMs: number): number;
  /** The wall-clock time of an event time. */
  eventTimeOfDay(eventMs: number): number;
  /** The backward steps of the system's clock and the standstills of the hub, the newest last. A change makes a new list. */
  readonly setBacks: readonly ClockStep[];
  /**
   * Reads the clock. From the first beat on they must come often: time without one, while the process or the machine was
   * stopped or the system's clock was set ahead, is a standstill.
   */
  beat(): void;
}

/** Where a clock gets its times from: the system's clock, and one that nobody sets. */
export interface TimeSources {
  readonly system: () => number;
  readonly elapsed: () => number;
}

/** Smaller corrections of the system's clock are waited for. */
const WAITED_FOR_MS = 1000;
/** How often the hub says that it runs. */
export const BEAT_MS = 250;
/** The hub stood still if the clock was not read for longer than this; each beat reads it. */
const STILL_MS = 1000;
/** Beyond this number the two oldest clock steps, or the two oldest standstills, become one that has their sum. */
const SET_BACKS_MAX = 16;

const OF_THE_SYSTEM: TimeSources = { system: () => Date.now(), elapsed: () => performance.now() };

/** A clock that begins now. */
export function openClock({ system, elapsed }: TimeSources = OF_THE_SYSTEM): Clock {
  let lastMs = system();
  let lastElapsedMs = elapsed();
  let aheadMs = 0;
  let setBacks = NO_CLOCK_STEPS;
  let isBeating = false;
  // hot
  const now = (): number => {
    const systemMs = system();
    const elapsedMs = elapsed();
    const expectedMs = lastMs + Math.max(0, Math.round(elapsedMs - lastElapsedMs));
    if (expectedMs - systemMs > WAITED_FOR_MS) {
      const byMs = expectedMs - systemMs;
      setBacks = shortened([...setBacks, { toMs: systemMs, byMs }]);
      aheadMs += byMs;
      lastMs = systemMs;
      lastElapsedMs = elapsedMs;
    } else if (systemMs > lastMs) {
      if (isBeating && systemMs - lastMs > STILL_MS) {
        // Running time advances by one millisecond, so that a running time is either before or after the standstill.
        const stoodMs = systemMs - lastMs - 1;
        setBacks = shortened([...setBacks, { toMs: lastMs + aheadMs, byMs: -stoodMs }]);
        aheadMs -= stoodMs;
      }
      lastMs = systemMs;
      lastElapsedMs = elapsedMs;
    }
    return lastMs;
  };
  return {
    now,
    running: () => now() + aheadMs,
    elapsed,
    timeOfDay: (runningMs) => wallClockTime(runningMs, setBacks),
    runningTime: (dayMs) => monotonicTime(dayMs, setBacks),
    eventTime: (dayMs) => eventTime(dayMs, setBacks),
    eventTimeOfDay: (eventMs) => wallClockOfEventTime(eventMs, setBacks),
    get setBacks() {
      return setBacks;
    },
    beat() {
      now();
      isBeating = true;
    },
  };
}

function shortened(setBacks: readonly ClockStep[]): readonly ClockStep[] {
  if (setBacks.length <= SET_BACKS_MAX) return setBacks;
  const steps = setBacks.filter(({ byMs }) => byMs > 0);
  const standstills = setBacks.filter(({ byMs }) => byMs < 0);
  const [first, second] = (steps.length > standstills.length ? steps : standstills) as [ClockStep, ClockStep];
  const sum = { toMs: first.toMs, byMs: first.byMs + second.byMs };
  return setBacks.filter((each) => each !== second).map((each) => (each === first ? sum : each));
}

/** Calls back after a delay; returns how to call it off. */
export function schedule(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Calls back at every interval, and never for 0; returns how to call it off. */
export function every(intervalMs: number, callback: () => void): () => void {
  if (intervalMs === 0) return () => undefined;
  const timer = setInterval(callback, intervalMs);
  return () => clearInterval(timer);
}
