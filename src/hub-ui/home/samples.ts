import type { Range } from '../history/history_api.ts';

export const HOUR_MS = 3_600_000;
/** Span of the sparklines. */
const SPAN_MS = 6 * HOUR_MS;
/** Interval of the samples that one query answers. */
export const SAMPLE_MS = 1_800_000;

/** Range of the sparklines: six hours that end at the last full half hour, so that it changes only then. */
export function sampledRange(nowMs: number): Range {
  const toMs = Math.floor(nowMs / SAMPLE_MS) * SAMPLE_MS;
  return { fromMs: toMs - SPAN_MS, toMs };
}

/** Full hours in a range: the times of samples that need a query each. */
export function hoursIn({ fromMs, toMs }: Range): readonly number[] {
  const first = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
  return Array.from({ length: Math.floor((toMs - first) / HOUR_MS) + 1 }, (_, i) => first + i * HOUR_MS);
}

/** Value of a sparkline from a time on. */
export interface Sample {
  readonly atMs: number;
  readonly count: number;
}

/** Number of open alerts over time, from the times at which they were raised and cleared. */
export function openAlertSteps(
  alerts: Iterable<{ readonly raised_at: string; readonly cleared_at?: string | null }>,
  fromMs: number,
): readonly Sample[] {
  const changes: Sample[] = [];
  for (const { raised_at: raised, cleared_at: cleared } of alerts) {
    changes.push({ atMs: Date.parse(raised), count: 1 });
    if (cleared != null) changes.push({ atMs: Date.parse(cleared), count: -1 });
  }
  changes.sort((a, b) => a.atMs - b.atMs);
  let open = 0;
  const steps = changes.map(({ atMs, count }) => {
    open += count;
    return { atMs, count: open };
  });
  return [{ atMs: Math.min(fromMs, steps[0]?.atMs ?? fromMs), count: 0 }, ...steps];
}
