import { dirname, join, sep } from 'node:path';
import { HISTORY_TOPICS, type HistoryTopic } from '../model/history.ts';

/**
 * Paths of the history's files: `{topic}/date=YYYY-MM-DD/hour=HH/part-N.parquet` below its folder, by the UTC hour of
 * their rows. Parquet tools recognize such folders as partitions.
 *
 *     part-7.parquet              the seventh file of its hour
 *     part-3-7.parquet            merged from the third to the seventh file; if it exists, these are leftovers
 *     part-3-7.revision-1.parquet the same after an erasure (erasure.ts); if it exists, part-3-7.parquet is a leftover
 *     part-8.parquet.writing      being written, or left over from a crash
 */
export const HOUR_MS = 3_600_000;
const WRITING = '.writing';
const FOLDER = /^date=(\d{4}-\d{2}-\d{2})$/;
const HOUR = /^hour=(\d{2})$/;
const PART = /^part-(\d{1,9})(?:-(\d{1,9}))?(?:\.revision-(\d{1,9}))?\.parquet$/;

/** Name of a file: topic, hour, and the range of file numbers that it covers. */
export interface PartName {
  readonly topic: HistoryTopic;
  /** Start of the hour, in milliseconds since 1970. */
  readonly hourMs: number;
  readonly first: number;
  readonly last: number;
  /** Number of erasures that have rewritten the file; absent for none. */
  readonly revision?: number;
}

/** Returns the start of the hour of a time. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS;
}

/** Returns the path of a file below the folder of the history. */
export function pathOf({ topic, hourMs, first, last, revision = 0 }: PartName): string {
  const time = new Date(hourMs).toISOString();
  const part = first === last ? `part-${first}` : `part-${first}-${last}`;
  const name = revision === 0 ? part : `${part}.revision-${revision}`;
  return join(topic, `date=${time.slice(0, 10)}`, `hour=${time.slice(11, 13)}`, `${name}.parquet`);
}

/** Returns the path of a file while it is being written. */
export function writingPathOf(path: string): string {
  return path + WRITING;
}

/** Parses a path below the folder of the history: a file, an unfinished file, or neither. */
export function partAt(path: string): PartName | 'unfinished' | undefined {
  const names = path.split(sep);
  const [topic, date, hour, file] = names;
  if (names.length !== 4 || !isTopic(topic)) return undefined;
  const day = FOLDER.exec(date as string)?.[1];
  const hours = HOUR.exec(hour as string)?.[1];
  const hourMs = Date.parse(`${day}T${hours}:00:00.000Z`);
  if (Number.isNaN(hourMs)) return undefined;
  const isUnfinished = (file as string).endsWith(WRITING);
  const found = PART.exec(isUnfinished ? (file as string).slice(0, -WRITING.length) : (file as string));
  if (found === null) return undefined;
  if (isUnfinished) return 'unfinished';
  const first = Number(found[1]);
  const last = Number(found[2] ?? first);
  const revision = found[3] === undefined ? {} : { revision: Number(found[3]) };
  return last < first ? undefined : { topic, hourMs, first, last, ...revision };
}

/** Whether a file replaces another one: it was merged from it, or is a later revision of it. */
export function covers(one: PartName, other: PartName): boolean {
  if (one.topic !== other.topic || one.hourMs !== other.hourMs) return false;
  if (one.first > other.first || one.last < other.last) return false;
  const isSameSpan = one.last - one.first === other.last - other.first;
  return isSameSpan ? (one.revision ?? 0) > (other.revision ?? 0) : true;
}

/** Returns the folders in a path below the folder of the history, innermost first. */
export function foldersOf(path: string): readonly string[] {
  const hour = dirname(path);
  const date = dirname(hour);
  return [hour, date, dirname(date)];
}

function isTopic(name: string | undefined): name is HistoryTopic {
  return HISTORY_TOPICS.some((topic) => topic === name);
}
