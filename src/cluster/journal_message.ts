/**
 * What a journal holds. One message carries some records of a lane, or says that the lane is sealed:
 *
 *     0  u8 version        1  u8 kind, as its index in KINDS        2  f64 number, from 0, of the messages of the lane
 *    10  u32 records, and for each a u32 of bytes and these; of a seal the name of who has sealed, in UTF-8
 *
 * Little-endian. A message that was appended twice, because nobody knew of the first time, is the same bytes.
 */
const VERSION = 1;
const KINDS = ['records', 'seal'] as const;
const [KIND_AT, NUMBER_AT, COUNT_AT, HEAD_BYTES] = [1, 2, 10, 14] as const;

export type JournalMessage =
  | { readonly kind: 'records'; readonly number: number; readonly records: readonly Uint8Array[] }
  | { readonly kind: 'seal'; readonly by: string };

/** A message of a journal is none that this version can read. */
export class JournalFormatError extends Error {
  override name = 'JournalFormatError';
}

/** How many bytes a record takes in a message. */
export function recordBytes({ length }: Uint8Array): number {
  return 4 + length;
}

/** A message of records. An empty one is a barrier: what it shows is that its sender could still append. */
export function recordsMessage(number: number, records: readonly Uint8Array[]): Uint8Array {
  const size = records.reduce((sum, record) => sum + recordBytes(record), HEAD_BYTES as number);
  const { bytes, view } = begun('records', number, records.length, size);
  let at: number = HEAD_BYTES;
  for (const record of records) {
    view.setUint32(at, record.length, true);
    bytes.set(record, at + 4);
    at += recordBytes(record);
  }
  return bytes;
}

/** The message behind which nothing of the lane counts any more. */
export function sealMessage(by: string): Uint8Array {
  const name = new TextEncoder().encode(by);
  const { bytes } = begun('seal', 0, 0, HEAD_BYTES + name.length);
  bytes.set(name, HEAD_BYTES);
  return bytes;
}

/** Reads a message; its records are parts of the bytes. Throws a JournalFormatError. */
export function journalMessage(bytes: Uint8Array): JournalMessage {
  if (bytes.length < HEAD_BYTES) throw new JournalFormatError(`A message of a journal has ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint8(0);
  if (version !== VERSION)
    throw new JournalFormatError(`A message of a journal has version ${version}, not ${VERSION}`);
  const kind = KINDS[view.getUint8(KIND_AT)];
  if (kind === undefined) throw new JournalFormatError(`A message of a journal has kind ${view.getUint8(KIND_AT)}`);
  if (kind === 'seal') return { kind, by: new TextDecoder().decode(bytes.subarray(HEAD_BYTES)) };
  const number = view.getFloat64(NUMBER_AT, true);
  const records: Uint8Array[] = [];
  let at: number = HEAD_BYTES;
  for (let left = view.getUint32(COUNT_AT, true); left > 0; left--) {
    const end = at + 4 <= bytes.length ? at + 4 + view.getUint32(at, true) : Number.POSITIVE_INFINITY;
    if (end > bytes.length) throw new JournalFormatError(`Message ${number} of a journal ends within a record`);
    records.push(bytes.subarray(at + 4, end));
    at = end;
  }
  if (at !== bytes.length) throw new JournalFormatError(`Message ${number} of a journal is longer than its records`);
  return { kind, number, records };
}

function begun(kind: JournalMessage['kind'], number: number, count: number, size: number) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(KIND_AT, KINDS.indexOf(kind));
  view.setFloat64(NUMBER_AT, number, true);
  view.setUint32(COUNT_AT, count, true);
  return { bytes, view };
}
