import type { Member, Members } from './members.ts';
import { suspects } from './suspicion.ts';

/** Status of a member, as this hub sees it. */
export interface MemberStatus {
  readonly incarnation: string;
  readonly name: string;
  readonly isSelf: boolean;
  readonly isSuspect: boolean;
  /** 0 for this hub. */
  readonly silentMs: number;
  /** Configuration sequence that it has reported as applied. */
  readonly applied: number;
  /** How far its clock is ahead of this hub's; undefined if unknown. */
  readonly aheadMs: number | undefined;
}

export interface ClockDifference {
  readonly incarnation: string;
  readonly name: string;
  /** How far the member's clock is ahead of this hub's; negative if it lags. */
  readonly aheadMs: number;
  readonly isWarning: boolean;
}

const CLOCK_WARNING_MS = 100;

/** Member with the smallest index, which acts on behalf of all; undefined if there are no members. */
export function firstMember({ all }: Members): Member | undefined {
  return all.values().next().value;
}

/**
 * Last configuration record that every member is known to have applied. A member serves only after applying its own `join`, so
 * it has applied at least that.
 */
export function appliedByAll(members: Members): number {
  let least = members.applied;
  for (const { incarnation, applied } of members.all.values()) {
    if (incarnation !== members.self) least = Math.min(least, applied);
  }
  return least;
}

/** Locations per second in each partition, as reported by its owner; 0 if unknown. */
export function loads({ self, all, map, ownLoads }: Members): readonly number[] {
  return (map?.owners ?? []).map((owner, partition) => {
    return (owner === self ? ownLoads : all.get(owner)?.beat?.loads)?.get(partition) ?? 0;
  });
}

/** Differences of the clocks of other members from this hub's, by the most exact of the last comparisons. */
export function clockDifferences({ all }: Members): readonly ClockDifference[] {
  return [...all.values()].flatMap(({ incarnation, name, clocks }) => {
    const [first, ...more] = clocks.toReversed();
    if (first === undefined) return [];
    const { aheadMs, withinMs } = more.reduce((best, each) => (each.withinMs < best.withinMs ? each : best), first);
    return [{ incarnation, name, aheadMs, isWarning: Math.abs(aheadMs) - withinMs > CLOCK_WARNING_MS }];
  });
}

/** Status of all members, in the order of their joins. */
export function statusOfAll(members: Members, nowMs: number): readonly MemberStatus[] {
  const { self, all, applied } = members;
  const suspected = new Set(suspects(members, nowMs).map(({ incarnation }) => incarnation));
  const ahead = new Map(clockDifferences(members).map(({ incarnation, aheadMs }) => [incarnation, aheadMs]));
  return [...all.values()].map((member) => {
    const { incarnation, name } = member;
    const isSelf = incarnation === self;
    return {
      ...{ incarnation, name, isSelf, isSuspect: suspected.has(incarnation), aheadMs: ahead.get(incarnation) },
      silentMs: isSelf ? 0 : nowMs - member.lastSeenMs,
      applied: isSelf ? applied : member.applied,
    };
  });
}
