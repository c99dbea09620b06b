/**
 * Messages of a journal. Each carries some records, or seals it:
 *
 *     0  u8 version        1  u8 kind, as its index in KINDS        2  f64 number, from 0, of the messages of the journal
 *    10  u32 number of records       14  for each record its u32 length and its bytes; for a seal, the sealing hub, in UTF-8
 *
 * All numbers are little-endian. A message that is appended twice, because its first answer was lost, has the same bytes both
 * times.
 */
const VERSION = 1;
const KINDS = ['records', 'seal'] as const;
const [KIND_AT, NUMBER_AT, COUNT_AT, HEAD_BYTES] = [1, 2, 10, 14] as const;

/** The records of a message. */
export type JournalRecords = readonly Uint8Array[];

export type JournalMessage =
  | { readonly kind: 'records'; readonly number: number; readonly records: JournalRecords }
  | { readonly kind: 'seal'; readonly by: string };

/** A message of a journal is missing, malformed, or of another version. */
export class JournalFormatError extends Error {
  override name = 'JournalFormatError';
}

const BUFFER_BYTES = 1 << 16;

/**
 * A message with records, which are copied into it as they come. One without any serves as a barrier: it proves that its sender
 * can still append. Its memory is shared with other threads, and is reused.
 */
export class RecordsMessage {
  #bytes = shared(BUFFER_BYTES);
  #end: number = HEAD_BYTES;
  #count = 0;

  /** Size of the message in bytes. */
  get size(): number {
    return this.#end;
  }

  /** Size of its records in bytes. */
  get recordBytes(): number {
    return this.#end - HEAD_BYTES - 4 * this.#count;
  }

  /** Number of its records. */
  get count(): number {
    return this.#count;
  }

  /** Copies a record, which is passed in parts. Hot path. */
  add(record: readonly Uint8Array[], length: number): void {
    const end = this.#end + 4 + length;
    if (end > this.#bytes.length) this.#grow(end);
    this.#bytes.writeUInt32LE(length, this.#end);
    let at = this.#end + 4;
    for (const part of record) {
      this.#bytes.set(part, at);
      at += part.length;
    }
    this.#end = end;
    this.#count++;
  }

  /** Bytes of the message with that number, valid until it is changed. */
  bytes(number: number): Uint8Array {
    begin(this.#bytes, 'records', number, this.#count);
    return this.#bytes.subarray(0, this.#end);
  }

  /** Drops all records. */
  clear(): void {
    this.#end = HEAD_BYTES;
    this.#count = 0;
  }

  #grow(bytes: number): void {
    const grown = shared(Math.max(bytes, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }
}

/** A seal, after which no message of the journal counts. `by`: the name of the hub that seals. */
export function sealMessage(by: string): Uint8Array {
  const name = new TextEncoder().encode(by);
  const bytes = Buffer.alloc(HEAD_BYTES + name.length);
  begin(bytes, 'seal', 0, 0);
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

/** Writes the head of a message. */
function begin(bytes: Buffer, kind: JournalMessage['kind'], number: number, count: number): void {
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(KINDS.indexOf(kind), KIND_AT);
  bytes.writeDoubleLE(number, NUMBER_AT);
  bytes.writeUInt32LE(count, COUNT_AT);
}

function shared(length: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(length));
}
