import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { linkOrCopy } from './private_files.ts';

/**
 * Segment files of the event log, next to the database: `data.dat.events-<position>`, named after the position of their
 * first event. They are append-only, and contain one frame per commit with events: the length and the CRC-32 of the bytes
 * (32 bits each, little-endian), and the bytes. The row of a block in the database refers to its frame. Bytes
 * without a row are those of a commit that has failed: later frames overwrite them.
 *
 * In SQLite, events would be written twice, to its log and to the database, page by page with checksums and copies.
 */

/** Size at which the next segment is begun. */
const SEGMENT_BYTES = 16 << 20;
const HEAD_BYTES = 8;
const OWNER_ONLY = 0o600;
const DIGITS = 16;

/** A frame, as the row of its block stores it. */
export interface Frame {
  /** Position in the name of the file. */
  readonly segment: number;
  /** Offset of the bytes, after the head of the frame. */
  readonly at: number;
  readonly size: number;
  /** CRC-32 of the bytes, which takes half the time of the checksum of a row. */
  readonly sum: number;
}

/** Returns the path of a segment. `file` is the path of the database without links. */
export function segmentPath(file: string, segment: number): string {
  return `${file}.events-${String(segment).padStart(DIGITS, '0')}`;
}

/** Returns the segments of a database, ascending. */
export function segmentsOf(file: string): readonly number[] {
  const start = `${basename(file)}.events-`;
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(start));
  const numbers = names.map((name) => name.slice(start.length)).filter((digits) => /^\d{16}$/.test(digits));
  return numbers.map(Number).sort((one, other) => one - other);
}

/** Gives the segments of a database second names, those of another database. */
export function linkSegments(file: string, to: string): void {
  for (const segment of segmentsOf(file)) linkOrCopy(segmentPath(file, segment), segmentPath(to, segment));
}

/** Returns the size of all segments, in bytes. A segment that is deleted in the meantime has none. */
export function segmentBytes(file: string): number {
  const sizes = segmentsOf(file).map(
    (segment) => statSync(segmentPath(file, segment), { throwIfNoEntry: false })?.size,
  );
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** Deletes the segments of a database that refers to none. */
export function removeSegments(file: string): void {
  for (const segment of segmentsOf(file)) rmSync(segmentPath(file, segment), { force: true });
}

/** Reads frames. Several may be open while a hub appends to the segments. */
export class SegmentReader {
  protected readonly file: string;
  readonly #open = new Map<number, number>();
  readonly #openMax: number;

  /** At most `openMax` files are open at a time. */
  constructor(file: string, openMax = 1) {
    this.file = file;
    this.#openMax = openMax;
  }

  /** Opens all segments, so that they can be read after the hub has deleted them. */
  openAll(): void {
    for (const segment of segmentsOf(this.file)) this.#descriptor(segment);
  }

  has(segment: number): boolean {
    return this.#open.has(segment);
  }

  /** Returns the bytes of a frame. Throws an Error that names the file and the offset if they are not there. */
  read(frame: Frame): Buffer {
    const { segment, at, size, sum } = frame;
    const bytes = Buffer.allocUnsafeSlow(size);
    try {
      const found = readSync(this.#descriptor(segment), bytes, 0, size, at);
      if (found < size) throw new Error('the file ends before it');
    } catch (error) {
      throw new Error(`${this.#named(frame)} cannot be read: ${(error as Error).message}`);
    }
    if (crc32(bytes) !== sum) throw new Error(`${this.#named(frame)} has changed since it was written`);
    return bytes;
  }

  close(): void {
    for (const descriptor of this.#open.values()) closeSync(descriptor);
    this.#open.clear();
  }

  #named({ segment, at, size }: Frame): string {
    return `the block of ${size} bytes at offset ${at} of ${segmentPath(this.file, segment)}`;
  }

  #descriptor(segment: number): number {
    const open = this.#open.get(segment);
    if (open !== undefined) return open;
    const descriptor = openSync(segmentPath(this.file, segment), 'r');
    if (this.#open.size >= this.#openMax) this.close();
    this.#open.set(segment, descriptor);
    return descriptor;
  }
}

/** The segment that is appended to. */
interface Current {
  readonly segment: number;
  readonly descriptor: number;
  /** End of the last committed frame, and of the last one that was written. */
  committed: number;
  end: number;
}

/** The segments of an open database, to which its hub appends. */
export class EventSegments extends SegmentReader {
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #current: Current | undefined;
  #isSynced = true;

  /**
   * Continues after the newest frame, and deletes the segments before the oldest event and after the newest frame.
   */
  begin(newest: Frame | undefined, oldest: number): void {
    if (newest !== undefined) {
      const { segment, at, size } = newest;
      const descriptor = openSync(segmentPath(this.file, segment), 'r+');
      this.#current = { segment, descriptor, committed: at + size, end: at + size };
      if (fstatSync(descriptor).size > at + size) ftruncateSync(descriptor, at + size);
      // A hub that was killed may not have synced it.
      this.#isSynced = false;
    }
    this.dropBefore(oldest);
    const last = newest?.segment ?? -1;
    for (const segment of segmentsOf(this.file)) if (segment > last) this.#delete(segment);
  }

  /** Appends the events from a position on, before the commit with their row. */
  append(first: number, bytes: Uint8Array): Frame {
    const current = this.#room(first, bytes.length);
    const { descriptor, end, segment } = current;
    const size = bytes.length;
    const sum = crc32(bytes);
    this.#head.writeUInt32LE(size, 0);
    this.#head.writeUInt32LE(sum, 4);
    this.#isSynced = false;
    const written = writevSync(descriptor, [this.#head, bytes], end);
    if (written < HEAD_BYTES + size) {
      // For example at the end of the disk: the next write reports the error.
      writeAll(descriptor, this.#head, end);
      writeAll(descriptor, bytes, end + HEAD_BYTES);
    }
    current.end = end + HEAD_BYTES + size;
    return { segment, at: end + HEAD_BYTES, size, sum };
  }

  /** Call it after a transaction with `append` was committed. */
  committed(): void {
    if (this.#current !== undefined) this.#current.committed = this.#current.end;
  }

  /** Call it after a transaction with `append` has failed: the next frame overwrites its bytes. */
  rolledBack(): void {
    const current = this.#current;
    if (current === undefined) return;
    current.end = current.committed;
    // The next frame may begin at another position.
    if (current.committed === 0) this.#discard(current);
  }

  /** Syncs all frames to disk. Call it before each sync of the database, so that a row never survives without its frame. */
  sync(): void {
    if (this.#isSynced || this.#current === undefined) return;
    fdatasyncSync(this.#current.descriptor);
    this.#isSynced = true;
  }

  /** Whether `dropBefore` would delete a segment. */
  hasBefore(position: number): boolean {
    const [, second] = segmentsOf(this.file);
    return second !== undefined && second <= position;
  }

  /** Deletes the segments without events from a position on. Call it once no row refers to them. */
  dropBefore(position: number): void {
    const segments = segmentsOf(this.file);
    for (const [index, segment] of segments.entries()) {
      const next = segments[index + 1];
      if (next === undefined || next > position || segment === this.#current?.segment) return;
      this.#delete(segment);
    }
  }

  /** Deletes all segments. Call it once no row refers to any. */
  clear(): void {
    if (this.#current !== undefined) this.#discard(this.#current);
    for (const segment of segmentsOf(this.file)) this.#delete(segment);
  }

  override close(): void {
    super.close();
    if (this.#current !== undefined) closeSync(this.#current.descriptor);
    this.#current = undefined;
  }

  #room(first: number, size: number): Current {
    const current = this.#current;
    const fits = current !== undefined && current.end + HEAD_BYTES + size <= SEGMENT_BYTES;
    // A segment with the same first position may have frames of a commit that this one replaces.
    if (fits || current?.segment === first) return current;
    // So only frames of the current segment are ever not synced.
    this.sync();
    const descriptor = openSync(segmentPath(this.file, first), 'w+', OWNER_ONLY);
    if (current !== undefined) closeSync(current.descriptor);
    syncFolder(this.file);
    this.#current = { segment: first, descriptor, committed: 0, end: 0 };
    return this.#current;
  }

  #discard({ segment, descriptor }: Current): void {
    closeSync(descriptor);
    this.#current = undefined;
    this.#isSynced = true;
    this.#delete(segment);
  }

  /** Deletes a segment. A file that cannot be deleted, such as one that a backup reads on Windows, is tried again later. */
  #delete(segment: number): void {
    super.close();
    try {
      rmSync(segmentPath(this.file, segment), { force: true });
    } catch {}
  }
}

function writeAll(descriptor: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
}

/** Syncs the folder of a file, so that created files survive a power failure. */
function syncFolder(file: string): void {
  // Windows cannot sync folders and does not need it.
  if (process.platform === 'win32') return;
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
