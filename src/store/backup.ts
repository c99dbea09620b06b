import { realpathSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { settle, verifyCopy } from './copy.ts';
import { inspect, openToRead } from './database_file.ts';
import { beginSnapshot, inlineEvents } from './event_copy.ts';
import type { SegmentReader } from './event_segments.ts';
import { versionOf } from './migration/migrate.ts';
import { replaceByPrivate } from './private_files.ts';
import { asStartupError, databaseError } from './start_errors.ts';

/** Number of pages copied before yielding to the event loop: 4 MiB. */
const PAGES_AT_ONCE = 1024;

export interface BackupOptions {
  /** Called with the copied fraction, from 0 to 1. If it throws, the backup is canceled and removed. */
  progress(part: number): void;
}

/**
 * Backs up a database to a file, even while a hub writes to it, and returns the size of the backup in bytes. The backup
 * is read in one transaction and contains the state committed at its start, with the events of its segments. It is
 * verified before it is renamed to `to`, replacing an existing file. Throws a StartupError if the database cannot be
 * read or the backup cannot be written.
 */
export async function backUp(path: string, to: string, { progress }: BackupOptions): Promise<number> {
  const unfinished = `${to}.tmp`;
  let version: number;
  let segments: SegmentReader | undefined;
  try {
    const db = openExisting(path);
    try {
      version = versionOf(db);
      // Pins the snapshot: without it, each commit of the hub would restart the copy.
      segments = beginSnapshot(db, realpathSync(path));
      replaceByPrivate(unfinished);
      await db.backup(unfinished, {
        progress({ totalPages, remainingPages }) {
          progress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
          return PAGES_AT_ONCE;
        },
      });
    } finally {
      db.close();
    }
    leaveLogMode(unfinished);
    inlineEvents(unfinished, segments);
    verifyCopy(unfinished, version);
    settle(unfinished, to);
    progress(1);
    return statSync(to).size;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    segments?.close();
  }
}

/** Opens a hub's database to read it alongside the hub. Throws a StartupError if it cannot be used. */
export function openExisting(path: string): Database.Database {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) throw databaseError(path, 'there is no such file');
    inspect(path, path);
    return openToRead(path);
  } catch (error) {
    throw asStartupError(error, path);
  }
}

/** Leaves WAL mode, so that the copy is a single file and readable from a read-only folder. */
function leaveLogMode(path: string): void {
  const copy = new Database(path);
  copy.pragma('journal_mode = DELETE');
  copy.close();
}
