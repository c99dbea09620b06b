import type { Heartbeat } from '../messages/messages.ts';

/**
 * Heartbeats in numbers that are linear in the members. The first three members are *reporters*. They send their heartbeats to
 * all members; the other members send theirs to the reporters only. A heartbeat of a reporter says how long each of the others
 * has been silent there.
 *
 * A report moves the beginning of a member's silence to where its own heartbeat would have, so silence ends in suspicion as early
 * as with heartbeats from each to all. It contains only what the reporter has received itself: with reports of reports,
 * silence would begin later with each repetition.
 *
 * A report about a member counts only at a hub that gets no heartbeats from it, because neither is a reporter. So reporters, and
 * all of up to three members, judge by what they receive themselves. It counts only while the member answers the pings of that
 * hub: two hubs that cannot reach each other suspect each other, although reporters receive messages of both.
 *
 * If no reporter is left, silence begins at all of the others, and each pings each until other members are the first ones.
 */

/** Contact of this hub with a member. */
export interface Contact {
  /** Time of its last message, or of the last one that a report that counts has shown. */
  readonly lastSeenMs: number;
  /** Time of its last message to this hub. */
  readonly receivedMs: number;
  /** Result of the last ping, if no message of it has arrived since it was sent; otherwise `answered`. */
  readonly ping: 'answered' | 'unanswered' | 'noResponders';
  /** Configuration sequence that it has reported as applied. */
  readonly applied: number;
}

interface Contacts<Each = Contact> {
  /** Member id of this hub. */
  readonly self: string;
  /** By member id, in the order of their joins. */
  readonly all: ReadonlyMap<string, Each>;
}

const REPORTERS = 3;

function reportersOf({ all }: Contacts<unknown>): readonly string[] {
  return [...all.keys()].slice(0, REPORTERS);
}

/** Subject of heartbeats to all members. */
export function beatSubject(name: string): string {
  return `${name}.beat`;
}

/** Subject of heartbeats to a reporter. */
export function reporterSubject(name: string, incarnation: string): string {
  return `${name}.beat.${incarnation}`;
}

/** Subjects of the heartbeats of this hub. */
export function beatSubjects(members: Contacts, name: string): readonly string[] {
  const reporters = reportersOf(members);
  if (reporters.includes(members.self)) return [beatSubject(name)];
  return reporters.map((reporter) => reporterSubject(name, reporter));
}

/** Report in the heartbeats of this hub. */
export function report(members: Contacts, nowMs: number): Heartbeat['seen'] {
  const reporters = reportersOf(members);
  if (!reporters.includes(members.self)) return [];
  return [...members.all]
    .filter(([incarnation]) => !reporters.includes(incarnation))
    .map(([incarnation, { applied, receivedMs }]) => [incarnation, applied, Math.max(0, nowMs - receivedMs)]);
}

/** Contacts after the report of another hub. */
export function reported<Each extends Contact>(
  members: Contacts<Each>,
  seen: Heartbeat['seen'],
  atMs: number,
): ReadonlyMap<string, Each> {
  if (seen.length === 0) return members.all;
  const reporters = reportersOf(members);
  const isReporter = reporters.includes(members.self);
  const all = new Map(members.all);
  for (const [incarnation, applied, silentMs] of seen) {
    const member = all.get(incarnation);
    if (member === undefined) continue;
    const isCounted = !isReporter && !reporters.includes(incarnation) && member.ping === 'answered';
    const lastSeenMs = isCounted ? Math.max(member.lastSeenMs, atMs - silentMs) : member.lastSeenMs;
    all.set(incarnation, { ...member, lastSeenMs, applied: Math.max(member.applied, applied) });
  }
  return all;
}
