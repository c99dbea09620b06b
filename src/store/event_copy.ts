import Database from 'better-sqlite3';
import { type Frame, SegmentReader } from './event_segments.ts';
import { bytesSum } from './row_sum.ts';

/** First version whose events may be in segments. */
const SEGMENTS_VERSION = 8;
/** Attempts to read the database and its segments at the same time. */
const ATTEMPTS = 20;

interface FrameRow extends Frame {
  readonly last: number;
}

/**
 * Begins a transaction that reads a snapshot of a database, and opens the segments to which it refers, so that a hub may
 * delete them. `file` is the path of the database without links. Close the segments.
 */
export function beginSnapshot(db: Database.Database, file: string): SegmentReader {
  const reader = new SegmentReader(file, Infinity);
  for (let attempt = 1; ; attempt++) {
    db.exec('BEGIN');
    // The transaction begins with its first query.
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    if (!hasSegments(db)) return reader;
    reader.openAll();
    const oldest = db.prepare('SELECT segment FROM event_log ORDER BY last LIMIT 1').pluck().get();
    if (typeof oldest !== 'number' || reader.has(oldest) || attempt === ATTEMPTS) return reader;
    // The hub has just deleted it.
    db.exec('COMMIT');
    reader.close();
  }
}

/**
 * Moves the events of a copy from the segments of its original into the copy, so that it is one file. A block that
 * cannot be read stays without its events, and is then known as damaged.
 */
export function inlineEvents(copy: string, segments: SegmentReader): void {
  const db = new Database(copy);
  try {
    if (!hasSegments(db)) return;
    // An unfinished copy is discarded, and a finished one is synced.
    db.pragma('journal_mode = MEMORY');
    db.pragma('synchronous = OFF');
    const set = db.prepare(
      'UPDATE event_log SET events = ?, sum = ?, segment = NULL, at = NULL, size = NULL WHERE last = ?',
    );
    const next = db.prepare(
      'SELECT last, segment, at, size, sum FROM event_log WHERE last > ? AND segment IS NOT NULL ORDER BY last',
    );
    db.transaction(() => {
      for (let row = next.get(0) as FrameRow | undefined; row !== undefined; ) {
        set.run(...contentOf(row, segments), row.last);
        row = next.get(row.last) as FrameRow | undefined;
      }
    }).immediate();
  } finally {
    db.close();
  }
}

/** Whether a database is of a version whose events may be in segments. */
export function hasSegments(db: Database.Database): boolean {
  return (db.pragma('user_version', { simple: true }) as number) >= SEGMENTS_VERSION;
}

/** Returns the bytes and the checksum of a block for its row. */
function contentOf(frame: Frame, segments: SegmentReader): readonly [bytes: Buffer, sum: number] {
  try {
    const bytes = segments.read(frame);
    return [bytes, bytesSum(bytes)];
  } catch {
    const lost = Buffer.alloc(frame.size);
    return [lost, ~bytesSum(lost)];
  }
}
