import { type Borrowed, lend, look } from '../model/borrowed.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import type { KeptRow } from './item.ts';
import { UTF8_MAX } from './json_bytes.ts';
import type { NewRecordBuffer, RecordBuffer } from './location/record.ts';

/**
 * Rows as bytes, from the shard that makes them to the disk: on their way they are copied, and nobody reads what they say.
 *
 * A row, little-endian, at any offset:
 *
 *     0  u32 bytes of the row          4  u32 bytes of the id         8  u32 bytes of the memberships
 *    12  u8  kind, as its index in KINDS                             13  u8  1: the object is gone
 *    16  f64 receivedMs, or startMs of a collision                   24  f64 eventTimeMs
 *    32  the id, the memberships as JSON, the location or bodies, in UTF-8
 *
 * Databases hold such rows (store/row_log.ts): what is written here is read by later versions.
 */
const [SIZE, ID_SIZE, MEMBERS_SIZE, KIND, GONE, FIRST_MS, SECOND_MS] = [0, 4, 8, 12, 13, 16, 24] as const;
const HEAD_BYTES = 32;
/** No row is shorter. */
export const ROW_BYTES_MIN = HEAD_BYTES;

const KINDS = ['provider', 'trackable', 'collision'] as const;
const BYTES_AT_FIRST = 1 << 12;

/** Whose a row is, and its times. */
export interface RowHead {
  readonly kind: KeptRow['kind'];
  readonly id: string;
  /** Of a collision, when it began. */
  readonly receivedMs: number;
  readonly eventTimeMs: number;
}

/** A row as it lies there. */
export interface RowTexts extends RowHead {
  readonly isGone: boolean;
  readonly memberships: string;
  /** The location, or the bodies of a collision. */
  readonly text: string;
}

/**
 * Rows one behind the other, in memory that is somebody else's: they are good until who has made them makes more, the
 * next step, or the next answer of its thread. Whoever goes through them gets copies.
 */
export class PackedRows implements Iterable<KeptRow> {
  /** How many rows, and how many bytes they take. */
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

  /** The bytes themselves, where they lie. */
  get bytes(): Borrowed {
    return lend(this.#buffer.bytes.subarray(this.#start, this.#start + this.size));
  }

  *[Symbol.iterator](): Generator<KeptRow> {
    for (const at of this.places()) yield rowAt(this.#buffer, at);
  }

  /** Where each row begins in its buffer. */
  *places(): Generator<number> {
    const end = this.#start + this.size;
    for (let at = this.#start; at < end; at += rowSize(this.#buffer, at)) yield at;
  }

  /** Throws a TypeError for the first row with a time that is not a number: not every store would refuse it. */
  checkTimes(): void {
    const { view } = this.#buffer;
    for (const at of this.places()) {
      if (!Number.isNaN(view.getFloat64(at + FIRST_MS, true) + view.getFloat64(at + SECOND_MS, true))) continue;
      const { kind, id } = rowAt(this.#buffer, at);
      throw new TypeError(`Cannot keep the row of ${kind} "${id}": a time is not a number`);
    }
  }
}

/** How many bytes the row takes that begins there. */
// hot
export function rowSize({ view }: RecordBuffer, at: number): number {
  return view.getUint32(at + SIZE, true);
}

/** Whether the row says that its object is gone. */
// hot
export function isGoneRow({ view }: RecordBuffer, at: number): boolean {
  return view.getUint8(at + GONE) === 1;
}

/** A number that is the same for all rows of an object: FNV-1a of its id, mixed once more for tables of powers of two. */
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

/** What tells a row from those of other objects. */
export function rowKey(buffer: RecordBuffer, at: number): string {
  const { kind, id } = rowId(buffer, at);
  return keyOf(kind, id);
}

/** Whose row it is. */
export function rowId({ bytes, view }: RecordBuffer, at: number): Pick<RowHead, 'kind' | 'id'> {
  const start = at + HEAD_BYTES;
  const id = bytes.toString('utf8', start, start + view.getUint32(at + ID_SIZE, true));
  return { kind: KINDS[view.getUint8(at + KIND)] as KeptRow['kind'], id };
}

/** The same of an object. */
export function keyOf(kind: KeptRow['kind'], id: string): string {
  return `${kind} ${id}`;
}

/** Whose key it is. */
export function ofKey(key: string): [kind: KeptRow['kind'], id: string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at) as KeptRow['kind'], key.slice(at + 1)];
}

/** The row that begins there, with its memberships as JSON and without a name for its text. */
export function rowTexts({ bytes, view }: RecordBuffer, at: number): RowTexts {
  const membersAt = at + HEAD_BYTES + view.getUint32(at + ID_SIZE, true);
  const textAt = membersAt + view.getUint32(at + MEMBERS_SIZE, true);
  return {
    kind: KINDS[view.getUint8(at + KIND)] as KeptRow['kind'],
    id: bytes.toString('utf8', at + HEAD_BYTES, membersAt),
    isGone: view.getUint8(at + GONE) === 1,
    receivedMs: view.getFloat64(at + FIRST_MS, true),
    eventTimeMs: view.getFloat64(at + SECOND_MS, true),
    memberships: membersAt === textAt ? '[]' : bytes.toString('utf8', membersAt, textAt),
    text: bytes.toString('utf8', textAt, at + rowSize({ bytes, view }, at)),
  };
}

/** The row that begins there. */
export function rowAt(buffer: RecordBuffer, at: number): KeptRow {
  const { kind, id, isGone, receivedMs, eventTimeMs, memberships, text } = rowTexts(buffer, at);
  if (isGone) return { kind, id, gone: true };
  if (kind === 'collision') return { kind, id, startMs: receivedMs, bodies: text };
  return { kind, id, receivedMs, eventTimeMs, location: text, memberships: JSON.parse(memberships) };
}

/** Writes rows into memory that is used again. */
export class RowWriter extends GrowingBuffer {
  #count = 0;
  /** Where the row that was begun starts. */
  #start = 0;

  constructor(newBuffer: NewRecordBuffer, bytesAtFirst = BYTES_AT_FIRST) {
    super(newBuffer, bytesAtFirst);
  }

  /**
   * Begins a row whose other texts take so many bytes at most, and returns where its memberships begin: whoever asks
   * writes these, says where they end, writes the text, and says where that ends.
   */
  // hot
  begin({ kind, id, receivedMs, eventTimeMs }: RowHead, bytesMax: number): number {
    const at = this.#start;
    this.reserve(at + HEAD_BYTES + UTF8_MAX * id.length + bytesMax, at);
    const { bytes, view } = this;
    const idBytes = bytes.write(id, at + HEAD_BYTES);
    view.setUint32(at + ID_SIZE, idBytes, true);
    view.setUint32(at + MEMBERS_SIZE, 0, true);
    // With the two bytes behind.
    view.setUint32(at + KIND, KINDS.indexOf(kind), true);
    view.setFloat64(at + FIRST_MS, receivedMs, true);
    view.setFloat64(at + SECOND_MS, eventTimeMs, true);
    return at + HEAD_BYTES + idBytes;
  }

  /** The memberships end there. */
  // hot
  endMembers(at: number): void {
    const start = this.#start + HEAD_BYTES + this.view.getUint32(this.#start + ID_SIZE, true);
    this.view.setUint32(this.#start + MEMBERS_SIZE, at - start, true);
  }

  /** The row ends there. */
  // hot
  end(at: number): void {
    this.view.setUint32(this.#start + SIZE, at - this.#start, true);
    this.#start = at;
    this.#count++;
  }

  /** Writes the row of an object that is gone. */
  gone(kind: KeptRow['kind'], id: string): void {
    const at = this.begin({ kind, id, receivedMs: 0, eventTimeMs: 0 }, 0);
    this.view.setUint8(this.#start + GONE, 1);
    this.end(at);
  }

  /** Writes any row. */
  row(row: KeptRow): void {
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

  /** All rows since the last call. They are good until the next one is written. */
  take(): PackedRows {
    const rows = new PackedRows(this, { size: this.#start, count: this.#count });
    this.#start = 0;
    this.#count = 0;
    return rows;
  }

  /** Lets go of memory beyond that. Between two steps. */
  tidy(bytesKept = BYTES_AT_FIRST): void {
    this.shrink(bytesKept, this.#start);
  }
}
