/**
 * The three times of the hub, in milliseconds, and how they follow from each other.
 *
 *   wall-clock time   What people, clients and other systems say and read. It goes back when the system's clock is set
 *                     back by more than a moment.
 *   event time        Wall-clock time without the backward steps of the clock: it never falls. `timestamp_generated`,
 *                     `entry_time`, `exit_time` and the times of collisions are event times in the hub. Locations are
 *                     ordered by it.
 *   running time      Event time without the standstills of the hub, in which it was stopped by a debugger, with its machine,
 *                     or by its own work. Times of receipt, timers and deadlines are running times: what was sent
 *                     during a standstill is read before any timer is due, and no object is silent for longer than the
 *                     hub could listen.
 *
 *   wall-clock time  -- clock steps -->  event time  -- standstills -->  running time
 *
 * All three are equal until the clock is set back or the hub stands still. A client's time crosses the first arrow alone,
 * in both directions, so it is published exactly as the client has sent it, whether or not the hub stood still. A deadline
 * crosses both: it fires after a standstill as much later as that was long, and its `exit_time` is when it fires.
 * Two comparisons need a running time as event time: no location was generated after its receipt, and an event
 * that no location causes has the time of its deadline or of its command. `eventTimeAt` gives that time.
 *
 * A clock step maps a time that was noted while the clock was ahead to the wall-clock time that it should have had: a time
 * that lies in the future of the moment of the step is too late by the length of the step. Earlier times stay, since they
 * were noted before the clock went ahead, or come from a client whose clock was right.
 */
export interface ClockStep {
  /** Clock step: the wall-clock time after it. Standstill: the running time of its beginning. */
  readonly toMs: number;
  /** Clock step: how far the clock was set back. Standstill: its length, negative. */
  readonly byMs: number;
}

export const NO_CLOCK_STEPS: readonly ClockStep[] = [];

/** The event time of a wall-clock time. `eventTimeOfDay` of it is that wall-clock time. */
// hot
export function eventTime(wallMs: number, clockSteps: readonly ClockStep[]): number {
  let ms = wallMs;
  for (let i = clockSteps.length - 1; i >= 0; i--) {
    const { toMs, byMs } = clockSteps[i] as ClockStep;
    if (byMs > 0 && ms >= toMs) ms += byMs;
  }
  return ms;
}

/** The wall-clock time of an event time. */
// hot
export function wallClockOfEventTime(eventMs: number, clockSteps: readonly ClockStep[]): number {
  let ms = eventMs;
  for (let i = 0; i < clockSteps.length; i++) {
    const { toMs, byMs } = clockSteps[i] as ClockStep;
    if (byMs > 0 && ms > toMs) ms -= byMs;
  }
  return ms;
}

/** The event time of a running time. */
// hot
export function eventTimeOfMonotonic(monotonicMs: number, clockSteps: readonly ClockStep[]): number {
  let ms = monotonicMs;
  for (let i = 0; i < clockSteps.length; i++) {
    const { toMs, byMs } = clockSteps[i] as ClockStep;
    if (byMs < 0 && monotonicMs > toMs) ms -= byMs;
  }
  return ms;
}

/** The running time of an event time. All of a standstill is its beginning. */
function monotonicOfEventTime(eventMs: number, clockSteps: readonly ClockStep[]): number {
  let ms = eventMs;
  for (const { toMs, byMs } of clockSteps) if (byMs < 0 && ms > toMs) ms = Math.max(toMs, ms + byMs);
  return ms;
}

/** The wall-clock time of a running time. */
export function wallClockTime(monotonicMs: number, clockSteps: readonly ClockStep[]): number {
  return wallClockOfEventTime(eventTimeOfMonotonic(monotonicMs, clockSteps), clockSteps);
}

/** The running time of a wall-clock time. `timeOfDay` of it is that wall-clock time, unless the hub stood still then. */
export function monotonicTime(wallMs: number, clockSteps: readonly ClockStep[]): number {
  return monotonicOfEventTime(eventTime(wallMs, clockSteps), clockSteps);
}

/**
 * The running time of the last location of an object, by which its silence is counted, from the wall-clock time of its receipt.
 * The wall-clock time says how long ago that was, also across clock steps. The hub has not listened during standstills.
 */
export function lastSeenTime(wallMs: number, clockSteps: readonly ClockStep[]): number {
  let eventMs = wallMs;
  for (const { byMs } of clockSteps) if (byMs > 0) eventMs += byMs;
  return monotonicOfEventTime(eventMs, clockSteps);
}
