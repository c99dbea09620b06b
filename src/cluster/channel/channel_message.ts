import { type Borrowed, copied, lend, look } from '../../model/borrowed.ts';
import { asBuffer } from '../../wire/location_record.ts';
import { MessageError } from '../messages/codec.ts';

/**
 * Message of a channel: parts of several kinds from one hub to another.
 *
 *     0  u8 version     1  u8 bytes of the sender's member id     2  u16 parts
 *     4  u16 1 in the last message of the sender                  6  u16 0
 *     8  f64 number of the message, from 1, per sender and receiver; without parts, the number of the previous message
 *    16  f64 sequence of the configuration record after which the sender acts for previous owners; 0 for none
 *    24  f64 number of the last message with parts of a kind, for each of KINDS
 *    48  the member id; for each part u8 kind, as its index in KINDS, u32 about, u32 bytes, and its bytes
 *
 * Little-endian.
 */
const VERSION = 1;
const [PARTS_AT, LAST_AT, NUMBER_AT, AFTER_AT, LAST_OF_AT, HEAD_BYTES] = [2, 4, 8, 16, 24, 48] as const;
const PART_HEAD_BYTES = 9;
const SENDER_BYTES_MAX = 255;
const PARTS_MAX = 65_535;
const BYTES_AT_FIRST = 1 << 12;
/** Size of memory that is retained for the next message. */
const BYTES_KEPT = 1 << 21;

/** Kinds of parts. */
export const KINDS = ['events', 'announced', 'motions'] as const;
export type Kind = (typeof KINDS)[number];

export interface Part {
  readonly kind: Kind;
  /** A number of its kind, such as the variant of events. */
  readonly about: number;
  /** Valid as long as the message is. */
  readonly bytes: Borrowed;
}

/** How much a hub has sent to another one. */
export interface SentSoFar {
  /** Number of the last message. */
  readonly number: number;
  /** Number of the last one with parts of each kind, in the order of KINDS. */
  readonly lastOf: readonly number[];
}

export interface MessageHead extends SentSoFar {
  readonly after: number;
  readonly isLast: boolean;
}

export interface ChannelMessage extends MessageHead {
  readonly from: string;
  readonly parts: readonly Part[];
}

/** Collects parts for one receiver, in reused memory. */
export class MessageWriter {
  readonly #sender: Uint8Array;
  #bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
  #length: number;
  #parts = 0;

  constructor(from: string) {
    this.#sender = new TextEncoder().encode(from);
    if (this.#sender.length > SENDER_BYTES_MAX) {
      throw new MessageError(`A member id may have ${SENDER_BYTES_MAX} bytes, this one has ${this.#sender.length}`);
    }
    this.#length = this.#begin;
  }

  get parts(): number {
    return this.#parts;
  }

  /** Length of the message with one more part of that length. */
  lengthWith(partBytes: number): number {
    return this.#parts === PARTS_MAX ? Infinity : this.#length + PART_HEAD_BYTES + partBytes;
  }

  /** Hot path. */
  add(kind: Kind, about: number, part: Uint8Array): void {
    const at = this.#length;
    const length = this.lengthWith(part.length);
    this.#makeRoom(length);
    const bytes = this.#bytes;
    bytes.writeUInt8(KINDS.indexOf(kind), at);
    bytes.writeUInt32LE(about, at + 1);
    bytes.writeUInt32LE(part.length, at + 5);
    bytes.set(part, at + PART_HEAD_BYTES);
    this.#length = length;
    this.#parts++;
  }

  /** Returns the message, valid until the next part is added, and begins the next one. */
  take({ number, after, lastOf, isLast }: MessageHead): Uint8Array {
    const bytes = this.#bytes;
    bytes.writeUInt8(VERSION, 0);
    bytes.writeUInt8(this.#sender.length, 1);
    bytes.writeUInt16LE(this.#parts, PARTS_AT);
    bytes.writeUInt16LE(Number(isLast), LAST_AT);
    bytes.writeUInt16LE(0, LAST_AT + 2);
    bytes.writeDoubleLE(number, NUMBER_AT);
    bytes.writeDoubleLE(after, AFTER_AT);
    for (let i = 0; i < KINDS.length; i++) bytes.writeDoubleLE(lastOf[i] as number, LAST_OF_AT + 8 * i);
    bytes.set(this.#sender, HEAD_BYTES);
    const message = bytes.subarray(0, this.#length);
    if (bytes.length > BYTES_KEPT) this.#bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
    this.#length = this.#begin;
    this.#parts = 0;
    return message;
  }

  #makeRoom(length: number): void {
    if (length <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(length)));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }

  get #begin(): number {
    return HEAD_BYTES + this.#sender.length;
  }
}

/** Reads a message; its parts are views of the bytes. Throws a MessageError if it is malformed. Hot path. */
export function readMessage(borrowed: Borrowed): ChannelMessage {
  const bytes = asBuffer(look(borrowed));
  const { length } = bytes;
  if (length < HEAD_BYTES) throw new MessageError(`A message of a channel has ${length} bytes`);
  const version = bytes.readUInt8(0);
  if (version !== VERSION) throw new MessageError(`A message of a channel has version ${version}, not ${VERSION}`);
  let at: number = HEAD_BYTES + bytes.readUInt8(1);
  const from = bytes.toString('utf8', HEAD_BYTES, at);
  const parts: Part[] = [];
  for (let left = bytes.readUInt16LE(PARTS_AT); left > 0 && at + PART_HEAD_BYTES <= length; left--) {
    const kind = KINDS[bytes.readUInt8(at)];
    if (kind === undefined) throw new MessageError(`A message of "${from}" has a part of kind ${bytes.readUInt8(at)}`);
    const start = at + PART_HEAD_BYTES;
    const end = start + bytes.readUInt32LE(at + 5);
    parts.push({ kind, about: bytes.readUInt32LE(at + 1), bytes: lend(bytes.subarray(start, end)) });
    at = end;
  }
  if (at !== length || parts.length !== bytes.readUInt16LE(PARTS_AT)) {
    throw new MessageError(`A message of "${from}" has ${length} bytes, but its parts end at ${at}`);
  }
  return {
    from,
    number: count(bytes, NUMBER_AT),
    lastOf: [count(bytes, LAST_OF_AT), count(bytes, LAST_OF_AT + 8), count(bytes, LAST_OF_AT + 16)],
    after: count(bytes, AFTER_AT),
    isLast: bytes.readUInt16LE(LAST_AT) === 1,
    parts,
  };
}

/** The message with parts in memory of their own, and their size. */
export function ownMessage(message: ChannelMessage): ChannelMessage & { readonly size: number } {
  const parts = message.parts.map((part) => ({ ...part, bytes: lend(copied(part.bytes)) }));
  let size: number = HEAD_BYTES;
  for (const { bytes } of parts) size += look(bytes).length;
  return { ...message, parts, size };
}

function count(bytes: Buffer, at: number): number {
  const value = bytes.readDoubleLE(at);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new MessageError(`A message of a channel must have whole numbers, but has ${value}`);
}
