import { PackedRows, ROW_BYTES_MIN, rowSize } from '../../core/row_bytes.ts';
import type { RowLocation } from '../../store/newest_rows.ts';
import { asBuffer } from '../../wire/location_record.ts';

/**
 * Messages of the state of a partition: each has rows, of which the last of each object counts; a tombstone deletes its object
 * in its own subject only. A message without rows is a claim: its writer writes from here on, as in every other message.
 *
 *     0  u16 version          2  u16 bytes of the name
 *     4  f64 epoch of the map by which the writer owns the partition
 *    12  f64 number, which distinguishes the writer's messages of a subject
 *    20  u32 rows           24  member id of the writer, in UTF-8, and the rows (core/row_bytes.ts)
 *
 * Little-endian. A message that was appended twice, because the first answer was lost, has the same bytes.
 */
const VERSION = 1;
const [NAME_SIZE_AT, EPOCH_AT, NUMBER_AT, COUNT_AT, HEAD_BYTES] = [2, 4, 12, 20, 24] as const;

export interface StateHead {
  /** Member id of the writer. */
  readonly by: string;
  readonly epoch: number;
  readonly number: number;
}

export interface StateMessage extends StateHead {
  readonly rows: PackedRows;
}

/** A message of the state is malformed or of another version. */
export class StateFormatError extends Error {
  override name = 'StateFormatError';
}

/** Packs a message of rows; without any, a claim. */
export function packState({ by, epoch, number }: StateHead, rows: readonly RowLocation[]): Uint8Array {
  const name = new TextEncoder().encode(by);
  const start = HEAD_BYTES + name.length;
  const bytes = Buffer.allocUnsafeSlow(rows.reduce((sum, { buffer, at }) => sum + rowSize(buffer, at), start));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, VERSION, true);
  view.setUint16(NAME_SIZE_AT, name.length, true);
  view.setFloat64(EPOCH_AT, epoch, true);
  view.setFloat64(NUMBER_AT, number, true);
  view.setUint32(COUNT_AT, rows.length, true);
  bytes.set(name, HEAD_BYTES);
  let to = start;
  for (const { buffer, at } of rows) {
    const size = rowSize(buffer, at);
    buffer.bytes.copy(bytes, to, at, at + size);
    to += size;
  }
  return bytes;
}

/** Reads a message; its rows are views of the bytes. Throws a StateFormatError. */
export function unpackState(message: Uint8Array): StateMessage {
  const bytes = asBuffer(message);
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  if (length < HEAD_BYTES) throw new StateFormatError(`A message of the state has ${length} bytes`);
  const version = view.getUint16(0, true);
  if (version !== VERSION) throw new StateFormatError(`A message of the state has version ${version}, not ${VERSION}`);
  const start = HEAD_BYTES + view.getUint16(NAME_SIZE_AT, true);
  const head = {
    by: bytes.toString('utf8', HEAD_BYTES, start),
    epoch: view.getFloat64(EPOCH_AT, true),
    number: view.getFloat64(NUMBER_AT, true),
  };
  const count = view.getUint32(COUNT_AT, true);
  let at = start;
  for (let left = count; left > 0; left--) {
    const size = at + ROW_BYTES_MIN <= length ? rowSize({ view }, at) : Number.POSITIVE_INFINITY;
    if (size < ROW_BYTES_MIN || at + size > length) {
      throw new StateFormatError(`Message ${head.number} of "${head.by}" in the state ends within a row`);
    }
    at += size;
  }
  if (at !== length) {
    throw new StateFormatError(`Message ${head.number} of "${head.by}" in the state is longer than its rows`);
  }
  return { ...head, rows: new PackedRows({ bytes, view }, { start, size: length - start, count }) };
}
