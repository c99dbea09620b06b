/**
 * The hub has two times. Running time never falls: timers run on it, and locations are ordered by it. The time of day is
 * what people and other systems are told, and what they say. Both are the same until the system's clock is set back by
 * more than a moment; from then on running time goes on as if nothing had happened, and is ahead by so much. While the
 * hub stands still, stopped by a debugger or with its machine, running time does so too, and is behind by so much: what was
 * sent meanwhile is read before any timer is due, and nobody is silent for longer than the hub could listen.
 *
 * What was noted while the clock was ahead is shown as if it had not been: a time that lies in the future of the moment
 * at which the clock was set back is as much too late as it was set back by. What is earlier stays, as it was noted before
 * the clock went ahead, or was told by somebody whose clock was right.
 */
export interface SetBack {
  /** Time of day right after it; right before it where the hub stood still. */
  readonly toMs: number;
  /** Negative where the hub stood still. */
  readonly byMs: number;
}

export const NEVER_SET_BACK: readonly SetBack[] = [];

/** The time of day of a running time. */
export function timeOfDay(runningMs: number, setBacks: readonly SetBack[]): number {
  let ms = runningMs;
  for (const { toMs, byMs } of setBacks) if (ms > toMs) ms -= byMs;
  return ms;
}

/** The running time of a time of day: `timeOfDay` of it is that time of day, unless the hub stood still then. */
export function runningTime(dayMs: number, setBacks: readonly SetBack[]): number {
  let ms = dayMs;
  for (let i = setBacks.length - 1; i >= 0; i--) {
    const { toMs, byMs } = setBacks[i] as SetBack;
    // What was while the hub stood still was at that one moment.
    if (ms >= toMs) ms = byMs < 0 ? Math.max(toMs, ms + byMs) : ms + byMs;
  }
  return ms;
}

/**
 * The running time at which something was heard of at a time of day, by which its silence is counted. Where the clock was set
 * back since, the time of day tells how long ago that was; where the hub stood still since, it has not listened for so long.
 */
export function heardTime(dayMs: number, setBacks: readonly SetBack[]): number {
  let ms = dayMs;
  for (let i = setBacks.length - 1; i >= 0; i--) {
    const { toMs, byMs } = setBacks[i] as SetBack;
    if (byMs > 0) ms += byMs;
    else if (ms >= toMs) ms = Math.max(toMs, ms + byMs);
  }
  return ms;
}
