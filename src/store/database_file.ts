import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { APPLICATION_ID, SCHEMA_VERSION } from './migration/steps.ts';
import { rowSum } from './row_sum.ts';
import { DAMAGED, refuse } from './start_errors.ts';

/** What is left of the log's file once it is copied, so that one large commit does not keep the space. */
const WAL_BYTES_KEPT = 16 << 20;
/** How long a statement waits for another program that has locked the file. */
export const BUSY_MS = 2000;

/** Looks at a file without changing it or its log: one that is refused is left as it is. Throws a StartupError. */
export function inspect(file: string, path: string): void {
  if (!existsSync(file)) return;
  const db = openToRead(file);
  try {
    const application = db.pragma('application_id', { simple: true });
    const version = db.pragma('user_version', { simple: true }) as number;
    const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
    // A hub that was killed while it made the file has left this.
    if (tables === 0 && application === 0 && version === 0) return;
    if (application !== APPLICATION_ID) throw refuse(path, 'it is a database of another program');
    if (version > SCHEMA_VERSION) {
      throw refuse(path, `it was written by a newer hub (version ${version}, this hub knows ${SCHEMA_VERSION})`);
    }
    const sound = db.pragma('quick_check(1)', { simple: true });
    if (sound !== 'ok') throw refuse(path, `${DAMAGED}: ${String(sound)}`);
  } finally {
    db.close();
  }
}

/** Opens a file that is there, to read it beside the hub that uses it. */
export function openToRead(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
}

/** Opens the file, or makes an empty one. */
export function openFile(file: string): Database.Database {
  const db = new Database(file, { timeout: BUSY_MS });
  try {
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') throw new Error('its file system does not take a write-ahead log');
    // Switching to WAL does not choose this.
    db.pragma('synchronous = NORMAL');
    db.pragma('wal_autocheckpoint = 0');
    db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    // temp_store stays at its default: a file in the folder that SQLITE_TMPDIR names.
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The id that the file has got when it was made, and whether its checksum fits. */
export function hubIdOf(db: Database.Database): { readonly hubId: string; readonly isSound: boolean } {
  const { value, sum } = db.prepare("SELECT value, sum FROM meta WHERE name = 'hub_id'").get() as {
    value: string;
    sum: number;
  };
  return { hubId: value, isSound: sum === rowSum('meta', 'hub_id', value) };
}
