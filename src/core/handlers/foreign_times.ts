import {
  eventTime,
  wallClockOfEventTime,
  monotonicTime,
  type ClockStep,
  wallClockTime,
} from '../../model/clock_steps.ts';
import type { Effect, EffectMember, Place } from '../effects.ts';
import type { PastStep } from '../item.ts';
import { shiftFix } from '../location/fix.ts';
import type { ShiftedTimes } from '../location/record.ts';

/**
 * Steps of another hub have event times and running times of that hub. They are the same here only as long as neither clock
 * was set back and neither hub stood still.
 */

/** How the times of a step become times of this hub. */
interface ForeignTimes extends ShiftedTimes {
  /** Running times that timers count from and to. Timers have run for as long, whatever both clocks have been through. */
  timed(ms: number): number;
}

/** Undefined where both hubs have the same times. */
function foreignTimes(from: readonly ClockStep[], to: readonly ClockStep[]): ForeignTimes | undefined {
  if (from.length === 0 && to.length === 0) return undefined;
  const aheadMs = to.reduce((sum, { byMs }) => sum + byMs, 0);
  return {
    eventTime: (ms) => eventTime(wallClockOfEventTime(ms, from), to),
    runningTime: (ms) => monotonicTime(wallClockTime(ms, from), to),
    timed: (ms) => wallClockTime(ms, from) + aheadMs,
  };
}

/** How the effects of a step are to be read; as they are, where it is one of this hub. The records of its locations are changed. */
export function readEffects({ locations, setBacks }: PastStep, own: readonly ClockStep[]): (effect: Effect) => Effect {
  const times = setBacks && foreignTimes(setBacks, own);
  if (times === undefined) return (effect) => effect;
  for (const location of locations) location.shift(times);
  return (effect) => shifted(effect, times);
}

function shifted(effect: Effect, times: ForeignTimes): Effect {
  const { suppressUntilMs, heardMs, members } = effect;
  return {
    ...effect,
    suppressUntilMs: times.timed(suppressUntilMs),
    heardMs: heardMs === undefined ? undefined : times.timed(heardMs),
    place: shiftedPlace(effect.place, times),
    members: members?.map((member) => shiftedMember(member, times)),
  };
}

function shiftedPlace(place: Place, times: ForeignTimes): Place {
  if (place.at === 'fix') shiftFix(place.bytes, times);
  if (place.at !== 'location') return place;
  const { derived } = place;
  return { ...place, derived: { ...derived, eventTimeMs: times.eventTime(derived.eventTimeMs) } };
}

function shiftedMember({ fenceId, seenMs, membership }: EffectMember, times: ForeignTimes): EffectMember {
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
