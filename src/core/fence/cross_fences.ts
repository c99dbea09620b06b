import { type ClockStep, eventTimeOfMonotonic } from '../../model/clock_steps.ts';
import { CHANGED_MEMBERS, type FenceMember, type FenceState, type ShardState, type Tracked } from '../state.ts';
import type { FenceIndex, Footprint } from './fence_index.ts';
import { gateCrossings } from './gate_crossings.ts';
import { areaChanges } from './level_crossings.ts';
import { deadlineMs, expire, type FenceArea, type FenceMembership, observe } from './membership.ts';
import { type Crossing, type FenceObservation, overlapping, timingIn } from './observe_fences.ts';
import { type Segment, segmentBetween } from './segment.ts';
import type { Timing } from './timing.ts';
import { type Height, heightIn, verticalDepthMeters, verticalGapMeters } from './vertical.ts';

/**
 * Crossings between two consecutive observations of an object.
 *
 * The object is taken to have moved straight and evenly from the one to the other. Where it would have been in another
 * area of a fence, the fence observes it, at interpolated times of event and receipt. So delays, tolerances and timeouts
 * apply as if it had been seen there. Only then does the fence observe it at its new position: see observe_fences.ts.
 * The observations in between need no state of their own.
 */

/** The last observation of an object, from which it has moved. */
export interface Departure extends Height {
  readonly lon: number;
  readonly lat: number;
  readonly receivedMs: number;
  readonly eventTimeMs: number;
}

/** The way of an object to an observation. */
interface Way {
  readonly from: Departure;
  readonly to: FenceObservation;
  readonly segment: Segment;
  /** Returns the extent of the object at a position. */
  readonly extentAt: (lon: number, lat: number) => Footprint;
  readonly clockSteps: readonly ClockStep[];
}

/** A crossing, with the fraction of the way at which it was decided. */
interface CrossingOnWay extends Crossing {
  readonly fraction: number;
}

/** Precision of a crossing: the coarser of these two. Shorter visits are not seen. */
const [PRECISION_MS, PRECISION_METERS] = [0.5, 1e-3] as const;

/** Whether events of the fence are generated between two observations. A gate has no others. */
export function isCrossed({ crossing }: ShardState, fence: FenceState): boolean {
  return fence.region?.kind === 'line' || (fence.entity.crossing ?? crossing.byDefault) === 'segment';
}

/**
 * Evaluates the way from the last observation of an object to the next one in all fences that it may cross. Returns the
 * crossings in the order of their times; undefined for none.
 */
export function crossFences(
  { state, index }: { readonly state: ShardState; readonly index: FenceIndex },
  object: Tracked,
  { from, to, extentAt, clockSteps }: Omit<Way, 'segment'>,
): Crossing[] | undefined {
  const gapMs = to.eventTimeMs - from.eventTimeMs;
  if (!(gapMs > 0 && gapMs <= state.crossing.maxGapMs)) return undefined;
  const { lon, lat } = to.footprint;
  if (from.lon === lon && from.lat === lat && from.z === to.z) return undefined;
  const way: Way = { from, to, segment: segmentBetween(from, to.footprint), extentAt, clockSteps };
  const found: CrossingOnWay[] = [];
  for (const fence of fencesOnWay({ state, index }, object, way)) {
    const { floor } = fence.vertical;
    if (floor !== undefined && (from.floor !== floor || to.floor !== floor)) continue;
    if (fence.region?.kind === 'line') crossGate(fence, way, found);
    else if (isCrossed(state, fence)) crossFence(index, object, { fence, way, found });
  }
  if (found.length === 0) return undefined;
  return found.sort(inOrder);
}

/** Returns the fences of the memberships, and those near the way. */
function fencesOnWay(
  { state, index }: { readonly state: ShardState; readonly index: FenceIndex },
  object: Tracked,
  { to, segment }: Way,
): Set<FenceState> {
  const fences = new Set(object.members.map(({ fence }) => fence));
  const middle: [number, number] = [0, 0];
  segment.at(0.5, middle);
  const radiusMeters = segment.meters / 2 + to.footprint.reachMeters;
  const around = { lon: middle[0], lat: middle[1], radiusMeters, ring: undefined, reachMeters: radiusMeters };
  const near = overlapping(state, index, index.near(object.nearby, around), around);
  for (let i = 0; i < near; i++) {
    const fence = state.slots[state.near[i] as number];
    if (fence !== undefined) fences.add(fence);
  }
  return fences;
}

/** Appends an event for each crossing of a gate: an exit, whose entry is at the same time. */
function crossGate(fence: FenceState, { from, to, segment }: Way, found: CrossingOnWay[]): void {
  if (fence.region?.kind !== 'line') return;
  const heightAt = heightOnWay(fence, from, to);
  for (const { fraction, direction } of gateCrossings(fence.region.positions, segment)) {
    if (verticalGapMeters(fence.vertical, heightAt(fraction)) > 0) continue;
    const atMs = timeBetween(from.eventTimeMs, to.eventTimeMs, fraction);
    found.push({ fence, entryMs: atMs, exitMs: atMs, fraction, mark: direction });
  }
}

/** Observes the object in a fence wherever its area changes on the way. */
function crossFence(
  index: FenceIndex,
  object: Tracked,
  { fence, way, found }: { readonly fence: FenceState; readonly way: Way; readonly found: CrossingOnWay[] },
): void {
  const { to } = way;
  const timing = timingIn(fence, to.timing);
  const { levels, areas } = areasOf(timing);
  const changes = areaChanges({ ...separationOnWay(index, fence, way), levels });
  if (changes.length === 0) return;
  const member = fence.occupants.has(object) ? object.members.find((one) => one.fence === fence) : undefined;
  const visit = new Visit({ fence, way, timing, member }, found);
  for (const { fraction, area } of changes) visit.observe(fraction, areas[area] as FenceArea);
  visit.expire(to.nowMs, 1);
  object.changes |= CHANGED_MEMBERS;
  const { membership, seenMs } = visit;
  if (membership === undefined) {
    if (member === undefined) return;
    object.members.splice(object.members.indexOf(member), 1);
    fence.occupants.delete(object);
    return;
  }
  if (member === undefined) {
    object.members.push({ fence, membership, seenMs });
    fence.occupants.add(object);
    return;
  }
  member.membership = membership;
  member.seenMs = seenMs;
}

/** Returns the levels of separation between the areas of a fence, ascending, and the areas below and above them. */
function areasOf({ entryToleranceMeters, exitToleranceMeters }: Timing): {
  readonly levels: readonly number[];
  readonly areas: readonly FenceArea[];
} {
  const inner = entryToleranceMeters > 0;
  const outer = exitToleranceMeters > 0;
  return {
    levels: [...(inner ? [-entryToleranceMeters] : []), 0, ...(outer ? [exitToleranceMeters] : [])],
    areas: inner ? ['deep', 'band', ...(outer ? (['tolerance'] as const) : []), 'out'] : outside(outer),
  };
}

function outside(outer: boolean): readonly FenceArea[] {
  return outer ? ['deep', 'tolerance', 'out'] : ['deep', 'out'];
}

/** Returns the separation of the object from a fence: its distance in space outside, minus its depth inside. */
function separationOnWay(index: FenceIndex, fence: FenceState, { from, to, segment, extentAt }: Way) {
  const { slot, vertical } = fence;
  const heightAt = heightOnWay(fence, from, to);
  const position: [number, number] = [0, 0];
  const meters = Math.hypot(segment.meters, (heightAt(1).z ?? 0) - (heightAt(0).z ?? 0));
  return {
    meters,
    least: Math.max(PRECISION_MS / (to.eventTimeMs - from.eventTimeMs), PRECISION_METERS / meters),
    at(fraction: number): number {
      const height = heightAt(fraction);
      segment.at(fraction, position);
      const footprint = extentAt(...position);
      const gap = verticalGapMeters(vertical, height);
      if (!index.touches(slot, footprint)) return Math.hypot(index.distanceMeters(slot, footprint), gap);
      if (gap > 0) return gap;
      return -Math.min(verticalDepthMeters(vertical, height), index.depthMeters(slot, footprint));
    },
  };
}

/** Returns the height on the way by its fraction, in the reference of the fence; unknown if it is at one of the ends. */
function heightOnWay({ vertical }: FenceState, from: Departure, to: FenceObservation): (fraction: number) => Height {
  const [low, high] = [heightIn(vertical, from), heightIn(vertical, to)];
  const { elevationRef, levelMeters } = vertical;
  return (fraction) => {
    const z = low === undefined || high === undefined ? undefined : low + fraction * (high - low);
    return { floor: to.floor, z, elevationRef, levelMeters };
  };
}

interface VisitOn {
  readonly fence: FenceState;
  readonly way: Way;
  readonly timing: Timing;
  readonly member: FenceMember | undefined;
}

/** The membership of an object in a fence on its way. Appends its crossings to a list. */
class Visit {
  membership: FenceMembership | undefined;
  seenMs: number;
  readonly #on: VisitOn;
  readonly #found: CrossingOnWay[];

  constructor(on: VisitOn, found: CrossingOnWay[]) {
    this.#on = on;
    this.#found = found;
    this.membership = on.member?.membership;
    this.seenMs = on.member?.seenMs ?? Number.NEGATIVE_INFINITY;
  }

  observe(fraction: number, area: FenceArea): void {
    const { way, timing } = this.#on;
    const { from, to } = way;
    const nowMs = timeBetween(from.receivedMs, to.nowMs, fraction);
    const eventTimeMs = timeBetween(from.eventTimeMs, to.eventTimeMs, fraction);
    this.expire(nowMs, fraction);
    const { membership } = this;
    const next = observe(membership, { area, timing, nowMs, eventTimeMs });
    this.membership = next;
    this.seenMs = nowMs;
    if (next === undefined) this.#left(membership, eventTimeMs, fraction);
    else if (next.at === 'inside' && membership?.at !== 'inside') this.#entered(next.entryMs, fraction);
  }

  /** Fires the timers that are due at `nowMs`. */
  expire(nowMs: number, fraction: number): void {
    const { way, timing } = this.#on;
    for (;;) {
      const { membership } = this;
      if (membership === undefined) return;
      const dueMs = deadlineMs(membership);
      if (dueMs > nowMs) return;
      const next = expire(membership, this.seenMs, timing.fenceTimeoutMs);
      this.membership = next;
      const at = Math.min(fraction, this.#fractionAt(dueMs, fraction));
      if (next === undefined) this.#left(membership, eventTimeOfMonotonic(dueMs, way.clockSteps), at);
      else if (next.at === 'inside') this.#entered(next.entryMs, at);
    }
  }

  #fractionAt(receivedMs: number, otherwise: number): number {
    const { from, to } = this.#on.way;
    return to.nowMs > from.receivedMs ? (receivedMs - from.receivedMs) / (to.nowMs - from.receivedMs) : otherwise;
  }

  #entered(entryMs: number, fraction: number): void {
    this.#found.push({ fence: this.#on.fence, entryMs, exitMs: undefined, fraction, mark: 'crossed' });
  }

  #left(before: FenceMembership | undefined, exitMs: number, fraction: number): void {
    if (before?.at !== 'inside') return;
    const { entryMs } = before;
    const { fence } = this.#on;
    this.#found.push({ fence, entryMs, exitMs: Math.max(entryMs, exitMs), fraction, mark: 'crossed' });
  }
}

/** Returns the time at a fraction of the way, in whole milliseconds, but not outside the way. */
function timeBetween(fromMs: number, toMs: number, fraction: number): number {
  return Math.max(fromMs, Math.min(toMs, Math.round(fromMs + fraction * (toMs - fromMs))));
}

/** Orders crossings by time, exits before entries, then by fence id. Those of one fence are in their order already. */
function inOrder(a: CrossingOnWay, b: CrossingOnWay): number {
  if (a.fraction !== b.fraction) return a.fraction - b.fraction;
  if (a.fence === b.fence) return 0;
  if ((a.exitMs === undefined) !== (b.exitMs === undefined)) return a.exitMs === undefined ? 1 : -1;
  return a.fence.id < b.fence.id ? -1 : 1;
}
