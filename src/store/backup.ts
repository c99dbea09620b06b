import { rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { settle, verifyCopy } from './copy.ts';
import { inspect, openToRead } from './database_file.ts';
import { versionOf } from './migration/migrate.ts';
import { replaceByPrivate } from './private_files.ts';
import { asStartupError, refuse } from './start_errors.ts';

/** Pages that are copied in one go, 4 MiB: in between the program can do something else. */
const PAGES_AT_ONCE = 1024;

export interface BackupOptions {
  /** Told how much is copied, from 0 to 1. A throw ends the backup; nothing is left of it then. */
  progress(part: number): void;
}

/**
 * Copies a database into a file of its own, also while a hub is writing to the database: the copy is what was committed
 * when it was begun, for all of it is read in one transaction. The copy is checked, and only then gets its name, which
 * replaces a file of that name. Returns its size in bytes. Throws a StartupError when the database cannot be read or the
 * copy not be written.
 */
export async function backUp(path: string, to: string, { progress }: BackupOptions): Promise<number> {
  const unfinished = `${to}.tmp`;
  let version: number;
  try {
    const db = openExisting(path);
    try {
      version = versionOf(db);
      // Holds on to the present state: without it, each commit of the hub would make the copy begin again.
      db.exec('BEGIN');
      db.prepare('SELECT count(*) FROM sqlite_schema').get();
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
    verifyCopy(unfinished, version);
    settle(unfinished, to);
    progress(1);
    return statSync(to).size;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Opens a hub's database to read it beside the hub. Throws a StartupError when it cannot be used. */
export function openExisting(path: string): Database.Database {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) throw refuse(path, 'there is no such file');
    inspect(path, path);
    return openToRead(path);
  } catch (error) {
    throw asStartupError(error, path);
  }
}

/** A copy in this mode is one file, which can be read where nothing can be written. */
function leaveLogMode(path: string): void {
  const copy = new Database(path);
  copy.pragma('journal_mode = DELETE');
  copy.close();
}
