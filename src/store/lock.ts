import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivate } from './private_files.ts';
import { asStartupError, refuse } from './start_errors.ts';

/**
 * A second hub on the same database is refused, by two locks that both end with the process, however it dies.
 *
 * The first is a lock of SQLite on a small file beside the database. It says who may start, and shuts out nobody who only
 * reads or backs up. But a file beside it can be removed, and a hard link has another one.
 *
 * The second is the one that SQLite itself holds on the database as long as it is open: on the file that it is, whatever
 * it is called, across containers and processes. It cannot tell a hub from a reader, and so decides only where the first
 * may be another than the last hub had: the database says (`written.lock`) which file that was, by device and inode. While
 * that hub lives, nobody else has the file, and no other file gets its number.
 *
 * A name that Linux keeps for a process, such as an abstract socket for each device and inode, would be simpler; but each
 * container has such names of its own, and two containers on one volume are how two hubs meet.
 */
export interface FileLock {
  /** Device and inode of the small file. */
  readonly id: string;
  unlock(): void;
}

/**
 * Takes the first lock. `file` is the path without links, `path` the name for messages. Throws a StartupError when another
 * hub has it.
 */
export function lockFile(path: string, file: string): FileLock {
  const name = `${file}.lock`;
  let lock: Database.Database | undefined;
  try {
    createPrivate(name);
    lock = new Database(name, { timeout: 0 });
    // In memory, so that no journal lies about beside the lock.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    const { dev, ino } = statSync(name, { bigint: true });
    const held = lock;
    return { id: `${dev}:${ino}`, unlock: () => held.close() };
  } catch (error) {
    lock?.close();
    throw isBusy(error) ? refuse(path, 'another hub is using it') : asStartupError(error, path);
  }
}

/**
 * Throws a StartupError when anybody has the database open, under any name. Writes back its log: to be called once that is
 * known to be sound.
 */
export function checkAlone(path: string, file: string, { timeoutMs }: { readonly timeoutMs: number }): void {
  const db = new Database(file, { timeout: timeoutMs });
  try {
    // A database with a log is opened in this way by one program alone.
    db.pragma('locking_mode = EXCLUSIVE');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    throw isBusy(error) ? refuse(path, 'another hub is using it, or another program') : asStartupError(error, path);
  } finally {
    db.close();
  }
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true;
}
