import { Packr } from 'msgpackr';
import { type Borrowed, lend, look } from '../../model/borrowed.ts';
import type { EventBatch, EventPositions } from '../../model/event_batch.ts';
import type { FilterFields } from '../../model/topics.ts';
import { MessageError } from '../messages/codec.ts';

/**
 * Frame with the events that one hub has rendered for the subscribers of another, as the bytes that these get:
 *
 *     0  u8 version     1  u8 bytes of the sender's incarnation     2  u16 blocks
 *     4  u16 1 in the last frame of the sender            6  u16 frames of other senders that must precede this one
 *     8  f64 number of the frame, from 1, per sender and receiver; without blocks, the number of the previous frame
 *    16  f64 messages of announced events that the sender has sent to all
 *    24  f64 sequence of the configuration record after which the sender publishes for objects of previous owners; 0 for none
 *    32  the incarnation, and the blocks: u32 the receiver's number of the variant, u32 events, u32 bytes of their JSON,
 *        u32 bytes of their fields, or 0; u32 number of positions, as many as events for fence events, or 0; u32 end offset
 *        of each JSON string; if it has positions: f64 number of the step, u32 shard, u32 index of each event; the JSON
 *        strings, joined by commas; the fields in msgpack
 *     ..  for each of these u8 bytes of the incarnation of its sender, f64 its number, and the incarnation
 *
 * Little-endian.
 */
const VERSION = 3;
const [BLOCKS_AT, LAST_AT, BEHIND_AT, NUMBER_AT, ANNOUNCED_AT, AFTER_AT, HEAD_BYTES] = [
  2, 4, 6, 8, 16, 24, 32,
] as const;
const BLOCK_HEAD_BYTES = 20;
/** Size of the step and the shard before the indices of events. */
const STEP_BYTES = 12;
const BEHIND_HEAD_BYTES = 9;
const SENDER_BYTES_MAX = 255;
const BLOCKS_MAX = 65_535;
const BYTES_AT_FIRST = 1 << 12;
/** Size of memory that is retained for the next frame. */
const BYTES_KEPT = 1 << 21;

/** Last frame of each other sender to the same receiver. */
export type Behind = readonly (readonly [incarnation: string, number: number])[];

export interface FrameHead {
  readonly from: string;
  readonly number: number;
  readonly announced: number;
  readonly after: number;
  readonly isLast: boolean;
  /** Frames that the receiver must deliver first. */
  readonly behind: Behind;
}

export interface EventFrame extends FrameHead {
  /** Views of the frame's bytes. */
  readonly blocks: readonly EventBatch[];
}

/** Members of a frame that errors name. */
type Named = Pick<FrameHead, 'from' | 'number'>;

const packr = new Packr({ useRecords: false, useToJSON: false });

/** Packs a range of events of a batch as a block without the variant's number. */
export class BlockPacker {
  #bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);

  /** Returns bytes that are valid until the next call. Hot path. */
  pack({ bytes, ends, fields, positions }: EventBatch, from: number, to: number): Uint8Array {
    const start = from === 0 ? 0 : (ends[from - 1] as number) + 1;
    const textBytes = (ends[to - 1] as number) - start;
    const packed = fields && packr.pack(to - from === fields.length ? fields : fields.slice(from, to));
    const positionsAt = BLOCK_HEAD_BYTES + 4 * (to - from);
    const textsAt = positionsAt + (positions === undefined ? 0 : STEP_BYTES + 4 * (to - from));
    const length = textsAt + textBytes + (packed?.length ?? 0);
    if (length > this.#bytes.length || this.#bytes.length > BYTES_KEPT) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(BYTES_AT_FIRST, 2 ** Math.ceil(Math.log2(length))));
    }
    const into = this.#bytes;
    into.writeUInt32LE(to - from, 4);
    into.writeUInt32LE(textBytes, 8);
    into.writeUInt32LE(packed?.length ?? 0, 12);
    into.writeUInt32LE(positions === undefined ? 0 : to - from, 16);
    for (let i = from; i < to; i++) into.writeUInt32LE((ends[i] as number) - start, BLOCK_HEAD_BYTES + 4 * (i - from));
    if (positions !== undefined) {
      into.writeDoubleLE(positions.step, positionsAt);
      into.writeUInt32LE(positions.shard, positionsAt + 8);
      for (let i = from; i < to; i++)
        into.writeUInt32LE(positions.indices[i] as number, positionsAt + STEP_BYTES + 4 * (i - from));
    }
    into.set(look(bytes).subarray(start, start + textBytes), textsAt);
    if (packed !== undefined) into.set(packed, textsAt + textBytes);
    return into.subarray(0, length);
  }
}

/** Collects blocks for one receiver, in reused memory. */
export class FrameWriter {
  readonly #sender: Uint8Array;
  #bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
  #length: number;
  #blocks = 0;

  constructor(from: string) {
    this.#sender = new TextEncoder().encode(from);
    if (this.#sender.length > SENDER_BYTES_MAX) {
      throw new MessageError(`An incarnation may have ${SENDER_BYTES_MAX} bytes, this one has ${this.#sender.length}`);
    }
    this.#length = this.#begin;
  }

  get blocks(): number {
    return this.#blocks;
  }

  /** Length of the frame with one more block of that length. */
  lengthWith(blockBytes: number): number {
    return this.#blocks === BLOCKS_MAX ? Infinity : this.#length + blockBytes;
  }

  /** hot */
  add(variant: number, block: Uint8Array): void {
    const length = this.#length + block.length;
    this.#makeRoom(length);
    this.#bytes.set(block, this.#length);
    this.#bytes.writeUInt32LE(variant, this.#length);
    this.#length = length;
    this.#blocks++;
  }

  /** Returns the frame, valid until the next block is added, and begins the next one. */
  take({ number, announced, after, isLast, behind }: Omit<FrameHead, 'from'>): Uint8Array {
    for (const each of behind) this.#addBehind(each);
    const bytes = this.#bytes;
    bytes.writeUInt8(VERSION, 0);
    bytes.writeUInt8(this.#sender.length, 1);
    bytes.writeUInt16LE(this.#blocks, BLOCKS_AT);
    bytes.writeUInt16LE(Number(isLast), LAST_AT);
    bytes.writeUInt16LE(behind.length, BEHIND_AT);
    bytes.writeDoubleLE(number, NUMBER_AT);
    bytes.writeDoubleLE(announced, ANNOUNCED_AT);
    bytes.writeDoubleLE(after, AFTER_AT);
    bytes.set(this.#sender, HEAD_BYTES);
    const frame = bytes.subarray(0, this.#length);
    if (bytes.length > BYTES_KEPT) this.#bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
    this.#length = this.#begin;
    this.#blocks = 0;
    return frame;
  }

  #addBehind([incarnation, number]: Behind[number]): void {
    const name = new TextEncoder().encode(incarnation);
    const length = this.#length + BEHIND_HEAD_BYTES + name.length;
    this.#makeRoom(length);
    this.#bytes.writeUInt8(name.length, this.#length);
    this.#bytes.writeDoubleLE(number, this.#length + 1);
    this.#bytes.set(name, this.#length + BEHIND_HEAD_BYTES);
    this.#length = length;
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

/** Reads a frame. Throws a MessageError if it is malformed. */
export function readFrame(borrowed: Borrowed): EventFrame {
  const { buffer, byteOffset, length } = look(borrowed);
  const bytes = Buffer.from(buffer, byteOffset, length);
  if (length < HEAD_BYTES) throw new MessageError(`A frame of events has ${length} bytes`);
  const version = bytes.readUInt8(0);
  if (version !== VERSION) throw new MessageError(`A frame of events has version ${version}, not ${VERSION}`);
  let at = HEAD_BYTES + bytes.readUInt8(1);
  const head: Omit<FrameHead, 'behind'> = {
    from: bytes.toString('utf8', HEAD_BYTES, at),
    number: count(bytes, 'number', NUMBER_AT),
    announced: count(bytes, 'announced', ANNOUNCED_AT),
    after: count(bytes, 'after', AFTER_AT),
    isLast: bytes.readUInt16LE(LAST_AT) === 1,
  };
  const blocks: EventBatch[] = [];
  for (let left = bytes.readUInt16LE(BLOCKS_AT); left > 0; left--) {
    const [block, end] = readBlock(bytes, at, head);
    blocks.push(block);
    at = end;
  }
  const behind: [incarnation: string, number: number][] = [];
  for (let left = bytes.readUInt16LE(BEHIND_AT); left > 0 && at + BEHIND_HEAD_BYTES <= length; left--) {
    const nameAt = at + BEHIND_HEAD_BYTES;
    const number = count(bytes, 'number of another sender', at + 1);
    at = nameAt + bytes.readUInt8(at);
    behind.push([bytes.toString('utf8', nameAt, at), number]);
  }
  if (at !== length || behind.length !== bytes.readUInt16LE(BEHIND_AT))
    throw malformed(head, `has ${length} bytes, but its parts end at ${at}`);
  return { ...head, blocks, behind };
}

function readBlock(bytes: Buffer, at: number, head: Named): [block: EventBatch, end: number] {
  const textsAt = at + BLOCK_HEAD_BYTES;
  if (textsAt > bytes.length) throw malformed(head, 'ends within a block');
  const events = bytes.readUInt32LE(at + 4);
  const textBytes = bytes.readUInt32LE(at + 8);
  const fieldBytes = bytes.readUInt32LE(at + 12);
  const isPositioned = bytes.readUInt32LE(at + 16) === events && events > 0;
  const positionsAt = textsAt + 4 * events;
  const endsAt = positionsAt + (isPositioned ? STEP_BYTES + 4 * events : 0);
  const end = endsAt + textBytes + fieldBytes;
  if (end > bytes.length) throw malformed(head, 'ends within a block');
  const ends = new Uint32Array(events);
  let last = -1;
  for (let i = 0; i < events; i++) {
    const next = bytes.readUInt32LE(textsAt + 4 * i);
    if (next <= last) throw malformed(head, `has a text that ends at ${next}, behind one that ends at ${last}`);
    ends[i] = next;
    last = next;
  }
  if (last !== textBytes) throw malformed(head, `has ${textBytes} bytes of texts, but the last ends at ${last}`);
  const texts = lend(bytes.subarray(endsAt, endsAt + textBytes));
  const fields = fieldBytes === 0 ? undefined : readFields(bytes.subarray(end - fieldBytes, end), events, head);
  const positions = isPositioned ? readPositions(bytes, positionsAt, events) : undefined;
  return [{ variant: bytes.readUInt32LE(at), bytes: texts, ends, fields, positions }, end];
}

function readPositions(bytes: Buffer, at: number, events: number): EventPositions {
  const indices = new Uint32Array(events);
  for (let i = 0; i < events; i++) indices[i] = bytes.readUInt32LE(at + STEP_BYTES + 4 * i);
  return { step: count(bytes, 'step', at), shard: bytes.readUInt32LE(at + 8), indices };
}

function readFields(bytes: Uint8Array, events: number, head: Named): readonly FilterFields[] {
  const fields = unpacked(bytes);
  const isFit = Array.isArray(fields) && fields.length === events && fields.every(isFields);
  if (!isFit) throw malformed(head, `must have fields of ${events} events, but has something else`);
  return fields;
}

function isFields(value: unknown): value is FilterFields {
  return Array.isArray(value) && value.every((one) => one === undefined || SCALARS.has(typeof one));
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);

function unpacked(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch {
    return undefined;
  }
}

function count(bytes: Buffer, field: string, at: number): number {
  const value = bytes.readDoubleLE(at);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new MessageError(`A frame of events must have a whole ${field}, but has ${value}`);
}

function malformed({ from, number }: Named, what: string): MessageError {
  return new MessageError(`Frame ${number} of "${from}" ${what}`);
}
