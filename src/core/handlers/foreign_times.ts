import { runningTime, type SetBack, timeOfDay } from '../../model/set_back.ts';
import type { Effect, EffectMember, Place } from '../effects.ts';
import type { PastStep } from '../item.ts';
import { shiftFix } from '../location/fix.ts';

/**
 * Steps of another hub have running times of that hub. They are the same here only as long as neither clock was set back and
 * neither hub stood still.
 */

/** How the times of a step become running times of this hub. */
interface ForeignTimes {
  /** Times that locations and events have, and are ordered by. */
  readonly keyed: (ms: number) => number;
  /** Times that timers count from and to: whatever this clock has been through, they have run for as long. */
  readonly timed: (ms: number) => number;
}

/** Undefined where both hubs have the same times. */
function foreignTimes(from: readonly SetBack[], to: readonly SetBack[]): ForeignTimes | undefined {
  if (from.length === 0 && to.length === 0) return undefined;
  const aheadMs = to.reduce((sum, { byMs }) => sum + byMs, 0);
  return {
    keyed: (ms) => runningTime(timeOfDay(ms, from), to),
    timed: (ms) => timeOfDay(ms, from) + aheadMs,
  };
}

/** How the effects of a step are to be read; as they are, where it is one of this hub. The records of its locations are changed. */
export function readEffects({ locations, setBacks }: PastStep, own: readonly SetBack[]): (effect: Effect) => Effect {
  const times = setBacks && foreignTimes(setBacks, own);
  if (times === undefined) return (effect) => effect;
  for (const location of locations) location.shift(times.keyed);
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

function shiftedPlace(place: Place, { keyed }: ForeignTimes): Place {
  if (place.at === 'fix') shiftFix(place.bytes, keyed);
  if (place.at !== 'location') return place;
  const { derived } = place;
  return { ...place, derived: { ...derived, eventTimeMs: keyed(derived.eventTimeMs) } };
}

function shiftedMember({ fenceId, seenMs, membership }: EffectMember, { keyed, timed }: ForeignTimes): EffectMember {
  const timers = {
    toleranceFromMs: timed(membership.toleranceFromMs),
    toleranceAtMs: timed(membership.toleranceAtMs),
    delayFromMs: timed(membership.delayFromMs),
    delayAtMs: timed(membership.delayAtMs),
  };
  if (membership.at === 'entering') {
    const sinceMs = keyed(membership.sinceMs);
    return { fenceId, seenMs: timed(seenMs), membership: { ...membership, ...timers, sinceMs } };
  }
  const [entryMs, timeoutAtMs] = [keyed(membership.entryMs), timed(membership.timeoutAtMs)];
  return { fenceId, seenMs: timed(seenMs), membership: { ...membership, ...timers, entryMs, timeoutAtMs } };
}
