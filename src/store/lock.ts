import Database from 'better-sqlite3';
import { asStartupError, refuse } from './start_errors.ts';

/**
 * Claims a database file for this process: a second hub on the same file is refused. The claim is a lock of SQLite on
 * a small file beside it, which the operating system takes back when the process dies, however it dies. Programs that
 * only read or back up the database are not shut out. `file` is the path without links, `path` the name for messages.
 * Returns how to give the claim back. Throws a StartupError.
 */
export function lockFile(path: string, file: string): () => void {
  let lock: Database.Database | undefined;
  try {
    lock = new Database(`${file}.lock`, { timeout: 0 });
    // In memory, so that no journal lies about beside the lock.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const busy = (error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true;
    throw busy ? refuse(path, 'another hub is using it') : asStartupError(error, path);
  }
  const held = lock;
  return () => held.close();
}
