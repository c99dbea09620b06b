import type { Timing } from './timing.ts';

/**
 * Membership of an object in a fence: two state machines with timers, one for entry and one for exit.
 *
 * An observation is a location of the object in one of four areas of the fence:
 *
 *   deep       inside, at least the entry tolerance away from the edge
 *   band       inside, but nearer to the edge than the entry tolerance
 *   tolerance  outside, within the exit tolerance
 *   out        farther outside
 *
 * Only an object inside can begin to enter; until then its membership is `undefined`.
 *
 *   state      signal     next state
 *   ---------  ---------  ------------------------------------------------------------------------------------------
 *   undefined  deep       entering: delay timer started; without entry delay inside at once
 *   undefined  band       entering: tolerance timer started
 *   undefined  others     undefined
 *   entering   deep       entering: delay timer started unless it runs; the tolerance timer keeps running
 *   entering   band       entering: tolerance timer started unless it runs; delay timer cleared
 *   entering   others     undefined: a passer-by was never inside
 *   entering   timer      inside                                                                      -> entry
 *   inside     deep,band  inside: fence timeout restarted; tolerance and delay timers cleared
 *   inside     tolerance  inside: fence timeout restarted; tolerance timer started unless it runs; delay timer cleared
 *   inside     out        inside: fence timeout restarted; delay timer started unless the object was out already; the
 *                         tolerance timer keeps running, and is started if a tolerance timeout was set explicitly
 *   inside     timer      undefined                                                                   -> exit
 *
 * A timer of zero length fires with the observation that starts it. Timers count from the time of receipt. An entry
 * carries the event time of the first inside observation, an exit that of its observation or of the deadline.
 *
 * A timer is stored as its start time; its deadline follows from the current timing. When the timing changes without an
 * observation, `retimed` computes the new deadlines.
 */
export type FenceMembership =
  | {
      readonly at: 'entering';
      /** Event time of the first inside observation of this visit. */
      readonly sinceMs: number;
      /** Start times and deadlines of the timers. */
      readonly toleranceFromMs: number;
      readonly toleranceAtMs: number;
      readonly delayFromMs: number;
      readonly delayAtMs: number;
    }
  | {
      readonly at: 'inside';
      readonly area: 'in' | 'tolerance' | 'out';
      readonly entryMs: number;
      /** Deadline of the fence timeout, which the next observation postpones. */
      readonly timeoutAtMs: number;
      readonly toleranceFromMs: number;
      readonly toleranceAtMs: number;
      readonly delayFromMs: number;
      readonly delayAtMs: number;
    };

type Entering = FenceMembership & { readonly at: 'entering' };
type Inside = FenceMembership & { readonly at: 'inside' };

export type FenceArea = 'deep' | 'band' | 'tolerance' | 'out';

const NEVER = Number.POSITIVE_INFINITY;

/** Returns the membership after an observation received at `nowMs` with event time `eventTimeMs`. */
// hot
export function observe(
  membership: FenceMembership | undefined,
  seen: { readonly area: FenceArea; readonly timing: Timing; readonly nowMs: number; readonly eventTimeMs: number },
): FenceMembership | undefined {
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
 * Returns the membership after its timing has changed at `nowMs`: the new timing applied to the last observation, at
 * `seenMs` in `area`. Deadlines that are already past are due now.
 */
export function retimed(
  membership: FenceMembership,
  seen: { readonly area: FenceArea; readonly timing: Timing; readonly seenMs: number; readonly nowMs: number },
): FenceMembership | undefined {
  const { area, timing, seenMs, nowMs } = seen;
  // A deadline suppressed since a restart keeps its time unless the change affects it.
  const due = (atMs: number, beforeMs: number): number => (atMs === beforeMs ? atMs : Math.max(atMs, nowMs));
  if (membership.at === 'entering') {
    if (area !== 'deep' && area !== 'band') return undefined;
    const next = enter(membership, area, timing, { seenMs, eventTimeMs: membership.sinceMs });
    const toleranceAtMs = due(next.toleranceAtMs, membership.toleranceAtMs);
    return { ...next, toleranceAtMs, delayAtMs: due(next.delayAtMs, membership.delayAtMs) };
  }
  const next = stay(membership, area, timing, seenMs);
  // A tolerance timer that was started in the area `out` runs only while a tolerance timeout is set.
  const isToleranceTimed = timing.toleranceTimeoutSet || next.area !== 'out' || next.toleranceFromMs < next.delayFromMs;
  return {
    ...next,
    timeoutAtMs: due(next.timeoutAtMs, membership.timeoutAtMs),
    toleranceFromMs: isToleranceTimed ? next.toleranceFromMs : NEVER,
    toleranceAtMs: isToleranceTimed ? due(next.toleranceAtMs, membership.toleranceAtMs) : NEVER,
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

function stay(member: Inside, area: FenceArea, timing: Timing, seenMs: number): Inside {
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

/** Whether the memberships are equal, apart from the deadline of the fence timeout. */
// hot
export function isSameButTimeout(a: FenceMembership, b: FenceMembership): boolean {
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

/** Returns the next deadline; Infinity if no timer runs. */
export function deadlineMs(membership: FenceMembership): number {
  switch (membership.at) {
    case 'entering':
      return Math.min(membership.toleranceAtMs, membership.delayAtMs);
    case 'inside':
      return Math.min(membership.timeoutAtMs, membership.toleranceAtMs, membership.delayAtMs);
  }
}

/**
 * Returns the membership after its timer has fired. The fence timeout of an object that enters by a timer counts from
 * its last observation, which may be longer ago than the timeout.
 */
export function expire(
  membership: FenceMembership,
  seenMs: number,
  fenceTimeoutMs: number,
): FenceMembership | undefined {
  switch (membership.at) {
    case 'entering':
      return entered(membership.sinceMs, seenMs + fenceTimeoutMs);
    case 'inside':
      return undefined;
  }
}

/** Returns the membership of an object that was inside before a restart: only the fence timeout continues. */
export function restored(entryMs: number, timeoutAtMs: number): FenceMembership {
  return entered(entryMs, timeoutAtMs);
}

/** Timers in a stored row: start times in milliseconds, null for a timer that is not running. */
export interface StoredTimers {
  /** Time of receipt of the last observation. */
  readonly seen: number;
  readonly area: 'entering' | 'in' | 'tolerance' | 'out';
  /** While entering: event time of the first inside observation. */
  readonly since?: number;
  readonly tolerance: number | null;
  readonly delay: number | null;
}

/** Returns the timers to store besides the entry time; undefined if only the fence timeout runs, since `lastSeenMs`. */
export function timersOf(membership: FenceMembership, seenMs: number, lastSeenMs: number): StoredTimers | undefined {
  const isInside = membership.at === 'inside';
  if (isInside && membership.area === 'in' && seenMs === lastSeenMs) return undefined;
  const from = (ms: number): number | null => (ms === NEVER ? null : ms);
  return {
    seen: seenMs,
    area: isInside ? membership.area : 'entering',
    ...(!isInside && { since: membership.sinceMs }),
    tolerance: from(membership.toleranceFromMs),
    delay: from(membership.delayFromMs),
  };
}

/** Returns the membership with its stored timers and with deadlines by the current timing. */
export function resumed(entryMs: number | null, stored: StoredTimers, timing: Timing): FenceMembership {
  const toleranceFromMs = stored.tolerance ?? NEVER;
  const delayFromMs = stored.delay ?? NEVER;
  if (stored.area === 'entering') {
    return {
      at: 'entering',
      sinceMs: stored.since ?? stored.seen,
      toleranceFromMs,
      toleranceAtMs: toleranceFromMs + timing.entryToleranceTimeoutMs,
      delayFromMs,
      delayAtMs: delayFromMs + timing.entryDelayMs,
    };
  }
  return {
    at: 'inside',
    area: stored.area,
    entryMs: entryMs ?? stored.seen,
    timeoutAtMs: stored.seen + timing.fenceTimeoutMs,
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

/** A running timer keeps its start time. */
function running(fromMs: number, seenMs: number): number {
  return fromMs === NEVER ? seenMs : fromMs;
}
