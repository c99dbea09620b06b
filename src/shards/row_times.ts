import type { PairRow } from '../core/collision/row.ts';
import type { StoredRow, LastKnownRow } from '../core/item.ts';
import { convertedRow, rowUntil } from '../core/row_times.ts';
import { lastSeenTime, type ClockStep } from '../model/clock_steps.ts';

/**
 * Conversion of times in last-known rows. Stored rows have wall-clock times, because event times and monotonic times
 * are meaningless after a restart or on another hub. Rows that shards emit and restore have event times and monotonic
 * times (model/clock_steps.ts).
 */

/** Conversions of the hub's clock. */
interface RowClock {
  readonly clockSteps: readonly ClockStep[];
  now(): number;
  monotonic(): number;
  wallClockTime(runningMs: number): number;
  eventTime(dayMs: number): number;
  wallClockOfEventTime(eventMs: number): number;
}

/** Converts rows to wall-clock times for the store. */
export function rowsToStore(rows: Iterable<StoredRow>, clock: RowClock): Iterable<StoredRow> {
  if (clock.clockSteps.length === 0) return rows;
  return Array.from(rows, (row) => {
    if (row.gone === true) return row;
    if (row.kind === 'collision') return pairIn(row, clock.wallClockOfEventTime);
    return convertedRow(row, clock.wallClockOfEventTime, clock.wallClockTime);
  });
}

/** Converts stored rows of pairs to event times of this hub. */
export function remotePairs(rows: readonly PairRow[], clock: RowClock): readonly PairRow[] {
  if (clock.clockSteps.length === 0) return rows;
  return rows.map((row) => pairIn(row, clock.eventTime));
}

function pairIn(row: PairRow, converted: (ms: number) => number): PairRow {
  const { startMs, endMs } = row;
  return { ...row, startMs: converted(startMs), ...(endMs !== undefined && { endMs: converted(endMs) }) };
}

/**
 * Converts stored rows of this hub for a shard that restores them. The time in which the hub was not running does not
 * count as silence of the objects.
 */
export function ownRows(rows: readonly LastKnownRow[], clock: RowClock): readonly LastKnownRow[] {
  return rowsInRunning(rows, clock, (ms) => lastSeenTime(ms, clock.clockSteps));
}

/**
 * Converts stored rows of another hub that was running all the time, so the silence of the objects is measured in
 * wall-clock time.
 */
export function remoteRows(rows: readonly LastKnownRow[], clock: RowClock): readonly LastKnownRow[] {
  const aheadMs = clock.monotonic() - clock.now();
  return rowsInRunning(rows, clock, (ms) => ms + aheadMs);
}

function rowsInRunning(
  rows: readonly LastKnownRow[],
  clock: RowClock,
  received: (ms: number) => number,
): readonly LastKnownRow[] {
  if (clock.clockSteps.length === 0) return rows;
  const nowMs = clock.now();
  return rows.map((each) => {
    const row = rowUntil(each, nowMs);
    return row.gone === true ? row : convertedRow(row, clock.eventTime, received);
  });
}
