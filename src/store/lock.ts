import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivate } from './private_files.ts';
import { asStartupError, databaseError } from './start_errors.ts';

/**
 * Rejects a second hub on the same database, by two locks that are both released when the process dies in any way.
 *
 * The first is a SQLite lock on a small file alongside the database. It decides which hub may start, and does not
 * exclude programs that only read or back up. But a separate file can be removed, and a hard link of the database has
 * another one.
 *
 * The second is the lock that SQLite itself holds on an open database file, independent of its name, across containers
 * and processes. It cannot distinguish a hub from a reader, so it decides only if the first lock may be on another file
 * than that of the last hub. The database stores (`written.lock`) the device and inode of that file. While that hub
 * lives, no other process holds the file, and no other file gets its inode.
 *
 * A name that Linux keeps per process, such as an abstract socket for each device and inode, would be simpler. But each
 * container has its own names, and two containers on one volume are the usual case of two hubs.
 */
export interface FileLock {
  /** Device and inode of the lock file. */
  readonly id: string;
  unlock(): void;
}

/**
 * Acquires the first lock. `file` is the path without links, `path` the name for messages. Throws a StartupError if
 * another hub holds it.
 */
export function lockFile(path: string, file: string): FileLock {
  const name = `${file}.lock`;
  let lock: Database.Database | undefined;
  try {
    createPrivate(name);
    lock = new Database(name, { timeout: 0 });
    // In memory, so that no journal is left alongside the lock.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    const { dev, ino } = statSync(name, { bigint: true });
    const held = lock;
    return { id: `${dev}:${ino}`, unlock: () => held.close() };
  } catch (error) {
    lock?.close();
    throw isBusy(error) ? databaseError(path, 'another hub is using it') : asStartupError(error, path);
  }
}

/**
 * Throws a StartupError if another process has the database open, under any name. Checkpoints its log, so call it only
 * after the log is verified.
 */
export function checkAlone(path: string, file: string, { timeoutMs }: { readonly timeoutMs: number }): void {
  const db = new Database(file, { timeout: timeoutMs });
  try {
    // In this mode only one program can open a database with a log.
    db.pragma('locking_mode = EXCLUSIVE');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    throw isBusy(error)
      ? databaseError(path, 'another hub is using it, or another program')
      : asStartupError(error, path);
  } finally {
    db.close();
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true;
}
