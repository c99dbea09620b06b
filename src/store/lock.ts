import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivate } from './private_files.ts';
import { asStartupError, databaseError } from './start_errors.ts';

/**
 * Prevents a second hub from using the same database, by two locks. Both are released when the process dies, however
 * that happens.
 *
 * The first is a SQLite lock on a small file next to the database. It decides which hub may start, and does not exclude
 * programs that only read or back up. But a separate file can be removed, and a hard link of the database has a
 * different one.
 *
 * The second is the lock that SQLite itself holds on an open database file, independent of its name, across containers
 * and processes. It cannot distinguish a hub from a reader, so it is checked only if the lock file differs from that of
 * the last hub. The database stores the device and inode of that file (`written.lock`). While that hub lives, no other
 * process can lock the file, and no other file can get its inode.
 *
 * An abstract Linux socket named after device and inode would be simpler. But containers have separate namespaces, and
 * two containers on one volume are the usual case of two hubs.
 */
export interface FileLock {
  /** Device and inode of the lock file. */
  readonly id: string;
  unlock(): void;
}

/**
 * Acquires the first lock. `file` is the path without links, `path` the name in messages. Throws a StartupError if
 * another hub holds the lock.
 */
export function lockFile(path: string, file: string): FileLock {
  const name = `${file}.lock`;
  let lock: Database.Database | undefined;
  try {
    createPrivate(name);
    lock = new Database(name, { timeout: 0 });
    // Keeps the journal in memory, so that no journal file is left next to the lock.
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
 * Checks the second lock: throws a StartupError if another process has the database open, under any name. This
 * checkpoints the log, so call it only after the log is verified.
 */
export function checkAlone(path: string, file: string, { timeoutMs }: { readonly timeoutMs: number }): void {
  const db = new Database(file, { timeout: timeoutMs });
  try {
    // In this locking mode, only one program can open a database in WAL mode.
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
