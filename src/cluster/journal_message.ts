/**
 * The messages of a journal. Each carries some records, or seals it:
 *
 *     0  u8 version        1  u8 kind, as its index in KINDS        2  f64 number, from 0, of the messages of the journal
 *    10  u32 number of records       14  for each record its u32 length and its bytes; for a seal, who sealed it, in UTF-8
 *
 * All numbers are little-endian. A message that is appended twice, because its first answer was lost, has the same bytes
 * both times.
 */
const VERSION = 1;
const KINDS = ['records', 'seal'] as const;
const [KIND_AT, NUMBER_AT, COUNT_AT, HEAD_BYTES] = [1, 2, 10, 14] as const;

export type JournalMessage =
  | { readonly kind: 'records'; readonly number: number; readonly records: readonly Uint8Array[] }
  | { readonly kind: 'seal'; readonly by: string };

/** A message of a journal is missing, malformed, or of a version that cannot be read. */
export class JournalFormatError extends Error {
  override name = 'JournalFormatError';
}

/** The size of a record within a message, in bytes. */
export function recordBytes({ length }: Uint8Array): number {
  return 4 + length;
}

/** A message with records. One without any serves as a barrier: it shows that its sender can still append. */
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

/** A seal, after which nothing of the journal counts any more. `by`: the name of the hub that seals. */
export function sealMessage(by: string): Uint8Array {
  const name = new TextEncoder().encode(by);
  const { bytes } = begun('seal', 0, 0, HEAD_BYTES + name.length);
  bytes.set(name, HEAD_BYTES);
  return bytes;
}

/** Decodes a message; its records are views of the bytes. Throws a JournalFormatError. */
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

/** A message with its head written, and room for the rest. `size`: of the whole, in bytes. */
function begun(kind: JournalMessage['kind'], number: number, count: number, size: number) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(KIND_AT, KINDS.indexOf(kind));
  view.setFloat64(NUMBER_AT, number, true);
  view.setUint32(COUNT_AT, count, true);
  return { bytes, view };
}
