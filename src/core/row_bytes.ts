import { type Borrowed, lend } from '../model/borrowed.ts';
import { ROW } from './encoding/layouts.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import type { StoredRow } from './item.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { NewRecordBuffer, RecordBuffer } from './location/record.ts';

/**
 * Rows as bytes. Between the shard and the disk they are only copied, never decoded.
 *
 * A row, at any offset: ROW, then the id, the memberships as JSON, the location or bodies, in UTF-8.
 *
 * Databases contain such rows (store/row_log.ts): later versions must read them.
 */
const { bytes: HEAD_BYTES, get, set } = ROW;
/** Minimum size of a row. */
export const ROW_BYTES_MIN = HEAD_BYTES;

const KINDS = ['provider', 'trackable', 'collision'] as const;
const INITIAL_BYTES = 1 << 12;
const NO_MEMBERS = '[]';

/** Object and times of a row. */
export interface RowHead {
  readonly kind: StoredRow['kind'];
  readonly id: string;
  /** For a collision, the time of its start. */
  readonly receivedMs: number;
  readonly eventTimeMs: number;
}

/** A decoded row with its JSON parts as strings. */
export interface DecodedRow extends RowHead {
  readonly isTombstone: boolean;
  readonly memberships: string;
  /** The location, or the bodies of a collision. */
  readonly text: string;
}

/**
 * Contiguous rows in borrowed memory: valid until their producer reuses it, with the next step or the next answer of
 * its thread. Iteration yields copies.
 */
export class PackedRows implements Iterable<StoredRow> {
  /** Number of rows and their size in bytes. */
  readonly count: number;
  readonly size: number;
  readonly #buffer: RecordBuffer;
  readonly #start: number;

  constructor(buffer: RecordBuffer, { start = 0, size, count }: { start?: number; size: number; count: number }) {
    this.#buffer = buffer;
    this.#start = start;
    this.size = size;
    this.count = count;
  }

  /** The bytes themselves, not copied. */
  get bytes(): Borrowed {
    return lend(this.#buffer.bytes.subarray(this.#start, this.#start + this.size));
  }

  /** Copies the bytes. In shared memory `set` would take up to 20 times as long. hot */
  copyTo(target: Uint8Array, at: number): void {
    this.#buffer.bytes.copy(target, at, this.#start, this.#start + this.size);
  }

  *[Symbol.iterator](): Generator<StoredRow> {
    for (const at of this.offsets()) yield rowAt(this.#buffer, at);
  }

  /** Yields object and times of each row, without decoding the rest. */
  *heads(): Generator<RowHead> {
    for (const at of this.offsets()) yield rowHead(this.#buffer, at);
  }

  /** Divides the rows into groups, by the index that `groupOf` returns. Copies them unless one group has them all. */
  divided(groups: number, groupOf: (head: RowHead) => number, newBuffer: NewRecordBuffer): PackedRows[] {
    const indexes = Array.from(this.heads(), groupOf);
    const writers = Array.from({ length: groups }, () => new RowWriter(newBuffer, 0));
    const only = indexes.every((index) => index === indexes[0]) ? indexes[0] : undefined;
    if (only === undefined) {
      let row = 0;
      for (const at of this.offsets()) writers[indexes[row++] as number]?.copy(this.#buffer, at);
    }
    return writers.map((writer, index) => (index === only ? this : writer.take()));
  }

  /** Yields the offset of each row in its buffer. */
  *offsets(): Generator<number> {
    const end = this.#start + this.size;
    for (let at = this.#start; at < end; at += rowSize(this.#buffer, at)) yield at;
  }

  /** Throws a TypeError if the time of a row is not a number, which not every store would reject. */
  checkTimes(): void {
    const buffer = this.#buffer;
    for (const at of this.offsets()) {
      if (!Number.isNaN(get.receivedMs(buffer, at) + get.eventTimeMs(buffer, at))) continue;
      const { kind, id } = rowAt(buffer, at);
      throw new TypeError(`Cannot keep the row of ${kind} "${id}": a time is not a number`);
    }
  }
}

/** Returns the size of the row at `at` in bytes. */
export const rowSize = get.rowBytes;

/** Whether the row is a tombstone. */
// hot
export function isTombstone(buffer: RecordBuffer, at: number): boolean {
  return get.isTombstone(buffer, at) === 1;
}

/** Returns a hash of the row's object: FNV-1a of its id, mixed once more for tables whose size is a power of two. */
// hot
export function rowHash(buffer: RecordBuffer, at: number): number {
  const { bytes } = buffer;
  let hash = 0x811c9dc5 ^ get.kind(buffer, at);
  const end = at + HEAD_BYTES + get.idBytes(buffer, at);
  for (let i = at + HEAD_BYTES; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

// hot
export function isOfSameObject(a: RecordBuffer, atA: number, b: RecordBuffer, atB: number): boolean {
  const size = get.idBytes(a, atA);
  if (size !== get.idBytes(b, atB) || get.kind(a, atA) !== get.kind(b, atB)) return false;
  for (let i = HEAD_BYTES; i < HEAD_BYTES + size; i++) if (a.bytes[atA + i] !== b.bytes[atB + i]) return false;
  return true;
}

/** Returns the key of a row's object. */
export function rowKey(buffer: RecordBuffer, at: number): string {
  const { kind, id } = rowId(buffer, at);
  return keyOf(kind, id);
}

/** Returns kind and id of a row's object. */
export function rowId(buffer: RecordBuffer, at: number): Pick<RowHead, 'kind' | 'id'> {
  const start = at + HEAD_BYTES;
  const id = buffer.bytes.toString('utf8', start, start + get.idBytes(buffer, at));
  return { kind: KINDS[get.kind(buffer, at)] as StoredRow['kind'], id };
}

function rowHead(buffer: RecordBuffer, at: number): RowHead {
  return { ...rowId(buffer, at), receivedMs: get.receivedMs(buffer, at), eventTimeMs: get.eventTimeMs(buffer, at) };
}

/** Returns the key of an object. */
export function keyOf(kind: StoredRow['kind'], id: string): string {
  return `${kind} ${id}`;
}

/** Returns the object of a key. */
export function ofKey(key: string): [kind: StoredRow['kind'], id: string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at) as StoredRow['kind'], key.slice(at + 1)];
}

/** Returns the row at `at`, with its memberships as JSON and its last part as `text`. */
export function decodeRow(buffer: RecordBuffer, at: number): DecodedRow {
  const { bytes } = buffer;
  const { rowBytes, idBytes, membersBytes, kind, isTombstone, receivedMs, eventTimeMs } = ROW.read(buffer, at);
  const membersAt = at + HEAD_BYTES + idBytes;
  const textAt = membersAt + membersBytes;
  return {
    kind: KINDS[kind] as StoredRow['kind'],
    id: bytes.toString('utf8', at + HEAD_BYTES, membersAt),
    isTombstone: isTombstone === 1,
    receivedMs,
    eventTimeMs,
    memberships: membersAt === textAt ? NO_MEMBERS : bytes.toString('utf8', membersAt, textAt),
    text: bytes.toString('utf8', textAt, at + rowBytes),
  };
}

/** Returns the row at `at`. */
export function rowAt(buffer: RecordBuffer, at: number): StoredRow {
  const { kind, id, isTombstone, receivedMs, eventTimeMs, memberships, text } = decodeRow(buffer, at);
  if (isTombstone) return { kind, id, gone: true };
  if (kind === 'collision') {
    const end = eventTimeMs === 0 ? {} : { endMs: eventTimeMs };
    return { kind, id, startMs: receivedMs, ...end, bodies: text };
  }
  return { kind, id, receivedMs, eventTimeMs, location: text, memberships: JSON.parse(memberships) };
}

/** Writes rows into reusable memory. */
export class RowWriter extends GrowingBuffer {
  #count = 0;
  /** Start of the current row. */
  #start = 0;

  constructor(newBuffer: NewRecordBuffer, initialBytes = INITIAL_BYTES) {
    super(newBuffer, initialBytes);
  }

  /**
   * Begins a row whose other parts take at most `bytesMax` bytes, and returns the offset of its memberships. The caller
   * writes these, calls `endMembers`, writes the location or bodies, and calls `finish`.
   */
  // hot
  begin({ kind, id, receivedMs, eventTimeMs }: RowHead, bytesMax: number): number {
    const at = this.#start;
    this.reserve(at + HEAD_BYTES + UTF8_MAX * id.length + bytesMax, at);
    const idBytes = this.bytes.write(id, at + HEAD_BYTES);
    set.idBytes(this, at, idBytes);
    set.membersBytes(this, at, 0);
    // Also clears the three bytes after it.
    this.view.setUint32(at + ROW.at.kind, KINDS.indexOf(kind), true);
    set.receivedMs(this, at, receivedMs);
    set.eventTimeMs(this, at, eventTimeMs);
    return at + HEAD_BYTES + idBytes;
  }

  /** Ends the memberships at offset `at`. */
  // hot
  endMembers(at: number): void {
    const start = this.#start + HEAD_BYTES + get.idBytes(this, this.#start);
    set.membersBytes(this, this.#start, at - start);
  }

  /** Finishes the row at offset `at`. */
  // hot
  end(at: number): void {
    set.rowBytes(this, this.#start, at - this.#start);
    this.#start = at;
    this.#count++;
  }

  /** Writes a tombstone. */
  gone(kind: StoredRow['kind'], id: string): void {
    const at = this.begin({ kind, id, receivedMs: 0, eventTimeMs: 0 }, 0);
    set.isTombstone(this, this.#start, 1);
    this.end(at);
  }

  /** Writes a row of any kind. */
  row(row: StoredRow): void {
    if (row.gone === true) {
      this.gone(row.kind, row.id);
      return;
    }
    if (row.kind === 'collision') {
      this.strings({ ...row, receivedMs: row.startMs, eventTimeMs: row.endMs ?? 0 }, NO_MEMBERS, row.bodies);
    } else {
      this.strings(row, row.memberships.length === 0 ? NO_MEMBERS : JSON.stringify(row.memberships), row.location);
    }
  }

  /** Writes a row whose parts are serialized: the memberships, and the location or the bodies. */
  strings(head: RowHead, memberships: string, text: string): void {
    let at = this.begin(head, UTF8_MAX * (memberships.length + text.length));
    if (memberships !== NO_MEMBERS) at += this.bytes.write(memberships, at);
    this.endMembers(at);
    this.end(at + this.bytes.write(text, at));
  }

  /** Copies rows. */
  // hot
  add(rows: PackedRows): void {
    this.reserve(this.#start + rows.size, this.#start);
    rows.copyTo(this.bytes, this.#start);
    this.#start += rows.size;
    this.#count += rows.count;
  }

  /** Copies one row of another buffer. */
  copy(from: RecordBuffer, at: number): void {
    const size = rowSize(from, at);
    this.reserve(this.#start + size, this.#start);
    from.bytes.copy(this.bytes, this.#start, at, at + size);
    this.end(this.#start + size);
  }

  /** Bytes since the last `take`. */
  get size(): number {
    return this.#start;
  }

  /** Returns the rows since the last call. They are valid until the next write. */
  take(): PackedRows {
    const rows = new PackedRows(this, { size: this.#start, count: this.#count });
    this.#start = 0;
    this.#count = 0;
    return rows;
  }

  /** Frees memory beyond `bytesRetained`. Call it between two steps. */
  tidy(bytesRetained = INITIAL_BYTES): void {
    this.shrink(bytesRetained, this.#start);
  }
}
