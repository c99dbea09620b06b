import { NEVER_SET_BACK, runningTime, type SetBack, timeOfDay } from '../model/set_back.ts';

/** The clock and the timers of the hub. Everybody else is handed them by hub/. */

/** The two times of the hub, see set_back.ts, and a third one that measures. All in milliseconds. */
export interface Clock {
  /** Time of day, since 1970. Falls when the system's clock is set back by more than a second, and by no more. */
  now(): number;
  /** Running time. Never falls. */
  running(): number;
  /** Time that has passed since some moment, whatever the system's clock was set to. */
  elapsed(): number;
  /** The time of day of a running time. */
  timeOfDay(runningMs: number): number;
  /** The running time of a time of day. */
  runningTime(dayMs: number): number;
  /** How often, and by how much, the system's clock was set back, or the hub stood still. Another list for each more. */
  readonly setBacks: readonly SetBack[];
  /**
   * Says that the hub is running. From the first beat on they are to come often: time that goes by without one, while the
   * process or the machine was stopped, or the system's clock was set ahead, is none for running time.
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
/** The hub stands still when nobody has looked at the time for so long, which each beat does. */
const STILL_MS = 1000;
/** A clock that is set back again and again: of the earliest times only the sum is known. */
const SET_BACKS_MAX = 16;

const OF_THE_SYSTEM: TimeSources = { system: () => Date.now(), elapsed: () => performance.now() };

/** A clock that begins now. */
export function openClock({ system, elapsed }: TimeSources = OF_THE_SYSTEM): Clock {
  let lastMs = system();
  let lastElapsedMs = elapsed();
  let aheadMs = 0;
  let setBacks = NEVER_SET_BACK;
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
        const stoodMs = systemMs - lastMs;
        setBacks = shortened([...setBacks, { toMs: lastMs, byMs: -stoodMs }]);
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
    timeOfDay: (runningMs) => timeOfDay(runningMs, setBacks),
    runningTime: (dayMs) => runningTime(dayMs, setBacks),
    get setBacks() {
      return setBacks;
    },
    beat() {
      now();
      isBeating = true;
    },
  };
}

function shortened(setBacks: readonly SetBack[]): readonly SetBack[] {
  const [first, second, ...rest] = setBacks;
  if (setBacks.length <= SET_BACKS_MAX || first === undefined || second === undefined) return setBacks;
  return [{ toMs: first.toMs, byMs: first.byMs + second.byMs }, ...rest];
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
