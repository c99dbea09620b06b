import type { StoredTimers } from './fence/membership.ts';
import type { LastKnownRow, StoredMembership } from './item.ts';

/** Last-known row that is not a tombstone. */
export type Row = LastKnownRow & { readonly gone?: false };

/** Returns the row with all times limited to `untilMs`. */
export function rowUntil<R extends LastKnownRow>(row: R, untilMs: number): R | Row {
  if (row.gone === true) return row;
  const isLate = ([, entryMs, timers]: StoredMembership) => (entryMs ?? 0) > untilMs || latestOf(timers) > untilMs;
  if (row.receivedMs <= untilMs && row.eventTimeMs <= untilMs && !row.memberships.some(isLate)) return row;
  const until = (ms: number): number => Math.min(ms, untilMs);
  return convertedRow(row, until, until);
}

/** Converts event times with `keyed`, and times of receipt with `received`. */
export function convertedRow(row: Row, keyed: (ms: number) => number, received: (ms: number) => number): Row {
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
