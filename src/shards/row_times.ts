import type { StoredTimers } from '../core/fence/membership.ts';
import type { StoredMembership, StoredRow, LastKnownRow } from '../core/item.ts';
import { lastSeenTime, type ClockStep } from '../model/clock_steps.ts';

/**
 * Stored last-known rows have wall-clock times, since the event times and running times of one hub mean nothing to the next.
 * The rows that shards emit and restore have event times and running times (model/clock_steps.ts).
 */

type Row = LastKnownRow & { readonly gone?: false };

/** What of the hub's clock rows are converted by. */
interface Times {
  readonly setBacks: readonly ClockStep[];
  now(): number;
  running(): number;
  timeOfDay(runningMs: number): number;
  eventTime(dayMs: number): number;
  eventTimeOfDay(eventMs: number): number;
}

/** Rows as they are kept. */
export function rowsToKeep(rows: Iterable<StoredRow>, clock: Times): Iterable<StoredRow> {
  if (clock.setBacks.length === 0) return rows;
  return Array.from(rows, (row) => {
    if (row.gone === true) return row;
    if (row.kind === 'collision') return { ...row, startMs: clock.eventTimeOfDay(row.startMs) };
    return converted(row, clock.eventTimeOfDay, clock.timeOfDay);
  });
}

/** Rows of this hub for a shard that needs them again. Their objects have been silent for as long as the hub has listened. */
export function keptRows(rows: readonly LastKnownRow[], clock: Times): readonly LastKnownRow[] {
  return rowsInRunning(rows, clock, (ms) => lastSeenTime(ms, clock.setBacks));
}

/**
 * Rows of another hub, which has listened all the time. Their objects have been silent for as long as the time of day
 * says.
 */
export function foreignRows(rows: readonly LastKnownRow[], clock: Times): readonly LastKnownRow[] {
  const aheadMs = clock.running() - clock.now();
  return rowsInRunning(rows, clock, (ms) => ms + aheadMs);
}

function rowsInRunning(
  rows: readonly LastKnownRow[],
  clock: Times,
  received: (ms: number) => number,
): readonly LastKnownRow[] {
  if (clock.setBacks.length === 0) return rows;
  const nowMs = clock.now();
  return rows.map((each) => {
    const row = rowUntil(each, nowMs);
    return row.gone === true ? row : converted(row, clock.eventTime, received);
  });
}

/** A row in which no time is later than that. */
export function rowUntil(row: LastKnownRow, untilMs: number): LastKnownRow {
  if (row.gone === true) return row;
  const isLate = ([, entryMs, timers]: StoredMembership) => (entryMs ?? 0) > untilMs || latestOf(timers) > untilMs;
  if (row.receivedMs <= untilMs && row.eventTimeMs <= untilMs && !row.memberships.some(isLate)) return row;
  const until = (ms: number): number => Math.min(ms, untilMs);
  return converted(row, until, until);
}

function converted(row: Row, keyed: (ms: number) => number, received: (ms: number) => number): Row {
  const memberships = row.memberships.map(([fenceId, entryMs, timers]): StoredMembership => {
    const entered = entryMs === null ? null : keyed(entryMs);
    return timers === undefined ? [fenceId, entered] : [fenceId, entered, shifted(timers, keyed, received)];
  });
  return { ...row, receivedMs: received(row.receivedMs), eventTimeMs: keyed(row.eventTimeMs), memberships };
}

function latestOf(timers: StoredTimers | undefined): number {
  if (timers === undefined) return 0;
  const { seen, since, tolerance, delay } = timers;
  return Math.max(seen, since ?? 0, tolerance ?? 0, delay ?? 0);
}

function shifted(timers: StoredTimers, keyed: (ms: number) => number, received: (ms: number) => number): StoredTimers {
  const { seen, since, tolerance, delay } = timers;
  return {
    ...timers,
    seen: received(seen),
    ...(since !== undefined && { since: keyed(since) }),
    tolerance: tolerance && received(tolerance),
    delay: delay && received(delay),
  };
}
