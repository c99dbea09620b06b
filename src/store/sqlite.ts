import type Database from 'better-sqlite3';
import type { StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';
import { packedRows } from '../wire/store_messages.ts';
import { type DamagedRow, leaveOut, nameOf, refuseDamaged } from './damage.ts';
import { hubIdOf, openFile } from './database_file.ts';
import { type FileLock, lockFile } from './lock.ts';
import { migrate } from './migration/migrate.ts';
import type { Opening } from './opening.ts';
import { placeOf } from './place.ts';
import { prepareFile } from './prepare_file.ts';
import { readKept } from './read_kept.ts';
import { RowLog } from './row_log.ts';
import { rowSum } from './row_sum.ts';
import { RunningMark } from './running_mark.ts';
import { asStartupError } from './start_errors.ts';
import { joinedParts } from './store.ts';
import { readWritten, type Written } from './unclean_end.ts';

/**
 * Pages of the write-ahead log after which it is copied into the database: 4 MiB, so that no commit waits for long. Where
 * the same 10,000 objects are written again and again, a tenth of the CPU time of a row is for that. Four times as much
 * would make it a twentieth, and the longest wait 20 ms instead of 10.
 */
const CHECKPOINT_PAGES = 1024;
/** Pages after which that waits for readers as well, and gives the space back: 16 MiB. */
const CHECKPOINT_PAGES_MAX = 4 * CHECKPOINT_PAGES;

const MADE_UP: StoreBatch = {
  entities: [{ kind: 'provider', id: '', text: '{}' }],
  rows: [
    { kind: 'provider', id: '', receivedMs: 0, eventTimeMs: 0, location: '{}', memberships: [] },
    { kind: 'collision', id: '[]', startMs: 0, bodies: '[]' },
  ],
};

interface Statements {
  readonly setEntity: Database.Statement;
  readonly deleteEntity: Database.Statement;
  readonly setSetting: Database.Statement;
  readonly deleteSetting: Database.Statement;
  readonly count: Database.Statement;
}

/**
 * The hub's SQLite file, opened for this process alone. A commit survives the death of the process, and one with entities
 * a loss of power as well; that may take back the last ones with rows only, never a part of one.
 */
export class SqliteStore {
  readonly #path: string;
  readonly #db: Database.Database;
  readonly #opening: Opening;
  readonly #lock: FileLock;
  readonly #mark: RunningMark;
  readonly #statements: Statements;
  readonly #rowLog: RowLog;
  readonly #commit: (batch: StoreBatch) => void;
  readonly #hubId: string;
  #checkpointAtPages = CHECKPOINT_PAGES;
  /** Since the file was made. */
  #commits = 0;

  /**
   * Makes the file, or brings it up to the present version. Throws a StartupError that names it when it cannot be used, or
   * has lost something and that is not accepted. `newId` makes the id of a new store.
   */
  constructor(path: string, newId: () => string, opening: Opening = { nowMs: 0 }) {
    this.#path = path;
    this.#opening = opening;
    const file = placeOf(path);
    this.#lock = lockFile(path, file);
    let db: Database.Database | undefined;
    try {
      prepareFile(file, { path, lock: this.#lock, opening });
      db = openFile(file);
      this.#db = db;
      migrate(db, { ...opening, file, path, newId });
      this.#hubId = this.#readHubId();
      this.#statements = prepare(db);
      this.#rowLog = new RowLog(db);
      this.#begin();
      this.#mark = new RunningMark(file, this.#commits);
    } catch (error) {
      db?.close();
      this.#lock.unlock();
      throw asStartupError(error, path);
    }
    this.#commit = this.#db.transaction((batch: StoreBatch) => this.#write(batch)).immediate;
  }

  /** A UUID that the file has got when it was made. */
  get hubId(): string {
    return this.#hubId;
  }

  /** All of it. Throws a StartupError when the file cannot be read. */
  load(): StoredState {
    return { ...joinedParts(this.parts()), hubId: this.#hubId };
  }

  /**
   * The same in parts, all entities before the first row. To be read to the end before the next commit. Damaged rows are
   * in none; at the end they are taken out of the file where that is accepted, and otherwise it throws.
   */
  *parts(): Generator<StoredPart> {
    const damaged: DamagedRow[] = [];
    try {
      yield* readKept(this.#db, damaged);
      if (damaged.length > 0) this.#settle(damaged);
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
    this.#commits++;
    this.#mark.note(this.#commits, { isSynced: hasEntities });
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
   * Does a piece of what no commit waits for; to be called after each of them, once that is answered. Returns whether
   * there is more. A failure leaves everything as it is, and commits go on.
   */
  work(): boolean {
    this.#checkpoint();
    try {
      return this.#rowLog.work();
    } catch (error) {
      const why = (error as Error).message;
      this.#opening.notice?.(`Last locations stay in their log, which grows until this is mended: ${why}`);
      return false;
    }
  }

  /** Whoever looks into the file finds rows in their tables then. What cannot be brought there stays in the log. */
  #foldRows(): void {
    try {
      this.#rowLog.fold();
    } catch {
      // A disk that is full: the next start reads them from the log.
    }
  }

  /** Copies SQLite's log into the database when it has grown. */
  #checkpoint(): void {
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
    let isInOrder = false;
    try {
      this.#foldRows();
      this.#db.close();
      isInOrder = true;
    } finally {
      this.#mark.end({ isInOrder });
      this.#lock.unlock();
    }
  }

  /** A first commit: on the disk, and with all before it. It says which lock this hub holds. */
  #begin(): void {
    const { commits, lock } = readWritten(this.#db) as Written;
    this.#commits = commits + 1;
    this.#db.pragma('synchronous = FULL');
    this.#db.prepare('UPDATE written SET commits = ?, lock = ?').run(this.#commits, this.#lock.id);
    this.#db.pragma('synchronous = NORMAL');
    // In the file itself: whoever finds it under another name does not have this log.
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

  /** https://www.sqlite.org/pragma.html#pragma_wal_checkpoint; NOOP only tells the length, in 10 µs. */
  #log(mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): { log: number; checkpointed: number } {
    const [result] = this.#db.pragma(`wal_checkpoint(${mode})`) as { log: number; checkpointed: number }[];
    return result ?? { log: 0, checkpointed: 0 };
  }

  #write({ entities, rows: given }: StoreBatch): void {
    const { setEntity, deleteEntity, setSetting, deleteSetting, count } = this.#statements;
    const rows = packedRows(given);
    rows.checkTimes();
    count.run(this.#commits + 1);
    for (const { kind, id, text } of entities) {
      if (kind === 'setting') {
        if (text === undefined) deleteSetting.run(id);
        else setSetting.run(id, text, rowSum('setting', id, text));
      } else if (text === undefined) deleteEntity.run(kind, id);
      else setEntity.run(kind, id, text, rowSum(kind, id, text));
    }
    this.#rowLog.add(rows);
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
  };
}
