import Database from 'better-sqlite3';
import type { LastKnownRow } from '../core/item.ts';
import { lockFile } from './lock.ts';
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { asStartupError, refuse } from './start_errors.ts';
import type { EntityKind, EntityWrite, Kept, StoreBatch } from './store.ts';

/** Pages of the write-ahead log after which a commit copies them into the database: 16 MiB. */
const CHECKPOINT_PAGES = 4096;
const WAL_MAX_BYTES = 64 << 20;

interface Statements {
  readonly setEntity: Database.Statement;
  readonly deleteEntity: Database.Statement;
  readonly setRow: Database.Statement;
  readonly deleteRow: Database.Statement;
}

/**
 * The hub's SQLite file, opened for this process alone. A commit survives the death of the process; only a loss of
 * power may take back the last ones, never a part of one.
 */
export class SqliteStore {
  readonly #db: Database.Database;
  readonly #unlock: () => void;
  readonly #statements: Statements;
  readonly #commit: (batch: StoreBatch) => void;
  readonly #hubId: string;

  /** Throws a StartupError that names the file when it cannot be used. `newId` makes the id of a new store. */
  constructor(path: string, newId: () => string) {
    this.#unlock = lockFile(path);
    try {
      this.#db = open(path);
      this.#hubId = prepareFile(this.#db, path, newId);
      this.#statements = prepare(this.#db);
    } catch (error) {
      this.#unlock();
      throw asStartupError(error, path);
    }
    this.#commit = this.#db.transaction((batch: StoreBatch) => this.#write(batch)).immediate;
  }

  load(): Kept {
    const entities = this.#db.prepare('SELECT kind, id, text FROM entity ORDER BY seq').all() as EntityWrite[];
    const rows = this.#db.prepare('SELECT kind, id, received_ms, key_ms, location, memberships FROM last_known');
    return { entities, rows: (rows.all() as StoredRow[]).map(toRow), hubId: this.#hubId };
  }

  /** One transaction. Throws when it fails, and then has changed nothing. */
  commit(batch: StoreBatch): void {
    this.#commit(batch);
  }

  close(): void {
    try {
      this.#db.pragma('wal_checkpoint(TRUNCATE)');
      this.#db.close();
    } finally {
      this.#unlock();
    }
  }

  #write({ entities, rows }: StoreBatch): void {
    const { setEntity, deleteEntity, setRow, deleteRow } = this.#statements;
    for (const { kind, id, text } of entities) {
      if (text === undefined) deleteEntity.run(kind, id);
      else setEntity.run(kind, id, text);
    }
    for (const row of rows) {
      if (row.gone === true) deleteRow.run(row.kind, row.id);
      else setRow.run(row.kind, row.id, row.receivedMs, row.keyMs, row.location, JSON.stringify(row.memberships));
    }
  }
}

function open(path: string): Database.Database {
  const db = new Database(path, { timeout: 5000 });
  try {
    // Looks at the file before anything is changed: a file of somebody else is left as it is.
    checkOwner(db, path);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.pragma(`journal_size_limit = ${WAL_MAX_BYTES}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function checkOwner(db: Database.Database, path: string): void {
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
  if (tables === 0) return;
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw refuse(path, 'it is a database of another program');
  }
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version > SCHEMA_VERSION) {
    throw refuse(path, `it was written by a newer hub (version ${version}, this hub knows ${SCHEMA_VERSION})`);
  }
}

/** Makes the tables of a new file. Returns the store's id. */
function prepareFile(db: Database.Database, path: string, newId: () => string): string {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version === 0) {
    db.transaction(() => {
      db.exec(SCHEMA);
      db.prepare("INSERT INTO meta VALUES ('hub_id', ?)").run(newId());
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
    }).immediate();
  }
  const sound = db.pragma('quick_check(1)', { simple: true });
  if (sound !== 'ok') throw refuse(path, `it is damaged: ${String(sound)}`);
  return db.prepare("SELECT value FROM meta WHERE name = 'hub_id'").pluck().get() as string;
}

function prepare(db: Database.Database): Statements {
  return {
    setEntity: db.prepare(`
      INSERT INTO entity (kind, id, text) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text`),
    deleteEntity: db.prepare('DELETE FROM entity WHERE kind = ? AND id = ?'),
    setRow: db.prepare(`
      INSERT INTO last_known VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET
        received_ms = excluded.received_ms, key_ms = excluded.key_ms,
        location = excluded.location, memberships = excluded.memberships`),
    deleteRow: db.prepare('DELETE FROM last_known WHERE kind = ? AND id = ?'),
  };
}

interface StoredRow {
  readonly kind: Exclude<EntityKind, 'zone' | 'fence' | 'setting'>;
  readonly id: string;
  readonly received_ms: number;
  readonly key_ms: number;
  readonly location: string;
  readonly memberships: string;
}

function toRow({ kind, id, received_ms, key_ms, location, memberships }: StoredRow): LastKnownRow {
  return { kind, id, receivedMs: received_ms, keyMs: key_ms, location, memberships: JSON.parse(memberships) };
}
