import type Database from 'better-sqlite3';
import { type PackedRows, ROW_BYTES_MIN, rowId, rowKey, decodeRow } from '../core/row_bytes.ts';
import { look } from '../model/borrowed.ts';
import { NewestRows, type RowLocation } from './newest_rows.ts';
import { bytesSum, rowSum } from './row_sum.ts';

/**
 * Write-optimized log of rows. A commit appends its rows to the table `row_log` as one blob, because updating each row
 * in its own table would write at least a page per row. A long log is folded: the newest row of each object is moved to
 * its table, in the order of that table, and the processed part of the log is dropped. With 10,000 objects that change
 * continuously, one row in seven is moved; the others have been superseded.
 *
 * An entry has the number of its commit, so that a commit of rows changes one page only. When entries are dropped, the
 * table `written` receives their number.
 *
 * The stored row of an object is its newest row in the log, otherwise the row in its table.
 */

/** Size in bytes at which the log is folded. */
const LONG_BYTES = 32 << 20;
/** Number of rows moved to their tables in one piece of work. A commit waits 2 to 3 ms for it. */
const PIECE_ROWS = 250;
/** Bytes of the log read or dropped in one piece of work. */
const PIECE_BYTES = 2 << 20;
/**
 * If the log exceeds its target size by the factor `longs`, a piece covers at least `pace` times the rows added since
 * the last piece. A fold has four parts, so with the last entry the log shrinks even if all rows belong to different
 * objects.
 */
const HASTE = [
  { longs: 8, pace: 5 },
  { longs: 2, pace: 1 },
] as const;
/** Sorts new rows after all existing rows of a table. */
const NEW_ROWID = 2 ** 30;
/** Maximum number of objects folded together, so that a rowid combined with an index remains an exact number. */
const OBJECTS_MAX = 2 ** 20;
const INDEXES = 2 ** 22;

/** The row log of an open database, and the tables into which it is folded. */
export class RowLog {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  #scratch = Buffer.alloc(0);
  /** Lower bound of the bytes in the log. */
  #bytes: number;
  /** Size at which the log is folded. */
  readonly #longBytes: number;
  #foldAt: number;
  #folding: Generator<void> | undefined;
  /** Rows added since the last piece of work. */
  #rowsSince = 0;
  #bytesSince = 0;
  /** Size of the next piece. */
  #pieceRows = PIECE_ROWS;
  #pieceBytes = PIECE_BYTES;

  constructor(db: Database.Database, longBytes = LONG_BYTES) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#bytes = this.#statements.length.get() as number;
    this.#longBytes = longBytes;
    this.#foldAt = longBytes;
  }

  /** Appends rows, in the transaction of their commit. `seq` is the number of the commit. */
  add(rows: PackedRows, seq: number): void {
    if (rows.count === 0) return;
    if (this.#scratch.length < rows.size) this.#scratch = Buffer.alloc(2 ** Math.ceil(Math.log2(rows.size)));
    this.#scratch.set(look(rows.bytes));
    const bytes = this.#scratch.subarray(0, rows.size);
    this.#statements.add.run(seq, bytes, bytesSum(bytes));
    this.#bytes += rows.size;
    this.#rowsSince += rows.count;
    this.#bytesSince += rows.size;
  }

  /**
   * Folds a piece of a long log. Returns whether more work remains. If the database fails, throws without changing
   * anything.
   */
  work(): boolean {
    if (this.#folding === undefined) {
      if (this.#bytes < this.#foldAt) return false;
      this.#folding = this.#fold();
    }
    const pace = HASTE.find(({ longs }) => this.#bytes > longs * this.#longBytes)?.pace ?? 0;
    this.#pieceRows = Math.max(PIECE_ROWS, pace * this.#rowsSince);
    this.#pieceBytes = Math.max(PIECE_BYTES, pace * this.#bytesSince);
    this.#rowsSince = 0;
    this.#bytesSince = 0;
    try {
      if (this.#folding.next().done !== true) return true;
      this.#bytes = this.#statements.length.get() as number;
      this.#foldAt = this.#longBytes;
    } catch (error) {
      this.#foldAt = this.#bytes + this.#longBytes;
      this.#folding = undefined;
      throw error;
    }
    this.#folding = undefined;
    return false;
  }

  /** Folds the whole log. If the database fails, throws; the remaining rows stay in the log. */
  fold(): void {
    this.#folding = undefined;
    this.#pieceRows = OBJECTS_MAX;
    while (this.#bytes > 0) {
      for (const _ of this.#fold());
      this.#bytes = this.#statements.length.get() as number;
    }
  }

  *#fold(): Generator<void> {
    const newest = new NewestRows();
    /** Last sequence number of each piece. */
    const ends: number[] = [];
    let bytes = 0;
    for (const seq of this.#statements.seqs.all() as number[]) {
      const rows = this.#entry(seq);
      if (newest.size > 0 && newest.size + rows.length / ROW_BYTES_MIN > OBJECTS_MAX) break;
      newest.add(rows);
      if (bytes === 0) ends.push(seq);
      else ends[ends.length - 1] = seq;
      bytes += rows.length;
      if (bytes < this.#pieceBytes) continue;
      bytes = 0;
      yield;
    }
    const inOrder = yield* this.#sorted(newest);
    for (let done = 0; done < inOrder.length; ) {
      const end = done + this.#pieceRows;
      const write = (): void => {
        for (const number of inOrder.subarray(done, end)) this.#write(newest.place(number % INDEXES));
      };
      this.#db.transaction(write).immediate();
      done = end;
      yield;
    }
    // Drops the oldest entries first, so that the remaining log is always newer than the tables.
    for (const seq of ends) {
      const drop = (): void => {
        this.#statements.countTo.run(seq);
        this.#statements.dropTo.run(seq);
      };
      this.#db.transaction(drop).immediate();
      yield;
    }
  }

  /** Sorts the objects by their rowid in the table. Returns numbers that combine rowid and index. */
  *#sorted(newest: NewestRows): Generator<void, Float64Array> {
    const order = new Float64Array(newest.size);
    let left = this.#pieceRows;
    for (let number = 0; number < order.length; number++) {
      const { buffer, at } = newest.place(number);
      const { kind, id } = rowId(buffer, at);
      const found = this.#statements.find.get(kind, id) as number | undefined;
      order[number] = Math.min(found ?? NEW_ROWID, NEW_ROWID) * INDEXES + number;
      if (--left > 0) continue;
      yield;
      left = this.#pieceRows;
    }
    return order.sort();
  }

  #entry(seq: number): Buffer {
    const { rows, sum } = this.#statements.entry.get(seq) as { rows: Buffer; sum: number };
    if (sum !== bytesSum(rows)) throw new Error(`Entry ${seq} of the row log has changed since it was written`);
    return rows;
  }

  #write({ buffer, at }: RowLocation): void {
    const { setRow, addRow, deleteRow, setCollision, deleteCollision } = this.#statements;
    const { kind, id, isTombstone, receivedMs, eventTimeMs, memberships, text } = decodeRow(buffer, at);
    if (kind === 'collision') {
      if (isTombstone) deleteCollision.run(id);
      else setCollision.run(id, receivedMs, text, rowSum('collision', id, text, '', receivedMs));
      return;
    }
    if (isTombstone) {
      deleteRow.run(kind, id);
      return;
    }
    const sum = rowSum(kind, id, text, memberships, receivedMs, eventTimeMs);
    // Nearly all rows exist, so an UPDATE is tried first: an upsert would search the index twice.
    const { changes } = setRow.run(receivedMs, eventTimeMs, text, memberships, sum, kind, id);
    if (changes === 0) addRow.run(kind, id, receivedMs, eventTimeMs, text, memberships, sum);
  }
}

/**
 * Returns the newest row of each object in the log, by key. Calls `damaged` for entries with a wrong checksum and skips
 * their rows.
 */
export function readRowLog(db: Database.Database, damaged: (seq: number) => void): ReadonlyMap<string, RowLocation> {
  const newest = new NewestRows();
  const entries = db.prepare('SELECT seq, rows, sum FROM row_log ORDER BY seq').iterate();
  for (const { seq, rows, sum } of entries as Iterable<{ seq: number; rows: Buffer; sum: number }>) {
    if (sum === bytesSum(rows)) newest.add(rows);
    else damaged(seq);
  }
  return new Map(Array.from(newest, (place) => [rowKey(place.buffer, place.at), place]));
}

function prepare(db: Database.Database) {
  return {
    length: db.prepare('SELECT total(length(rows)) FROM row_log').pluck(),
    add: db.prepare('INSERT INTO row_log (seq, rows, sum) VALUES (?, ?, ?)'),
    seqs: db.prepare('SELECT seq FROM row_log ORDER BY seq').pluck(),
    entry: db.prepare('SELECT rows, sum FROM row_log WHERE seq = ?'),
    countTo: db.prepare('UPDATE written SET commits = max(commits, ?)'),
    dropTo: db.prepare('DELETE FROM row_log WHERE seq <= ?'),
    find: db.prepare('SELECT rowid FROM last_known WHERE kind = ? AND id = ?').pluck(),
    setRow: db.prepare(`
      UPDATE last_known SET received_ms = ?, key_ms = ?, location = ?, memberships = ?, sum = ? WHERE kind = ? AND id = ?`),
    addRow: db.prepare('INSERT INTO last_known VALUES (?, ?, ?, ?, ?, ?, ?)'),
    deleteRow: db.prepare('DELETE FROM last_known WHERE kind = ? AND id = ?'),
    setCollision: db.prepare(`
      INSERT INTO collision VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
        start_ms = excluded.start_ms, bodies = excluded.bodies, sum = excluded.sum`),
    deleteCollision: db.prepare('DELETE FROM collision WHERE id = ?'),
  };
}
