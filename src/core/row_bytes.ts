import { type Borrowed, lend, look } from '../model/borrowed.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import type { StoredRow } from './item.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { NewRecordBuffer, RecordBuffer } from './location/record.ts';

/**
 * Rows as bytes: they are only copied between the shard and the disk, and never decoded on the way.
 *
 * A row, little-endian, at any offset:
 *
 *     0  u32 bytes of the row          4  u32 bytes of the id         8  u32 bytes of the memberships
 * 12 u8 kind, as its index in KINDS 13 u8 1: tombstone 16 f64 receivedMs, or startMs of a collision 24 f64 eventTimeMs
 * 32 the id, the memberships as JSON, the location or bodies, in UTF-8
 *
 * Databases contain such rows (store/row_log.ts): later versions must read them.
 */
const [SIZE, ID_SIZE, MEMBERS_SIZE, KIND, TOMBSTONE, FIRST_MS, SECOND_MS] = [0, 4, 8, 12, 13, 16, 24] as const;
const HEAD_BYTES = 32;
/** Minimum size of a row. */
export const ROW_BYTES_MIN = HEAD_BYTES;

const KINDS = ['provider', 'trackable', 'collision'] as const;
const INITIAL_BYTES = 1 << 12;

/** Object and times of a row. */
export interface RowHead {
  readonly kind: StoredRow['kind'];
  readonly id: string;
  /** For a collision, its start. */
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

  *[Symbol.iterator](): Generator<StoredRow> {
    for (const at of this.offsets()) yield rowAt(this.#buffer, at);
  }

  /** Yields the offset of each row in its buffer. */
  *offsets(): Generator<number> {
    const end = this.#start + this.size;
    for (let at = this.#start; at < end; at += rowSize(this.#buffer, at)) yield at;
  }

  /** Throws a TypeError for the first row with a time that is not a number: not every store would reject it. */
  checkTimes(): void {
    const { view } = this.#buffer;
    for (const at of this.offsets()) {
      if (!Number.isNaN(view.getFloat64(at + FIRST_MS, true) + view.getFloat64(at + SECOND_MS, true))) continue;
      const { kind, id } = rowAt(this.#buffer, at);
      throw new TypeError(`Cannot keep the row of ${kind} "${id}": a time is not a number`);
    }
  }
}

/** Returns the size of the row at `at` in bytes. */
// hot
export function rowSize({ view }: RecordBuffer, at: number): number {
  return view.getUint32(at + SIZE, true);
}

/** Whether the row is a tombstone. */
// hot
export function isTombstone({ view }: RecordBuffer, at: number): boolean {
  return view.getUint8(at + TOMBSTONE) === 1;
}

/**
 * Returns a hash that is equal for all rows of an object: FNV-1a of its id, mixed once more for tables of powers of
 * two.
 */
// hot
export function rowHash({ bytes, view }: RecordBuffer, at: number): number {
  let hash = 0x811c9dc5 ^ (bytes[at + KIND] as number);
  const end = at + HEAD_BYTES + view.getUint32(at + ID_SIZE, true);
  for (let i = at + HEAD_BYTES; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

// hot
export function isOfSameObject(a: RecordBuffer, atA: number, b: RecordBuffer, atB: number): boolean {
  const size = a.view.getUint32(atA + ID_SIZE, true);
  if (size !== b.view.getUint32(atB + ID_SIZE, true) || a.bytes[atA + KIND] !== b.bytes[atB + KIND]) return false;
  for (let i = HEAD_BYTES; i < HEAD_BYTES + size; i++) if (a.bytes[atA + i] !== b.bytes[atB + i]) return false;
  return true;
}

/** Returns the key of a row's object. */
export function rowKey(buffer: RecordBuffer, at: number): string {
  const { kind, id } = rowId(buffer, at);
  return keyOf(kind, id);
}

/** Returns kind and id of a row's object. */
export function rowId({ bytes, view }: RecordBuffer, at: number): Pick<RowHead, 'kind' | 'id'> {
  const start = at + HEAD_BYTES;
  const id = bytes.toString('utf8', start, start + view.getUint32(at + ID_SIZE, true));
  return { kind: KINDS[view.getUint8(at + KIND)] as StoredRow['kind'], id };
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
export function decodeRow({ bytes, view }: RecordBuffer, at: number): DecodedRow {
  const membersAt = at + HEAD_BYTES + view.getUint32(at + ID_SIZE, true);
  const textAt = membersAt + view.getUint32(at + MEMBERS_SIZE, true);
  return {
    kind: KINDS[view.getUint8(at + KIND)] as StoredRow['kind'],
    id: bytes.toString('utf8', at + HEAD_BYTES, membersAt),
    isTombstone: view.getUint8(at + TOMBSTONE) === 1,
    receivedMs: view.getFloat64(at + FIRST_MS, true),
    eventTimeMs: view.getFloat64(at + SECOND_MS, true),
    memberships: membersAt === textAt ? '[]' : bytes.toString('utf8', membersAt, textAt),
    text: bytes.toString('utf8', textAt, at + rowSize({ bytes, view }, at)),
  };
}

/** Returns the row at `at`. */
export function rowAt(buffer: RecordBuffer, at: number): StoredRow {
  const { kind, id, isTombstone, receivedMs, eventTimeMs, memberships, text } = decodeRow(buffer, at);
  if (isTombstone) return { kind, id, gone: true };
  if (kind === 'collision') return { kind, id, startMs: receivedMs, bodies: text };
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
    const { bytes, view } = this;
    const idBytes = bytes.write(id, at + HEAD_BYTES);
    view.setUint32(at + ID_SIZE, idBytes, true);
    view.setUint32(at + MEMBERS_SIZE, 0, true);
    // Also clears the two bytes after it.
    view.setUint32(at + KIND, KINDS.indexOf(kind), true);
    view.setFloat64(at + FIRST_MS, receivedMs, true);
    view.setFloat64(at + SECOND_MS, eventTimeMs, true);
    return at + HEAD_BYTES + idBytes;
  }

  /** Ends the memberships at offset `at`. */
  // hot
  endMembers(at: number): void {
    const start = this.#start + HEAD_BYTES + this.view.getUint32(this.#start + ID_SIZE, true);
    this.view.setUint32(this.#start + MEMBERS_SIZE, at - start, true);
  }

  /** Finishes the row at offset `at`. */
  // hot
  end(at: number): void {
    this.view.setUint32(this.#start + SIZE, at - this.#start, true);
    this.#start = at;
    this.#count++;
  }

  /** Writes a tombstone. */
  gone(kind: StoredRow['kind'], id: string): void {
    const at = this.begin({ kind, id, receivedMs: 0, eventTimeMs: 0 }, 0);
    this.view.setUint8(this.#start + TOMBSTONE, 1);
    this.end(at);
  }

  /** Writes a row of any kind. */
  row(row: StoredRow): void {
    if (row.gone === true) {
      this.gone(row.kind, row.id);
      return;
    }
    const isCollision = row.kind === 'collision';
    const text = isCollision ? row.bodies : row.location;
    const members = isCollision || row.memberships.length === 0 ? '' : JSON.stringify(row.memberships);
    const head = isCollision ? { ...row, receivedMs: row.startMs, eventTimeMs: 0 } : row;
    let at = this.begin(head, UTF8_MAX * (members.length + text.length));
    if (members !== '') at += this.bytes.write(members, at);
    this.endMembers(at);
    this.end(at + this.bytes.write(text, at));
  }

  /** Copies rows. */
  // hot
  add({ bytes, size, count }: PackedRows): void {
    this.reserve(this.#start + size, this.#start);
    this.bytes.set(look(bytes), this.#start);
    this.#start += size;
    this.#count += count;
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
