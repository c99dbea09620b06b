import Database from 'better-sqlite3';
import { asStartupError, refuse } from './start_errors.ts';

/**
 * Claims a database file for this process: a second hub on the same file is refused. The claim is a lock of SQLite on
 * a small file beside it, which the operating system takes back when the process dies, however it dies. Returns how
 * to give it back. Throws a StartupError.
 */
export function lockFile(path: string): () => void {
  let lock: Database.Database | undefined;
  try {
    lock = new Database(`${path}.lock`, { timeout: 0 });
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const busy = (error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true;
    throw busy ? refuse(path, 'another hub is using it') : asStartupError(error, path);
  }
  const held = lock;
  return () => held.close();
}
