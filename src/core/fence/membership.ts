import type { Timing } from './timing.ts';

/**
 * Whether an object is in a fence: two machines with their timers, one for entering and one for exiting.
 *
 * An observation is a location of the object, seen in one of four areas of the fence:
 *
 *   deep       inside, at least the entry tolerance away from the edge
 *   band       inside, but nearer to the edge than the entry tolerance
 *   tolerance  outside, but no farther away than the exit tolerance
 *   out        outside of all this
 *
 * Nobody enters from outside the fence, so an object that is not a member is `undefined` until it is inside.
 *
 *   state      signal     next state
 *   ---------  ---------  ------------------------------------------------------------------------------------------
 *   undefined  deep       entering: delay timer set; without entry delay inside at once
 *   undefined  band       entering: tolerance timer set
 *   undefined  others     undefined
 *   entering   deep       entering: delay timer set unless it runs; the tolerance timer keeps running
 *   entering   band       entering: tolerance timer set unless it runs; delay timer cleared
 *   entering   others     undefined: a passer-by has never been inside
 *   entering   timer      inside                                                                      -> entry
 *   inside     deep,band  inside: silence timer set anew; tolerance and delay timers cleared
 *   inside     tolerance  inside: silence timer set anew; tolerance timer set unless it runs; delay timer cleared
 *   inside     out        inside: silence timer set anew; delay timer set unless the object was out already; the
 *                         tolerance timer keeps running, and is set if a tolerance timeout was given explicitly
 *   inside     timer      undefined                                                                   -> exit
 *
 * A timer that is set to now fires with the observation that sets it. Timers run on the time of receipt; an entry
 * carries the event time of the first inside observation, an exit that of its observation or the deadline itself.
 *
 * A timer is kept as when it began, and its deadline follows from the timing that applies now. So when that changes,
 * without an observation, `retimed` finds the deadlines that it would have led to.
 */
export type Membership =
  | {
      readonly at: 'entering';
      /** Event time of the first inside observation of this visit. */
      readonly sinceMs: number;
      /** When the timers began, and when they are over. */
      readonly toleranceFromMs: number;
      readonly toleranceAtMs: number;
      readonly delayFromMs: number;
      readonly delayAtMs: number;
    }
  | {
      readonly at: 'inside';
      readonly area: 'in' | 'tolerance' | 'out';
      readonly entryMs: number;
      /** When the fence timeout is over, unless the object is heard of before. */
      readonly timeoutAtMs: number;
      readonly toleranceFromMs: number;
      readonly toleranceAtMs: number;
      readonly delayFromMs: number;
      readonly delayAtMs: number;
    };

type Entering = Membership & { readonly at: 'entering' };
type Inside = Membership & { readonly at: 'inside' };

export type Area = 'deep' | 'band' | 'tolerance' | 'out';

const NEVER = Number.POSITIVE_INFINITY;

/** The membership after an observation received at `nowMs` with event time `eventTimeMs`. */
// hot
export function observe(
  membership: Membership | undefined,
  seen: { readonly area: Area; readonly timing: Timing; readonly nowMs: number; readonly eventTimeMs: number },
): Membership | undefined {
  const { area, timing, nowMs, eventTimeMs } = seen;
  if (membership?.at === 'inside') {
    const next = stay(membership, area, timing, nowMs);
    return Math.min(next.toleranceAtMs, next.delayAtMs) <= nowMs ? undefined : next;
  }
  if (area !== 'deep' && area !== 'band') return undefined;
  const next = enter(membership, area, timing, { seenMs: nowMs, eventTimeMs });
  return deadlineMs(next) <= nowMs ? entered(next.sinceMs, nowMs + timing.fenceTimeoutMs) : next;
}

/**
 * The membership when its timing has changed at `nowMs`: its deadlines are those that the new timing gives the object as
 * it was seen last, at `seenMs` in `area`. What is overdue by then is due now.
 */
export function retimed(
  membership: Membership,
  seen: { readonly area: Area; readonly timing: Timing; readonly seenMs: number; readonly nowMs: number },
): Membership | undefined {
  const { area, timing, seenMs, nowMs } = seen;
  // What is held since a restart keeps its time, unless that is what has changed.
  const due = (atMs: number, beforeMs: number): number => (atMs === beforeMs ? atMs : Math.max(atMs, nowMs));
  if (membership.at === 'entering') {
    if (area !== 'deep' && area !== 'band') return undefined;
    const next = enter(membership, area, timing, { seenMs, eventTimeMs: membership.sinceMs });
    const toleranceAtMs = due(next.toleranceAtMs, membership.toleranceAtMs);
    return { ...next, toleranceAtMs, delayAtMs: due(next.delayAtMs, membership.delayAtMs) };
  }
  const next = stay(membership, area, timing, seenMs);
  // A tolerance timer that began outside of the tolerance runs only while a tolerance timeout is set.
  const isHurried = timing.toleranceTimeoutSet || next.area !== 'out' || next.toleranceFromMs < next.delayFromMs;
  return {
    ...next,
    timeoutAtMs: due(next.timeoutAtMs, membership.timeoutAtMs),
    toleranceFromMs: isHurried ? next.toleranceFromMs : NEVER,
    toleranceAtMs: isHurried ? due(next.toleranceAtMs, membership.toleranceAtMs) : NEVER,
    delayAtMs: due(next.delayAtMs, membership.delayAtMs),
  };
}

function enter(
  before: Entering | undefined,
  area: 'deep' | 'band',
  timing: Timing,
  { seenMs, eventTimeMs }: { readonly seenMs: number; readonly eventTimeMs: number },
): Entering {
  let toleranceFromMs = before?.toleranceFromMs ?? NEVER;
  let delayFromMs = NEVER;
  if (area === 'deep') delayFromMs = running(before?.delayFromMs ?? NEVER, seenMs);
  else toleranceFromMs = running(toleranceFromMs, seenMs);
  return {
    at: 'entering',
    sinceMs: before?.sinceMs ?? eventTimeMs,
    toleranceFromMs,
    toleranceAtMs: toleranceFromMs + timing.entryToleranceTimeoutMs,
    delayFromMs,
    delayAtMs: delayFromMs + timing.entryDelayMs,
  };
}

function stay(member: Inside, area: Area, timing: Timing, seenMs: number): Inside {
  const timeoutAtMs = seenMs + timing.fenceTimeoutMs;
  let { toleranceFromMs, delayFromMs } = member;
  switch (area) {
    case 'deep':
    case 'band':
      if (member.area === 'in' && member.timeoutAtMs === timeoutAtMs) return member;
      return entered(member.entryMs, timeoutAtMs);
    case 'tolerance':
      toleranceFromMs = running(toleranceFromMs, seenMs);
      delayFromMs = NEVER;
      break;
    case 'out':
      if (member.area !== 'out') delayFromMs = seenMs;
      if (timing.toleranceTimeoutSet) toleranceFromMs = running(toleranceFromMs, delayFromMs);
      break;
  }
  return {
    at: 'inside',
    area: area === 'tolerance' ? 'tolerance' : 'out',
    entryMs: member.entryMs,
    timeoutAtMs,
    toleranceFromMs,
    toleranceAtMs: toleranceFromMs + timing.toleranceTimeoutMs,
    delayFromMs,
    delayAtMs: delayFromMs + timing.exitDelayMs,
  };
}

/** Whether nothing has changed but the time at which the fence timeout ends. */
// hot
export function isSameButSilence(a: Membership, b: Membership): boolean {
  if (a.at !== b.at) return false;
  if (a.at === 'inside' && b.at === 'inside') {
    if (a.area !== b.area || a.entryMs !== b.entryMs) return false;
    if (a.area === 'in') return true;
  }
  return (
    a.toleranceFromMs === b.toleranceFromMs &&
    a.toleranceAtMs === b.toleranceAtMs &&
    a.delayFromMs === b.delayFromMs &&
    a.delayAtMs === b.delayAtMs
  );
}

/** When the next timer fires; Infinity when none runs. */
export function deadlineMs(membership: Membership): number {
  switch (membership.at) {
    case 'entering':
      return Math.min(membership.toleranceAtMs, membership.delayAtMs);
    case 'inside':
      return Math.min(membership.timeoutAtMs, membership.toleranceAtMs, membership.delayAtMs);
  }
}

/**
 * The membership after its timer has fired. The silence of an object that enters by a timer counts from its last
 * observation, which may be longer ago than the fence timeout.
 */
export function expire(membership: Membership, seenMs: number, fenceTimeoutMs: number): Membership | undefined {
  switch (membership.at) {
    case 'entering':
      return entered(membership.sinceMs, seenMs + fenceTimeoutMs);
    case 'inside':
      return undefined;
  }
}

/** A member that was inside before a restart: only its fence timeout goes on. */
export function restored(entryMs: number, timeoutAtMs: number): Membership {
  return entered(entryMs, timeoutAtMs);
}

/** Timers as they are kept: the time when each began, in milliseconds, or null if it is not running. */
export interface KeptTimers {
  /** Time of receipt of the last observation. */
  readonly seen: number;
  readonly area: 'entering' | 'in' | 'tolerance' | 'out';
  /** For an object that is entering: event time of the first observation inside. */
  readonly since?: number;
  readonly tolerance: number | null;
  readonly delay: number | null;
}

/** What to keep of a membership besides its entry; undefined if only its fence timeout runs, since `heardMs`. */
export function timersOf(membership: Membership, seenMs: number, heardMs: number): KeptTimers | undefined {
  const isInside = membership.at === 'inside';
  if (isInside && membership.area === 'in' && seenMs === heardMs) return undefined;
  const from = (ms: number): number | null => (ms === NEVER ? null : ms);
  return {
    seen: seenMs,
    area: isInside ? membership.area : 'entering',
    ...(!isInside && { since: membership.sinceMs }),
    tolerance: from(membership.toleranceFromMs),
    delay: from(membership.delayFromMs),
  };
}

/** A membership from its kept timers, with the deadlines that follow from the timing that applies now. */
export function resumed(entryMs: number | null, kept: KeptTimers, timing: Timing): Membership {
  const toleranceFromMs = kept.tolerance ?? NEVER;
  const delayFromMs = kept.delay ?? NEVER;
  if (kept.area === 'entering') {
    return {
      at: 'entering',
      sinceMs: kept.since ?? kept.seen,
      toleranceFromMs,
      toleranceAtMs: toleranceFromMs + timing.entryToleranceTimeoutMs,
      delayFromMs,
      delayAtMs: delayFromMs + timing.entryDelayMs,
    };
  }
  return {
    at: 'inside',
    area: kept.area,
    entryMs: entryMs ?? kept.seen,
    timeoutAtMs: kept.seen + timing.fenceTimeoutMs,
    toleranceFromMs,
    toleranceAtMs: toleranceFromMs + timing.toleranceTimeoutMs,
    delayFromMs,
    delayAtMs: delayFromMs + timing.exitDelayMs,
  };
}

function entered(entryMs: number, timeoutAtMs: number): Inside {
  return {
    at: 'inside',
    area: 'in',
    entryMs,
    timeoutAtMs,
    toleranceFromMs: NEVER,
    toleranceAtMs: NEVER,
    delayFromMs: NEVER,
    delayAtMs: NEVER,
  };
}

/** A timer that runs keeps its beginning. */
function running(fromMs: number, seenMs: number): number {
  return fromMs === NEVER ? seenMs : fromMs;
}
