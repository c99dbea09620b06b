import type Database from 'better-sqlite3';
import type { StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';
import type { PackedRows } from '../core/row_bytes.ts';
import { type LogName, packedRows } from '../wire/store_messages.ts';
import { type DamagedRow, leaveOut, nameOf, refuseDamaged } from './damage.ts';
import { hubIdOf, openFile } from './database_file.ts';
import { checkEvents } from './event_check.ts';
import { EventSegments } from './event_segments.ts';
import { EventTable } from './event_table.ts';
import { type FileLock, lockFile } from './lock.ts';
import { migrate } from './migration/migrate.ts';
import type { Opening } from './opening.ts';
import { databasePath } from './database_path.ts';
import { prepareFile } from './prepare_file.ts';
import { readStored } from './read_stored.ts';
import { RowLog } from './row_log.ts';
import { rowSum } from './row_sum.ts';
import { DirtyFlagFile } from './dirty_flag.ts';
import { asStartupError } from './start_errors.ts';
import { joinedParts } from './store.ts';
import { readWritten, type CommitStatistics } from './crash_detection.ts';

/**
 * Number of pages of the write-ahead log that triggers a checkpoint: 4 MiB, so that no commit waits long. If the same
 * 10,000 objects are written repeatedly, checkpoints take a tenth of the CPU time per row. With four times as many
 * pages they would take a twentieth, but a commit would wait up to 20 ms instead of 10.
 */
const CHECKPOINT_PAGES = 1024;
/** Number of pages above which a checkpoint also waits for readers and truncates the log: 16 MiB. */
const CHECKPOINT_PAGES_MAX = 4 * CHECKPOINT_PAGES;
const PAGE_BYTES = 4096;
/** Bytes of commits after which the length of the write-ahead log is read again. */
const LOOK_BYTES = (CHECKPOINT_PAGES * PAGE_BYTES) / 16;

const MADE_UP_BLOCK = { first: Number.MAX_SAFE_INTEGER, count: 1, timeMs: 0, bytes: new Uint8Array(1) };
const MADE_UP: StoreBatch = {
  entities: [{ kind: 'provider', id: '', text: '{}' }],
  rows: [
    { kind: 'provider', id: '', receivedMs: 0, eventTimeMs: 0, location: '{}', memberships: [] },
    { kind: 'collision', id: '[]', startMs: 0, bodies: '[]' },
  ],
  events: MADE_UP_BLOCK,
  audit: MADE_UP_BLOCK,
};

interface PackedBatch extends StoreBatch {
  readonly rows: PackedRows;
}

interface Statements {
  readonly setEntity: Database.Statement;
  readonly deleteEntity: Database.Statement;
  readonly setSetting: Database.Statement;
  readonly deleteSetting: Database.Statement;
  readonly count: Database.Statement;
  /** Returns the length of SQLite's log, https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
  readonly logPages: Database.Statement;
}

/** Number of pages in SQLite's log, and number of these that are checkpointed. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * The hub's SQLite file, opened exclusively by this process. A commit survives the death of the process; a commit with
 * entities also survives a power failure. A power failure may revert the last commits without entities, but never a
 * part of a commit.
 */
export class SqliteStore {
  readonly #path: string;
  readonly #db: Database.Database;
  readonly #opening: Opening;
  readonly #lock: FileLock;
  readonly #mark: DirtyFlagFile;
  readonly #statements: Statements;
  readonly #rowLog: RowLog;
  /** The event log and the audit log. */
  readonly logs: Readonly<Record<LogName, EventTable>>;
  readonly #commit: (batch: PackedBatch) => void;
  readonly #hubId: string;
  #checkpointAtPages = CHECKPOINT_PAGES;
  /** Approximate bytes written since the length of the write-ahead log was read. */
  #bytesSinceLook = 0;
  /** Number of commits since the file was created. */
  #commits = 0;

  /**
   * Creates the file or migrates it to the current version. Throws a StartupError if the file cannot be used, or if it
   * has lost data and the loss is not accepted. `newId` creates the id of a new store.
   */
  constructor(path: string, newId: () => string, opening: Opening = { nowMs: 0 }) {
    this.#path = path;
    this.#opening = opening;
    const file = databasePath(path);
    this.#lock = lockFile(path, file);
    let db: Database.Database | undefined;
    try {
      prepareFile(file, { path, lock: this.#lock, opening });
      db = openFile(file);
      this.#db = db;
      migrate(db, { ...opening, file, path, newId });
      this.#hubId = this.#readHubId();
      checkEvents(db, { file, path, opening });
      this.#statements = prepare(db);
      this.#rowLog = new RowLog(db);
      this.logs = {
        events: new EventTable(db, 'event_log', { hubId: this.#hubId, segments: new EventSegments(file) }),
        audit: new EventTable(db, 'audit_log', { hubId: this.#hubId }),
      };
      this.#begin();
      this.#mark = new DirtyFlagFile(file, this.#commits);
    } catch (error) {
      db?.close();
      this.#lock.unlock();
      throw asStartupError(error, path);
    }
    const transaction = this.#db.transaction((batch: PackedBatch) => this.#write(batch)).immediate;
    this.#commit = (batch) => {
      try {
        transaction(batch);
      } catch (error) {
        for (const log of Object.values(this.logs)) log.rolledBack();
        throw error;
      }
      for (const log of Object.values(this.logs)) log.committed();
    };
  }

  /** UUID assigned when the file was created. */
  get hubId(): string {
    return this.#hubId;
  }

  /** Returns all stored data. Throws a StartupError if the file cannot be read. */
  load(): StoredState {
    return { ...joinedParts(this.parts()), hubId: this.#hubId };
  }

  /**
   * Yields all stored data in parts, all entities before the first row. Read them completely before the next commit.
   * Damaged rows are skipped. At the end, they are deleted from the file if the loss is accepted; otherwise a
   * StartupError is thrown.
   */
  *parts(): Generator<StoredPart> {
    const damaged: DamagedRow[] = [];
    try {
      yield* readStored(this.#db, damaged);
      if (damaged.length > 0) this.#settle(damaged);
    } catch (error) {
      throw asStartupError(error, this.#path);
    }
  }

  /** Commits a batch in one transaction. If it fails, throws without changing anything. */
  commit({ entities, rows: given, events, audit }: StoreBatch): void {
    const rows = packedRows(given);
    rows.checkTimes();
    const hasEntities = entities.length > 0;
    // Rows are one statement, which is a transaction of its own.
    if (!hasEntities && events === undefined && audit === undefined) this.#write({ entities, rows });
    else if (!hasEntities) this.#commit({ entities, rows, events, audit });
    else {
      this.#db.pragma('synchronous = FULL');
      try {
        this.#commit({ entities, rows, events, audit });
      } finally {
        this.#db.pragma('synchronous = NORMAL');
      }
    }
    this.#bytesSinceLook += PAGE_BYTES * (1 + entities.length) + rows.size;
    this.#bytesSinceLook += (events === undefined ? 0 : PAGE_BYTES) + (audit?.bytes.length ?? 0);
    this.#commits++;
    this.#mark.note(this.#commits, { isSynced: hasEntities });
  }

  /** Writes sample data and rolls it back, so that the first commit is as fast as later ones. */
  warmUp(): void {
    try {
      this.#db.transaction(() => {
        this.#write({ ...MADE_UP, rows: packedRows(MADE_UP.rows) });
        throw new Error('Not to be kept');
      })();
    } catch {
      // The first commit reports any other problem.
    }
    for (const log of Object.values(this.logs)) log.rolledBack();
  }

  /**
   * Does a piece of background work and returns whether more remains. Call it after each commit has been answered. A
   * failure changes nothing and does not affect commits.
   */
  work(): boolean {
    this.#checkpoint();
    try {
      const isFolding = this.#rowLog.work();
      if (isFolding) this.#bytesSinceLook = LOOK_BYTES;
      return isFolding;
    } catch (error) {
      const why = (error as Error).message;
      this.#opening.notice?.(`Last locations stay in their log, which grows until this is mended: ${why}`);
      return false;
    }
  }

  /** Folds the row log, so that tools find rows in their tables. Rows that cannot be moved stay in the log. */
  #foldRows(): void {
    try {
      this.#rowLog.fold();
    } catch {
      // For example a full disk. The next start reads the rows from the log.
    }
  }

  /** Checkpoints SQLite's log if it has grown. */
  #checkpoint(): void {
    if (this.#bytesSinceLook < LOOK_BYTES) return;
    this.#bytesSinceLook = 0;
    try {
      const { log: pages } = this.#statements.logPages.get() as LogState;
      if (pages < this.#checkpointAtPages) return;
      const { log, checkpointed } = this.#log(pages < CHECKPOINT_PAGES_MAX ? 'PASSIVE' : 'TRUNCATE');
      // While a reader pins the log, it keeps growing. The next attempt follows when it has grown by the same amount.
      this.#checkpointAtPages = log === checkpointed ? CHECKPOINT_PAGES : log + CHECKPOINT_PAGES;
    } catch {
      this.#checkpointAtPages += CHECKPOINT_PAGES;
    }
  }

  close(): void {
    let isInOrder = false;
    try {
      this.#foldRows();
      this.logs.events.sync();
      this.#db.close();
      isInOrder = true;
    } finally {
      this.logs.events.close();
      this.#mark.end({ isInOrder });
      this.#lock.unlock();
    }
  }

  /** Makes the first commit, which syncs all earlier commits to disk and stores the id of this hub's lock. */
  #begin(): void {
    const { commits, lock } = readWritten(this.#db) as CommitStatistics;
    this.#commits = commits + 1;
    this.logs.events.sync();
    this.#db.pragma('synchronous = FULL');
    this.#db.prepare('UPDATE written SET commits = ?, lock = ?').run(this.#commits, this.#lock.id);
    this.#db.pragma('synchronous = NORMAL');
    // Checkpoints the id to the main file, because a process that opens it under another name does not see this log.
    if (lock !== this.#lock.id) this.#log('PASSIVE');
  }

  #readHubId(): string {
    const { hubId, isSound } = hubIdOf(this.#db);
    if (isSound) return hubId;
    this.#settle([{ table: 'meta', key: 'hub_id', name: nameOf('meta', { id: 'hub_id' }) }]);
    this.#db.prepare("UPDATE meta SET sum = ? WHERE name = 'hub_id'").run(rowSum('meta', 'hub_id', hubId));
    return hubId;
  }

  #settle(damaged: readonly DamagedRow[]): void {
    if (this.#opening.acceptLoss !== true) refuseDamaged(this.#path, damaged);
    this.#opening.notice?.(leaveOut(this.#db, damaged));
  }

  #log(mode: 'PASSIVE' | 'TRUNCATE'): LogState {
    this.logs.events.sync();
    const [result] = this.#db.pragma(`wal_checkpoint(${mode})`) as LogState[];
    return result ?? { log: 0, checkpointed: 0 };
  }

  #write({ entities, rows, events, audit }: PackedBatch): void {
    const { setEntity, deleteEntity, setSetting, deleteSetting, count } = this.#statements;
    const number = this.#commits + 1;
    // An entry of the log has the number of its commit. A commit without rows has none.
    if (rows.count === 0) count.run(number);
    for (const { kind, id, text } of entities) {
      if (kind === 'setting') {
        if (text === undefined) deleteSetting.run(id);
        else setSetting.run(id, text, rowSum('setting', id, text));
      } else if (text === undefined) deleteEntity.run(kind, id);
      else setEntity.run(kind, id, text, rowSum(kind, id, text));
    }
    this.#rowLog.add(rows, number);
    if (events !== undefined) this.logs.events.add(events);
    // The commit syncs the database.
    if (entities.length > 0) this.logs.events.sync();
    if (audit !== undefined) this.logs.audit.add(audit);
  }
}

function prepare(db: Database.Database): Statements {
  return {
    setEntity: db.prepare(`
      INSERT INTO entity (kind, id, text, sum) VALUES (?, ?, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, sum = excluded.sum`),
    deleteEntity: db.prepare('DELETE FROM entity WHERE kind = ? AND id = ?'),
    setSetting: db.prepare(`
      INSERT INTO setting VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, sum = excluded.sum`),
    deleteSetting: db.prepare('DELETE FROM setting WHERE name = ?'),
    count: db.prepare('UPDATE written SET commits = ?'),
    // Prepared, since compiling the statement takes 10 µs.
    logPages: db.prepare('PRAGMA wal_checkpoint(NOOP)'),
  };
}
