import { eventTimeOfMonotonic, type ClockStep } from '../../model/clock_steps.ts';
import { CHANGED_MEMBERS, type FenceState, type FenceMember, type ShardState, type Tracked } from '../state.ts';
import type { FenceIndex, Footprint, Nearby } from './fence_index.ts';
import type { Direction } from './gate_crossings.ts';
import { type FenceArea, deadlineMs, expire, isSameButTimeout, observe } from './membership.ts';
import { effectiveTiming, type OwnTiming, type Timing, UNSET } from './timing.ts';
import { type Height, verticalDepthMeters, verticalGapMeters } from './vertical.ts';

/** An observation of an object, as fences evaluate it. */
export interface FenceObservation extends Height {
  readonly footprint: Footprint;
  /** Time of receipt as monotonic time, and event time. */
  readonly nowMs: number;
  readonly eventTimeMs: number;
  readonly timing: TimingChain;
}

/** Timing values that override those of the fence. */
export interface TimingChain {
  readonly provider: OwnTiming;
  readonly trackable: OwnTiming;
}

/** An entry (`exitMs` undefined) or an exit, with event times. */
export interface Crossing {
  readonly fence: FenceState;
  readonly entryMs: number;
  readonly exitMs: number | undefined;
  /** Mark of an event between two observations: see cross_fences.ts. */
  readonly mark?: CrossingMark;
}

/** `crossed`: the event was generated between two observations. Otherwise the direction in which a gate was crossed. */
export type CrossingMark = 'crossed' | Direction;

/**
 * Evaluates an observation in all fences that the object touches, and in all fences of its memberships, since a member
 * that has jumped far away must exit. Returns exits before entries, each in fence id order; undefined for no crossing.
 */
// hot
export function observeFences(
  { state, index }: { state: ShardState; index: FenceIndex },
  object: Tracked,
  seen: FenceObservation,
): Crossing[] | undefined {
  const { nowMs, eventTimeMs } = seen;
  object.suppressUntilMs = 0;
  object.nearby = index.near(object.nearby, seen.footprint);
  const { metInObservation } = state;
  const mark = nextMark(state);
  let exits: Crossing[] | undefined;
  let entries: Crossing[] | undefined;
  const { members } = object;
  let remaining = 0;
  for (let i = 0; i < members.length; i++) {
    const member = members[i] as FenceMember;
    const { fence, membership } = member;
    metInObservation[fence.slot] = mark;
    const timing = timingIn(fence, seen.timing);
    const next = observe(membership, { area: areaOf(index, fence, seen, timing), timing, nowMs, eventTimeMs });
    if (next === undefined) {
      object.changes |= CHANGED_MEMBERS;
      fence.occupants.delete(object);
      if (membership.at === 'inside') exits = add(exits, exitOf(fence, membership.entryMs, eventTimeMs));
      continue;
    }
    if (!isSameButTimeout(membership, next)) object.changes |= CHANGED_MEMBERS;
    if (membership.at === 'entering' && next.at === 'inside') entries = add(entries, entryOf(fence, next.entryMs));
    member.membership = next;
    member.seenMs = nowMs;
    members[remaining++] = member;
  }
  members.length = remaining;
  const near = overlapping(state, index, object.nearby, seen.footprint);
  for (let i = 0; i < near; i++) {
    const slot = state.near[i] as number;
    if (metInObservation[slot] === mark) continue;
    const fence = state.slots[slot];
    if (fence === undefined || verticalGapMeters(fence.vertical, seen) > 0) continue;
    if (!index.touches(slot, seen.footprint)) continue;
    const timing = timingIn(fence, seen.timing);
    const area = timing.entryToleranceMeters === 0 ? 'deep' : insideArea(index, fence, seen, timing);
    const membership = observe(undefined, { area, timing, nowMs, eventTimeMs });
    if (membership === undefined) continue;
    object.changes |= CHANGED_MEMBERS;
    fence.occupants.add(object);
    members.push({ fence, membership, seenMs: nowMs });
    if (membership.at === 'inside') entries = add(entries, entryOf(fence, membership.entryMs));
  }
  return joined(exits, entries);
}

/** Writes the slots of the fences that the footprint may touch into `state.near` and returns their number. */
// hot
export function overlapping(state: ShardState, index: FenceIndex, nearby: Nearby, footprint: Footprint): number {
  const most = nearby.slots.length;
  if (most === 0) return 0;
  if (most > state.near.length) state.near = new Int32Array(2 * most);
  return index.overlapping(nearby, footprint, state.near);
}

/** Evaluates an observation in the given changed fences only. Returns crossings like observeFences. */
export function observeChangedFences(
  index: FenceIndex,
  object: Tracked,
  fences: readonly FenceState[],
  seen: FenceObservation,
): Crossing[] | undefined {
  const { nowMs, eventTimeMs } = seen;
  let exits: Crossing[] | undefined;
  let entries: Crossing[] | undefined;
  for (const fence of fences) {
    const timing = timingIn(fence, seen.timing);
    const area = areaOf(index, fence, seen, timing);
    const at = fence.occupants.has(object) ? object.members.findIndex((member) => member.fence === fence) : -1;
    const before = object.members[at]?.membership;
    const next = observe(before, { area, timing, nowMs, eventTimeMs });
    if (next === undefined) {
      if (before === undefined) continue;
      object.changes |= CHANGED_MEMBERS;
      object.members.splice(at, 1);
      fence.occupants.delete(object);
      if (before.at === 'inside') exits = add(exits, exitOf(fence, before.entryMs, eventTimeMs));
      continue;
    }
    object.changes |= CHANGED_MEMBERS;
    if (before === undefined) object.members.push({ fence, membership: next, seenMs: nowMs });
    else object.members[at] = { fence, membership: next, seenMs: nowMs };
    fence.occupants.add(object);
    if (next.at === 'inside' && before?.at !== 'inside') entries = add(entries, entryOf(fence, next.entryMs));
  }
  return joined(exits, entries);
}

/**
 * Fires the due timers of an object, the earliest first. Returns the crossings in that order; undefined if no timer was
 * due.
 */
export function expireFences(
  object: Tracked,
  { nowMs, clockSteps }: { readonly nowMs: number; readonly clockSteps: readonly ClockStep[] },
  chain: TimingChain,
): Crossing[] | undefined {
  let crossings: Crossing[] | undefined;
  for (;;) {
    const member = earliest(object);
    if (member === undefined) return crossings;
    const { fence, membership } = member;
    const dueMs = deadlineMs(membership);
    if (dueMs > nowMs) return crossings;
    object.changes |= CHANGED_MEMBERS;
    const next = expire(membership, member.seenMs, timingIn(fence, chain).fenceTimeoutMs);
    if (next === undefined) {
      object.members = object.members.filter((other) => other !== member);
      fence.occupants.delete(object);
      if (membership.at === 'inside') {
        crossings = add(crossings, exitOf(fence, membership.entryMs, eventTimeOfMonotonic(dueMs, clockSteps)));
      }
      continue;
    }
    member.membership = next;
    if (next.at === 'inside') crossings = add(crossings, entryOf(fence, next.entryMs));
  }
}

/** Ends all memberships of a deleted object at an event time. Returns the exits in fence id order. */
export function leaveAll(object: Tracked, eventTimeMs: number): Crossing[] | undefined {
  let exits: Crossing[] | undefined;
  for (const { fence, membership } of object.members) {
    fence.occupants.delete(object);
    if (membership.at === 'inside') exits = add(exits, exitOf(fence, membership.entryMs, eventTimeMs));
  }
  object.members = [];
  object.changes |= CHANGED_MEMBERS;
  return joined(exits, undefined);
}

/** Returns the next deadline of the object; Infinity if no timer runs. */
export function nextDeadlineMs(object: Tracked): number {
  const { members } = object;
  let next = Number.POSITIVE_INFINITY;
  for (let i = 0; i < members.length; i++) {
    const at = deadlineMs((members[i] as FenceMember).membership);
    if (at < next) next = at;
  }
  return next;
}

/** Returns the effective timing in a fence. */
export function timingIn(fence: FenceState, { provider, trackable }: TimingChain): Timing {
  if (provider === UNSET && trackable === UNSET) return fence.plainTiming;
  return effectiveTiming(fence.timing, provider, trackable);
}

/**
 * Returns the member whose timer fires first. At equal times exits come before entries, then fence id order decides.
 */
function earliest(object: Tracked): FenceMember | undefined {
  let first: FenceMember | undefined;
  for (const member of object.members) {
    if (first === undefined || before(member, first)) first = member;
  }
  return first;
}

function before(a: FenceMember, b: FenceMember): boolean {
  const [atA, atB] = [deadlineMs(a.membership), deadlineMs(b.membership)];
  if (atA !== atB) return atA < atB;
  if (a.membership.at !== b.membership.at) return a.membership.at === 'inside';
  return a.fence.id < b.fence.id;
}

/**
 * Returns the area of a fence that an object is in. Tolerances are distances in space: heights count if the fence has
 * them.
 */
export function areaOf(index: FenceIndex, fence: FenceState, seen: FenceObservation, timing: Timing): FenceArea {
  const { slot, vertical } = fence;
  const { exitToleranceMeters } = timing;
  const vertically = verticalGapMeters(vertical, seen);
  if (fence.region === undefined || vertically > exitToleranceMeters) return 'out';
  const touches = index.touches(slot, seen.footprint);
  if (touches && vertically === 0) return insideArea(index, fence, seen, timing);
  if (exitToleranceMeters === 0) return 'out';
  const horizontal = touches ? 0 : index.distanceMeters(slot, seen.footprint);
  return Math.hypot(horizontal, vertically) <= exitToleranceMeters ? 'tolerance' : 'out';
}

function insideArea(
  index: FenceIndex,
  { slot, vertical }: FenceState,
  seen: FenceObservation,
  timing: Timing,
): FenceArea {
  const { entryToleranceMeters } = timing;
  if (entryToleranceMeters === 0) return 'deep';
  const depth = Math.min(verticalDepthMeters(vertical, seen), index.depthMeters(slot, seen.footprint));
  return depth >= entryToleranceMeters ? 'deep' : 'band';
}

function nextMark(state: ShardState): number {
  if (state.observations === 0x7fffffff) {
    state.metInObservation.fill(0);
    state.observations = 0;
  }
  state.observations++;
  return state.observations;
}

function entryOf(fence: FenceState, entryMs: number): Crossing {
  return { fence, entryMs, exitMs: undefined };
}

/** Returns an exit that is never before its entry, even if the providers of a trackable have different clocks. */
function exitOf(fence: FenceState, entryMs: number, exitMs: number): Crossing {
  return { fence, entryMs, exitMs: Math.max(entryMs, exitMs) };
}

function add(list: Crossing[] | undefined, crossing: Crossing): Crossing[] {
  if (list === undefined) return [crossing];
  list.push(crossing);
  return list;
}

function joined(exits: Crossing[] | undefined, entries: Crossing[] | undefined): Crossing[] | undefined {
  if (exits !== undefined && exits.length > 1) exits.sort(byFenceId);
  if (entries !== undefined && entries.length > 1) entries.sort(byFenceId);
  if (exits === undefined) return entries;
  return entries === undefined ? exits : [...exits, ...entries];
}

function byFenceId(a: Crossing, b: Crossing): number {
  return a.fence.id < b.fence.id ? -1 : 1;
}
