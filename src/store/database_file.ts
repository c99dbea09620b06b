import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { APPLICATION_ID, SCHEMA_VERSION } from './migration/steps.ts';
import { rowSum } from './row_sum.ts';
import { DAMAGED, databaseError } from './start_errors.ts';

/**
 * Size to which a checkpoint truncates the log file, so that one large commit does not occupy its space permanently.
 */
const WAL_BYTES_KEPT = 16 << 20;
/** Maximum time that a statement waits for another program's lock on the file, in milliseconds. */
export const BUSY_MS = 2000;

/** Validates a database file without changing it or its log. Throws a StartupError if it cannot be used. */
export function inspect(file: string, path: string): void {
  if (!existsSync(file)) return;
  const db = openToRead(file);
  try {
    const application = db.pragma('application_id', { simple: true });
    const version = db.pragma('user_version', { simple: true }) as number;
    const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
    // An empty file was left by a hub that was killed while creating it.
    if (tables === 0 && application === 0 && version === 0) return;
    if (application !== APPLICATION_ID) throw databaseError(path, 'it is a database of another program');
    if (version > SCHEMA_VERSION) {
      throw databaseError(path, `it was written by a newer hub (version ${version}, this hub knows ${SCHEMA_VERSION})`);
    }
    const sound = db.pragma('quick_check(1)', { simple: true });
    if (sound !== 'ok') throw databaseError(path, `${DAMAGED}: ${String(sound)}`);
  } finally {
    db.close();
  }
}

/** Opens an existing file read-only, even while a hub uses it. */
export function openToRead(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
}

/** Opens the file, or creates an empty one. */
export function openFile(file: string): Database.Database {
  const db = new Database(file, { timeout: BUSY_MS });
  try {
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') throw new Error('its file system does not take a write-ahead log');
    // Switching to WAL does not change the synchronous mode.
    db.pragma('synchronous = NORMAL');
    db.pragma('wal_autocheckpoint = 0');
    db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    // temp_store stays at its default: a file in the folder named by SQLITE_TMPDIR.
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Reads the id assigned to the file on creation, and whether its checksum is correct. */
export function hubIdOf(db: Database.Database): { readonly hubId: string; readonly isSound: boolean } {
  const { value, sum } = db.prepare("SELECT value, sum FROM meta WHERE name = 'hub_id'").get() as {
    value: string;
    sum: number;
  };
  return { hubId: value, isSound: sum === rowSum('meta', 'hub_id', value) };
}
