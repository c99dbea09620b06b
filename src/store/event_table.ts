import type Database from 'better-sqlite3';
import type { EventBlock } from '../core/entity_write.ts';
import type { EventRange, EventRequest, EventTrim, StoredEvents, StoreReply } from '../wire/store_messages.ts';
import { hasSegments } from './event_copy.ts';
import type { EventSegments, Frame, SegmentReader } from './event_segments.ts';
import { bytesSum } from './row_sum.ts';

/**
 * The event log or the audit log of an open database: one row per commit that caused events. A row is written in the
 * transaction of the changes that caused its events, so that a crash loses both or neither. The bytes of the events are
 * in the row, or in a segment file to which it refers: the hub appends those of the event log to segments, and those of
 * the audit log, of backups and of older versions are in the rows.
 */

/** Maximum number of blocks, and bytes, removed at once. A commit waits some milliseconds for it. */
const TRIM_BLOCKS = 500;
const TRIM_BYTES = 4 << 20;

/** The columns of a frame, of the event log only. */
interface FrameColumns {
  /** Null or undefined if the bytes are in the row. */
  readonly segment?: number | null;
  readonly at?: number | null;
  readonly size?: number | null;
  /** Checksum of the bytes. */
  readonly sum: number;
}

interface BlockRow extends FrameColumns {
  readonly last: number;
  readonly count: number;
  readonly time_ms: number;
  readonly events: Buffer;
}

interface End extends FrameColumns {
  readonly last: number;
  readonly count: number;
  readonly time_ms: number;
  readonly bytes_before: number;
  readonly bytes: number;
}

/** End of the newest block: position of its last event, and bytes of all blocks up to it. */
interface Newest {
  readonly last: number;
  readonly bytesTo: number;
}

const NO_BLOCK: Newest = { last: 0, bytesTo: 0 };

/** Tables of a log: its blocks, and `<table>_start` with one row. */
export type LogTable = 'event_log' | 'audit_log';

export class EventTable {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #hubId: string;
  readonly #segments: EventSegments | undefined;
  /** End of the newest block in the table; undefined if it must be read. */
  #newest: Newest | undefined;

  /** With `segments`, the bytes of new blocks are stored in them. The table then closes them. */
  constructor(db: Database.Database, table: LogTable, { hubId, segments }: TableOptions) {
    this.#db = db;
    this.#statements = prepare(db, table);
    this.#hubId = hubId;
    this.#segments = segments;
    const newest = this.#statements.newest.get() as End | undefined;
    segments?.begin(newest && frameOf(newest), this.#oldestPosition() ?? 0);
  }

  /**
   * Stores a block, in the transaction of its commit. A commit whose outcome was unknown may have stored events at the
   * same positions: the block replaces them.
   */
  add({ first, count, timeMs, bytes, lostTo }: EventBlock): void {
    const { add, setTrimmed } = this.#statements;
    const { bytesTo } = this.#newestBefore(first);
    const last = first + count - 1;
    if (this.#segments === undefined) add.run(last, count, timeMs, bytesTo, bytes, bytesSum(bytes));
    else {
      const { segment, at, size, sum } = this.#segments.append(first, bytes);
      add.run(last, count, timeMs, bytesTo, NO_BYTES, sum, segment, at, size);
    }
    this.#newest = { last, bytesTo: bytesTo + bytes.length };
    if (lostTo !== undefined) setTrimmed.run(lostTo);
  }

  /** Call it after a transaction with `add` was committed. */
  committed(): void {
    this.#segments?.committed();
  }

  /** Call it after a transaction with `add` has failed, so that the newest block is read again. */
  rolledBack(): void {
    this.#newest = undefined;
    this.#segments?.rolledBack();
  }

  /** Call it before each sync of the database: a row must not survive a power failure without its bytes. */
  sync(): void {
    this.#segments?.sync();
  }

  close(): void {
    this.#segments?.close();
  }

  #oldestPosition(): number | undefined {
    const oldest = this.#statements.oldest.get() as End | undefined;
    return oldest && oldest.last - oldest.count + 1;
  }

  #newestBefore(first: number): Newest {
    if (this.#newest !== undefined && this.#newest.last < first) return this.#newest;
    const { dropFrom, newest } = this.#statements;
    dropFrom.run(first);
    const end = newest.get() as End | undefined;
    return end === undefined ? NO_BLOCK : { last: end.last, bytesTo: end.bytes_before + end.bytes };
  }

  /** Answers a request of the main thread. */
  answer(request: EventRequest): StoreReply {
    switch (request.ask) {
      case 'event range':
        return { say: 'event range', range: this.range() };
      case 'events':
        return { say: 'events', stored: this.read(request.after, request.bytesMax) };
      case 'event position':
        return { say: 'event position', position: this.positionAt(request.timeMs) };
      case 'trim events':
        return { say: 'trimmed', ...this.trim(request.to) };
    }
  }

  range(): EventRange {
    const { oldest, newest, trimmed } = this.#statements;
    const trimmedTo = trimmed.get() as number;
    const first = oldest.get() as End | undefined;
    const last = newest.get() as End | undefined;
    return {
      hubId: this.#hubId,
      newest: Math.max(trimmedTo, last?.last ?? 0),
      trimmed: trimmedTo,
      oldestMs: first?.time_ms,
      newestMs: last?.time_ms,
      bytes: first === undefined || last === undefined ? 0 : last.bytes_before + last.bytes - first.bytes_before,
    };
  }

  read(after: number, bytesMax: number): StoredEvents {
    const trimmed = this.#statements.trimmed.get() as number;
    const blocks: EventBlock[] = [];
    let size = 0;
    for (const row of this.#statements.after.iterate(after) as Iterable<BlockRow>) {
      const { last, count, time_ms: timeMs } = row;
      if (blocks.length > 0 && size + sizeOf(row) > bytesMax) break;
      const bytes = soundBytes(row, this.#segments);
      if (typeof bytes === 'string') return { blocks, trimmed: blocks.length === 0 ? last : trimmed };
      size += bytes.length;
      blocks.push({ first: last - count + 1, count, timeMs, bytes });
    }
    return { blocks, trimmed };
  }

  /** Returns the position before the first block that was stored at or after a time, by binary search. */
  positionAt(timeMs: number): number {
    const { trimmed, newest, after } = this.#statements;
    let low = trimmed.get() as number;
    let high = Math.max(low, (newest.get() as End | undefined)?.last ?? 0);
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const block = after.get(middle) as BlockRow;
      if (block.time_ms >= timeMs) high = Math.min(middle, block.last - block.count);
      else low = block.last;
    }
    return low;
  }

  /** Removes a slice of the oldest events. */
  trim(to: EventTrim): { readonly range: EventRange; readonly hasMore: boolean } {
    const { after, setTrimmed, dropTo } = this.#statements;
    const { bytes } = this.range();
    let left = bytes;
    let removed = 0;
    let upTo: number | undefined;
    for (const row of after.iterate(0) as Iterable<BlockRow>) {
      const isDue = 'all' in to || row.time_ms < to.beforeMs || left > to.bytesMax;
      if (!isDue || removed === TRIM_BLOCKS || bytes - left >= TRIM_BYTES) break;
      upTo = row.last;
      removed++;
      left -= sizeOf(row);
    }
    const isOver = upTo === undefined;
    const trimmed = isOver && 'all' in to ? to.all : upTo;
    if (trimmed !== undefined) {
      const remove = this.#db.transaction(() => {
        dropTo.run(trimmed);
        setTrimmed.run(trimmed);
      }).immediate;
      const isEmptied = this.range().newest <= trimmed;
      if (this.#segments !== undefined && (isEmptied || this.#segments.hasBefore(trimmed + 1)))
        this.#removeSynced(remove, this.#segments);
      else remove();
    }
    return { range: this.range(), hasMore: !isOver };
  }

  /** Deletes segments once no row refers to them, even after a power failure. */
  #removeSynced(remove: () => void, segments: EventSegments): void {
    segments.sync();
    this.#db.pragma('synchronous = FULL');
    try {
      remove();
    } finally {
      this.#db.pragma('synchronous = NORMAL');
    }
    const oldest = this.#oldestPosition();
    if (oldest === undefined) segments.clear();
    else segments.dropBefore(oldest);
  }
}

interface TableOptions {
  readonly hubId: string;
  readonly segments?: EventSegments;
}

const NO_BYTES = Buffer.alloc(0);

/** Returns the frame of a row; undefined if its bytes are in the row. */
function frameOf({ segment, at, size, sum }: FrameColumns): Frame | undefined {
  return typeof segment === 'number' ? { segment, at: at as number, size: size as number, sum } : undefined;
}

function sizeOf(row: BlockRow): number {
  return row.size ?? row.events.length;
}

/** Returns the bytes of a block, or the reason why they are lost. */
function soundBytes(
  row: Pick<BlockRow, 'events' | 'sum'> & FrameColumns,
  segments: SegmentReader | undefined,
): Buffer | string {
  const frame = frameOf(row);
  if (frame === undefined || segments === undefined) {
    return row.sum === bytesSum(row.events) ? row.events : 'their block has changed since it was written';
  }
  try {
    return segments.read(frame);
  } catch (error) {
    return (error as Error).message;
  }
}

/** A block whose bytes are lost. */
export interface DamagedBlock {
  readonly first: number;
  readonly last: number;
  readonly why: string;
}

/** Yields the blocks after a position whose bytes are lost. */
export function* damagedBlocks(
  db: Database.Database,
  table: LogTable,
  { segments, after = 0 }: { readonly segments?: SegmentReader | undefined; readonly after?: number } = {},
): Generator<DamagedBlock> {
  const columns = table === 'event_log' && hasSegments(db) ? `, ${FRAME}` : '';
  const rows = db
    .prepare(`SELECT last, count, events, sum${columns} FROM ${table} WHERE last > ? ORDER BY last`)
    .iterate(after);
  for (const row of rows as Iterable<BlockRow>) {
    const why = soundBytes(row, segments);
    if (typeof why === 'string') yield { first: row.last - row.count + 1, last: row.last, why };
  }
}

/** Columns of a frame. */
const FRAME = 'segment, at, size';

function prepare(db: Database.Database, table: LogTable) {
  const [frame, bytes] =
    table === 'event_log' ? [`, ${FRAME}`, 'coalesce(size, length(events))'] : ['', 'length(events)'];
  const end = `SELECT last, count, time_ms, bytes_before, ${bytes} AS bytes, sum${frame} FROM ${table} ORDER BY last`;
  return {
    dropFrom: db.prepare(`DELETE FROM ${table} WHERE last >= ?`),
    dropTo: db.prepare(`DELETE FROM ${table} WHERE last <= ?`),
    add: db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?, ?${frame === '' ? '' : ', ?, ?, ?'})`),
    oldest: db.prepare(`${end} LIMIT 1`),
    newest: db.prepare(`${end} DESC LIMIT 1`),
    after: db.prepare(`SELECT last, count, time_ms, events, sum${frame} FROM ${table} WHERE last > ? ORDER BY last`),
    trimmed: db.prepare(`SELECT trimmed FROM ${table}_start`).pluck(),
    setTrimmed: db.prepare(`UPDATE ${table}_start SET trimmed = max(trimmed, ?)`),
  };
}
