import type Database from 'better-sqlite3';
import { hubIdOf, inspect, openFile, placeOf } from './database_file.ts';
import { lockFile } from './lock.ts';
import { migrate } from './migration/migrate.ts';
import type { Opening } from './opening.ts';
import { readKept } from './read_kept.ts';
import { asStartupError } from './start_errors.ts';
import { joinedParts, type Kept, type KeptPart, type StoreBatch } from './store.ts';
import { takeOver } from './take_over.ts';

/** Pages of the write-ahead log after which it is copied into the database: 4 MiB, so that no commit waits for long. */
const CHECKPOINT_PAGES = 1024;
/** Pages after which that waits for readers as well, and gives the space back: 16 MiB. */
const CHECKPOINT_PAGES_MAX = 4 * CHECKPOINT_PAGES;

const MADE_UP: StoreBatch = {
  entities: [{ kind: 'provider', id: '', text: '{}' }],
  rows: [
    { kind: 'provider', id: '', receivedMs: 0, keyMs: 0, location: '{}', memberships: [] },
    { kind: 'collision', id: '[]', startMs: 0, bodies: '[]' },
  ],
};

interface Statements {
  readonly setEntity: Database.Statement;
  readonly deleteEntity: Database.Statement;
  readonly setSetting: Database.Statement;
  readonly deleteSetting: Database.Statement;
  readonly setRow: Database.Statement;
  readonly deleteRow: Database.Statement;
  readonly setCollision: Database.Statement;
  readonly deleteCollision: Database.Statement;
}

/**
 * The hub's SQLite file, opened for this process alone. A commit survives the death of the process, and one with entities
 * a loss of power as well; that may take back the last ones with rows only, never a part of one.
 */
export class SqliteStore {
  readonly #path: string;
  readonly #db: Database.Database;
  readonly #unlock: () => void;
  readonly #statements: Statements;
  readonly #commit: (batch: StoreBatch) => void;
  readonly #hubId: string;
  #checkpointAtPages = CHECKPOINT_PAGES;

  /**
   * Makes the file, or brings it up to the present version. Throws a StartupError that names it when it cannot be used.
   * `newId` makes the id of a new store.
   */
  constructor(path: string, newId: () => string, opening: Opening = { nowMs: 0 }) {
    this.#path = path;
    const file = placeOf(path);
    this.#unlock = lockFile(path, file);
    let db: Database.Database | undefined;
    try {
      takeOver(file, opening);
      inspect(file, path);
      db = openFile(file);
      this.#db = db;
      migrate(db, { ...opening, file, path, newId });
      this.#hubId = hubIdOf(db);
      this.#statements = prepare(db);
    } catch (error) {
      db?.close();
      this.#unlock();
      throw asStartupError(error, path);
    }
    this.#commit = this.#db.transaction((batch: StoreBatch) => this.#write(batch)).immediate;
  }

  /** A UUID that the file has got when it was made. */
  get hubId(): string {
    return this.#hubId;
  }

  /** All of it. Throws a StartupError when the file cannot be read. */
  load(): Kept {
    return { ...joinedParts(this.parts()), hubId: this.#hubId };
  }

  /** The same in parts, all entities before the first row. To be read to the end before the next commit. */
  *parts(): Generator<KeptPart> {
    try {
      yield* readKept(this.#db);
    } catch (error) {
      throw asStartupError(error, this.#path);
    }
  }

  /** One transaction. Throws when it fails, and then has changed nothing. */
  commit(batch: StoreBatch): void {
    const hasEntities = batch.entities.length > 0;
    if (hasEntities) this.#db.pragma('synchronous = FULL');
    try {
      this.#commit(batch);
    } finally {
      if (hasEntities) this.#db.pragma('synchronous = NORMAL');
    }
  }

  /** Writes what is made up and takes it back, so that the first commit takes no longer than later ones. */
  warmUp(): void {
    try {
      this.#db.transaction(() => {
        this.#write(MADE_UP);
        throw new Error('Not to be kept');
      })();
    } catch {
      // Where something else is wrong, the first commit will tell.
    }
  }

  /**
   * Copies the log into the database when it has grown; to be called after each commit, once that is answered. A failure
   * leaves the log as it is, and commits go on.
   */
  checkpoint(): void {
    try {
      const pages = this.#log('NOOP').log;
      if (pages < this.#checkpointAtPages) return;
      const { log, checkpointed } = this.#log(pages < CHECKPOINT_PAGES_MAX ? 'PASSIVE' : 'TRUNCATE');
      // A log that a reader holds on to goes on growing: the next attempt is when there is as much more to gain.
      this.#checkpointAtPages = log === checkpointed ? CHECKPOINT_PAGES : log + CHECKPOINT_PAGES;
    } catch {
      this.#checkpointAtPages += CHECKPOINT_PAGES;
    }
  }

  close(): void {
    try {
      this.#db.close();
    } finally {
      this.#unlock();
    }
  }

  /** https://www.sqlite.org/pragma.html#pragma_wal_checkpoint; NOOP only tells the length, in 10 µs. */
  #log(mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): { log: number; checkpointed: number } {
    const [result] = this.#db.pragma(`wal_checkpoint(${mode})`) as { log: number; checkpointed: number }[];
    return result ?? { log: 0, checkpointed: 0 };
  }

  #write({ entities, rows }: StoreBatch): void {
    const { setEntity, deleteEntity, setSetting, deleteSetting, setRow, deleteRow } = this.#statements;
    const { setCollision, deleteCollision } = this.#statements;
    for (const { kind, id, text } of entities) {
      if (kind === 'setting') {
        if (text === undefined) deleteSetting.run(id);
        else setSetting.run(id, text);
      } else if (text === undefined) deleteEntity.run(kind, id);
      else setEntity.run(kind, id, text);
    }
    for (const row of rows) {
      if (row.kind === 'collision') {
        if (row.gone === true) deleteCollision.run(row.id);
        else setCollision.run(row.id, row.startMs, row.bodies);
      } else if (row.gone === true) deleteRow.run(row.kind, row.id);
      else setRow.run(row.kind, row.id, row.receivedMs, row.keyMs, row.location, JSON.stringify(row.memberships));
    }
  }
}

function prepare(db: Database.Database): Statements {
  return {
    setEntity: db.prepare(`
      INSERT INTO entity (kind, id, text) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text`),
    deleteEntity: db.prepare('DELETE FROM entity WHERE kind = ? AND id = ?'),
    setSetting: db.prepare(`
      INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`),
    deleteSetting: db.prepare('DELETE FROM setting WHERE name = ?'),
    setRow: db.prepare(`
      INSERT INTO last_known VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET
        received_ms = excluded.received_ms, key_ms = excluded.key_ms,
        location = excluded.location, memberships = excluded.memberships`),
    deleteRow: db.prepare('DELETE FROM last_known WHERE kind = ? AND id = ?'),
    setCollision: db.prepare(`
      INSERT INTO collision VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET
        start_ms = excluded.start_ms, bodies = excluded.bodies`),
    deleteCollision: db.prepare('DELETE FROM collision WHERE id = ?'),
  };
}
