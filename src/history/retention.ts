import type { HistoryFile } from './files.ts';
import { HOUR_MS } from './layout.ts';

/** An hour that goes on is merged when it has so many files; one that is over when it has two, and nothing came for a while. */
const FILES_OF_AN_HOUR_MAX = 24;
const LATE_MS = 120_000;

/** Files of one topic and hour each, that are to be one. */
export function mergeable(files: Iterable<HistoryFile>, nowMs: number): readonly (readonly HistoryFile[])[] {
  const byHour = Map.groupBy(files, ({ topic, hourMs }) => `${topic} ${hourMs}`);
  return [...byHour.values()].filter((all) => {
    const isOver = (all[0] as HistoryFile).hourMs + HOUR_MS + LATE_MS <= nowMs;
    return all.length >= (isOver ? 2 : FILES_OF_AN_HOUR_MAX);
  });
}

/** Hours whose files are to go: earlier ones than are kept, and then the earliest until the rest fits. */
export function expiredHours(
  files: Iterable<HistoryFile>,
  { nowMs, retentionMs, bytesMax }: { nowMs: number; retentionMs: number; bytesMax: number },
): readonly number[] {
  const bytesOf = new Map<number, number>();
  for (const { hourMs, bytes } of files) bytesOf.set(hourMs, (bytesOf.get(hourMs) ?? 0) + bytes);
  const hours = [...bytesOf].sort(([a], [b]) => a - b);
  let bytes = hours.reduce((sum, [, of]) => sum + of, 0);
  const expired: number[] = [];
  for (const [hourMs, of] of hours) {
    if (hourMs + HOUR_MS > nowMs - retentionMs && bytes <= bytesMax) break;
    bytes -= of;
    expired.push(hourMs);
  }
  return expired;
}
