import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { readWritten } from './crash_detection.ts';
import { WAYS_OUT } from './damage.ts';
import { openToRead } from './database_file.ts';
import { bootId, readDirtyFlag } from './dirty_flag.ts';
import { hasSegments } from './event_copy.ts';
import { SegmentReader } from './event_segments.ts';
import { type DamagedBlock, damagedBlocks } from './event_table.ts';
import type { Opening } from './opening.ts';
import { linkOrCopy } from './private_files.ts';
import { databaseError } from './start_errors.ts';

interface Checking {
  /** Path of the database without links, and its name for messages. */
  readonly file: string;
  readonly path: string;
  readonly opening: Opening;
}

/**
 * Checks the events in the newest segment of a database that is being opened: older ones were synced to disk. Throws a
 * StartupError if some are lost; if the loss is accepted, removes them and all older ones, since a log with a gap is worth
 * nothing to a reader before the gap.
 */
export function checkEvents(db: Database.Database, { file, path, opening }: Checking): void {
  const damaged = damagedIn(db, file);
  if (damaged === undefined) return;
  const { last, why } = damaged;
  const loss = `events up to position ${last} are lost, because ${why}`;
  if (opening.acceptLoss !== true) throw databaseError(path, `${loss}: ${WAYS_OUT}`);
  db.transaction(() => {
    db.prepare('DELETE FROM event_log WHERE last <= ?').run(last);
    db.prepare('UPDATE event_log_start SET trimmed = max(trimmed, ?)').run(last);
  }).immediate();
  opening.notice?.(`Going on without what is lost: ${loss}`);
}

/** Returns the last block of the newest segment that is lost. */
function damagedIn(db: Database.Database, file: string): DamagedBlock | undefined {
  if (!hasSegments(db)) return undefined;
  const segment = db.prepare('SELECT segment FROM event_log ORDER BY last DESC LIMIT 1').pluck().get();
  if (typeof segment !== 'number') return undefined;
  const segments = new SegmentReader(file);
  try {
    return [...damagedBlocks(db, 'event_log', { segments, after: segment - 1 })].at(-1);
  } finally {
    segments.close();
  }
}

/** Sizes of SQLite's write-ahead log: https://www.sqlite.org/fileformat2.html#walformat */
const [LOG_HEAD_BYTES, FRAME_HEAD_BYTES] = [32, 24] as const;

/**
 * Reverts the commits whose events did not reach the disk before a power failure: cuts SQLite's log after the last commit
 * with events that are on disk, as if the power had failed then. The file system may write the last commits to disk before
 * their events, but a synced commit always has its events. If synced commits would be reverted, changes nothing: then
 * the events are damaged. Call it before the log is checkpointed.
 */
export function revertUnsynced(file: string): void {
  const flag = readDirtyFlag(file);
  const boot = bootId();
  if (flag === undefined || (boot !== '' && flag.boot === boot)) return;
  if (stateOf(file, file).isSound) return;
  const log = existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : Buffer.alloc(0);
  if (log.length < LOG_HEAD_BYTES) return;
  const ends = [0, ...commitEnds(log)];
  const folder = mkdtempSync(`${file}.rehearsal-`);
  const copy = join(folder, 'data.dat');
  try {
    linkOrCopy(file, copy);
    const stateTo = (end: number): State => {
      rmSync(`${copy}-shm`, { force: true });
      writeFileSync(`${copy}-wal`, log.subarray(0, end));
      return stateOf(copy, file);
    };
    // The longest sound log. An earlier state has a part of the events of a later one.
    let [low, high] = [0, ends.length - 1];
    while (low < high - 1) {
      const middle = Math.floor((low + high) / 2);
      if (stateTo(ends[middle] as number).isSound) low = middle;
      else high = middle;
    }
    const { isSound, commits } = stateTo(ends[low] as number);
    if (isSound && commits >= flag.synced) truncateSync(`${file}-wal`, ends[low]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface State {
  /** Whether the events of the newest segment are there. */
  readonly isSound: boolean;
  readonly commits: number;
}

function stateOf(file: string, ofSegments: string): State {
  const db = openToRead(file);
  try {
    return { isSound: damagedIn(db, ofSegments) === undefined, commits: readWritten(db)?.commits ?? 0 };
  } finally {
    db.close();
  }
}

/** Returns the ends of the commits in a log. Frames of earlier uses of the file have other salts. */
function commitEnds(log: Buffer): readonly number[] {
  const ends: number[] = [];
  const salts = log.subarray(16, 24);
  const frameBytes = FRAME_HEAD_BYTES + log.readUInt32BE(8);
  for (let at = LOG_HEAD_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    // The size of the database after a commit; zero in other frames.
    if (log.readUInt32BE(at + 4) > 0) ends.push(at + frameBytes);
  }
  return ends;
}
