/**
 * The three times of the hub, in milliseconds, and how to convert between them.
 *
 * - wall-clock time: time used by people, clients and other systems. It goes backward when the system clock steps
 *   backward.
 * - event time: wall-clock time without backward steps, so it never decreases. `timestamp_generated`, `entry_time`,
 *   `exit_time` and the times of collisions are event times in the hub. Locations are ordered by it.
 * - monotonic time: event time without standstills of the hub, during which it was stopped by a debugger, with its
 *   machine, or by its own work. Times of receipt, timers and deadlines are monotonic times: input sent during a
 *   standstill is read before any timer fires, and no object is silent for longer than the hub could receive.
 *
 * wall-clock time -- clock steps --> event time -- standstills --> monotonic time
 *
 * All three are equal until the clock is set back or the hub stands still. A client's time crosses only the first
 * arrow, in both directions, so it is published exactly as sent, regardless of standstills. A deadline crosses both:
 * after a standstill it fires later by the length of the standstill, and that is its `exit_time`. Two comparisons
 * convert monotonic time to event time (`eventTimeOfMonotonic`): no location was generated after its receipt, and an
 * event not caused by a location has the time of its deadline or of its command.
 *
 * A clock step maps a time recorded while the clock was ahead to the correct wall-clock time: a time in the future of
 * the step is too late by the length of the step. Earlier times stay: they were recorded before the clock went ahead,
 * or come from a client whose clock was right.
 */
export interface ClockStep {
  /** Clock step: wall-clock time after it. Standstill: monotonic time of its start. */
  readonly toMs: number;
  /** Clock step: how far the clock was set back. Standstill: its length, negative. */
  readonly byMs: number;
}

export const NO_CLOCK_STEPS: readonly ClockStep[] = [];

/** Event time of a wall-clock time; `wallClockOfEventTime` is its inverse. */
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

/** The event time of a monotonic time. */
// hot
export function eventTimeOfMonotonic(monotonicMs: number, clockSteps: readonly ClockStep[]): number {
  let ms = monotonicMs;
  for (let i = 0; i < clockSteps.length; i++) {
    const { toMs, byMs } = clockSteps[i] as ClockStep;
    if (byMs < 0 && monotonicMs > toMs) ms -= byMs;
  }
  return ms;
}

/** The monotonic time of an event time. All moments of a standstill map to its start. */
function monotonicOfEventTime(eventMs: number, clockSteps: readonly ClockStep[]): number {
  let ms = eventMs;
  for (const { toMs, byMs } of clockSteps) if (byMs < 0 && ms > toMs) ms = Math.max(toMs, ms + byMs);
  return ms;
}

/** The wall-clock time of a monotonic time. */
export function wallClockTime(monotonicMs: number, clockSteps: readonly ClockStep[]): number {
  return wallClockOfEventTime(eventTimeOfMonotonic(monotonicMs, clockSteps), clockSteps);
}

/** The monotonic time of a wall-clock time; `wallClockTime` is its inverse, except during a standstill. */
export function monotonicTime(wallMs: number, clockSteps: readonly ClockStep[]): number {
  return monotonicOfEventTime(eventTime(wallMs, clockSteps), clockSteps);
}

/**
 * The monotonic time of the last location of an object, from the wall-clock time of its receipt; it starts the silence
 * of the object. Wall-clock time measures how long ago that was, also across clock steps. The hub received nothing
 * during standstills.
 */
export function lastSeenTime(wallMs: number, clockSteps: readonly ClockStep[]): number {
  let eventMs = wallMs;
  for (const { byMs } of clockSteps) if (byMs > 0) eventMs += byMs;
  return monotonicOfEventTime(eventMs, clockSteps);
}
