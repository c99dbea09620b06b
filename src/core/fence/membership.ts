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
 * carries the order key of the first inside observation, an exit that of its observation or the deadline itself.
 */
export type Membership =
  | {
      readonly at: 'entering';
      /** Order key of the first inside observation of this visit. */
      readonly sinceMs: number;
      /** Time of receipt of the last observation. */
      readonly seenMs: number;
      readonly toleranceAtMs: number;
      readonly delayAtMs: number;
    }
  | {
      readonly at: 'inside';
      readonly area: 'in' | 'tolerance' | 'out';
      readonly entryMs: number;
      /** When the fence timeout is over, unless the object is heard of before. */
      readonly silenceAtMs: number;
      readonly toleranceAtMs: number;
      readonly delayAtMs: number;
    };

export type Area = 'deep' | 'band' | 'tolerance' | 'out';

const NEVER = Number.POSITIVE_INFINITY;

/** The membership after an observation received at `nowMs` with order key `keyMs`. */
export function observe(
  membership: Membership | undefined,
  seen: { readonly area: Area; readonly timing: Timing; readonly nowMs: number; readonly keyMs: number },
): Membership | undefined {
  if (membership?.at === 'inside') return stay(membership, seen.area, seen.timing, seen.nowMs);
  const { area, timing, nowMs, keyMs } = seen;
  if (area !== 'deep' && area !== 'band') return undefined;
  const sinceMs = membership?.sinceMs ?? keyMs;
  let toleranceAtMs = membership?.toleranceAtMs ?? NEVER;
  let delayAtMs = NEVER;
  if (area === 'deep') delayAtMs = running(membership?.delayAtMs, nowMs + timing.entryDelayMs);
  else toleranceAtMs = running(toleranceAtMs, nowMs + timing.entryToleranceTimeoutMs);
  if (Math.min(toleranceAtMs, delayAtMs) <= nowMs) return entered(sinceMs, nowMs + timing.fenceTimeoutMs);
  return { at: 'entering', sinceMs, seenMs: nowMs, toleranceAtMs, delayAtMs };
}

function stay(
  member: Membership & { at: 'inside' },
  area: Area,
  timing: Timing,
  nowMs: number,
): Membership | undefined {
  const silenceAtMs = nowMs + timing.fenceTimeoutMs;
  let { toleranceAtMs, delayAtMs } = member;
  switch (area) {
    case 'deep':
    case 'band':
      if (member.area === 'in' && member.silenceAtMs === silenceAtMs) return member;
      return entered(member.entryMs, silenceAtMs);
    case 'tolerance':
      toleranceAtMs = running(toleranceAtMs, nowMs + timing.toleranceTimeoutMs);
      delayAtMs = NEVER;
      break;
    case 'out':
      if (timing.toleranceTimeoutSet) toleranceAtMs = running(toleranceAtMs, nowMs + timing.toleranceTimeoutMs);
      if (member.area !== 'out') delayAtMs = nowMs + timing.exitDelayMs;
      break;
  }
  if (Math.min(toleranceAtMs, delayAtMs) <= nowMs) return undefined;
  const where = area === 'tolerance' ? 'tolerance' : 'out';
  return { at: 'inside', area: where, entryMs: member.entryMs, silenceAtMs, toleranceAtMs, delayAtMs };
}

/** When the next timer fires; Infinity when none runs. */
export function deadlineMs(membership: Membership): number {
  switch (membership.at) {
    case 'entering':
      return Math.min(membership.toleranceAtMs, membership.delayAtMs);
    case 'inside':
      return Math.min(membership.silenceAtMs, membership.toleranceAtMs, membership.delayAtMs);
  }
}

/**
 * The membership after its timer has fired. The silence of an object that enters by a timer counts from its last
 * observation, which may be longer ago than the fence timeout.
 */
export function expire(membership: Membership, fenceTimeoutMs: number): Membership | undefined {
  switch (membership.at) {
    case 'entering':
      return entered(membership.sinceMs, membership.seenMs + fenceTimeoutMs);
    case 'inside':
      return undefined;
  }
}

/** A member that was inside before a restart: only its fence timeout goes on. */
export function restored(entryMs: number, silenceAtMs: number): Membership {
  return entered(entryMs, silenceAtMs);
}

function entered(entryMs: number, silenceAtMs: number): Membership {
  return { at: 'inside', area: 'in', entryMs, silenceAtMs, toleranceAtMs: NEVER, delayAtMs: NEVER };
}

/** A timer that runs keeps its time. */
function running(atMs: number | undefined, startedAtMs: number): number {
  return atMs === undefined || atMs === NEVER ? startedAtMs : atMs;
}
