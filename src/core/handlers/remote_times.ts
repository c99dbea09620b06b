import {
  eventTime,
  wallClockOfEventTime,
  monotonicTime,
  type ClockStep,
  wallClockTime,
} from '../../model/clock_steps.ts';
import type { Effect, EffectMember, EffectPosition } from '../effects.ts';
import type { PastStep } from '../item.ts';
import { shiftFix } from '../location/fix.ts';
import type { TimeConversion } from '../location/record.ts';

/**
 * Conversion of times in the steps of another hub. Steps contain event times and monotonic times of the hub that made
 * them. These equal this hub's times only if neither clock stepped backward and neither hub was suspended.
 */

/** Conversions of a step's times to times of this hub. */
interface RemoteTimes extends TimeConversion {
  /** Converts the start and deadline of a timer. The elapsed time of a timer is preserved, whatever both clocks did. */
  timed(ms: number): number;
}

/** Returns undefined if both hubs have the same times. */
function remoteTimes(from: readonly ClockStep[], to: readonly ClockStep[]): RemoteTimes | undefined {
  if (from.length === 0 && to.length === 0) return undefined;
  const aheadMs = to.reduce((sum, { byMs }) => sum + byMs, 0);
  return {
    eventTime: (ms) => eventTime(wallClockOfEventTime(ms, from), to),
    monotonicTime: (ms) => monotonicTime(wallClockTime(ms, from), to),
    timed: (ms) => wallClockTime(ms, from) + aheadMs,
  };
}

/**
 * Returns a function that converts the effects of a step to times of this hub; the identity for a step of this hub.
 * Also converts the step's locations, in place.
 */
export function readEffects(
  { locations, clockSteps }: PastStep,
  own: readonly ClockStep[],
): (effect: Effect) => Effect {
  const times = clockSteps && remoteTimes(clockSteps, own);
  if (times === undefined) return (effect) => effect;
  for (const location of locations) location.shift(times);
  return (effect) => shifted(effect, times);
}

function shifted(effect: Effect, times: RemoteTimes): Effect {
  const { suppressUntilMs, lastSeenMs, members } = effect;
  return {
    ...effect,
    suppressUntilMs: times.timed(suppressUntilMs),
    lastSeenMs: lastSeenMs === undefined ? undefined : times.timed(lastSeenMs),
    place: shiftedPosition(effect.place, times),
    members: members?.map((member) => shiftedMember(member, times)),
  };
}

function shiftedPosition(place: EffectPosition, times: RemoteTimes): EffectPosition {
  if (place.at === 'fix') shiftFix(place.bytes, times);
  if (place.at !== 'location') return place;
  const { derived } = place;
  return { ...place, derived: { ...derived, eventTimeMs: times.eventTime(derived.eventTimeMs) } };
}

function shiftedMember({ fenceId, seenMs, membership }: EffectMember, times: RemoteTimes): EffectMember {
  const timed = (ms: number): number => times.timed(ms);
  const timers = {
    toleranceFromMs: timed(membership.toleranceFromMs),
    toleranceAtMs: timed(membership.toleranceAtMs),
    delayFromMs: timed(membership.delayFromMs),
    delayAtMs: timed(membership.delayAtMs),
  };
  if (membership.at === 'entering') {
    const sinceMs = times.eventTime(membership.sinceMs);
    return { fenceId, seenMs: timed(seenMs), membership: { ...membership, ...timers, sinceMs } };
  }
  const [entryMs, timeoutAtMs] = [times.eventTime(membership.entryMs), timed(membership.timeoutAtMs)];
  return { fenceId, seenMs: timed(seenMs), membership: { ...membership, ...timers, entryMs, timeoutAtMs } };
}
