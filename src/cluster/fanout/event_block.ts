import { type Borrowed, lend, look } from '../../model/borrowed.ts';
import type { EventBatch, EventPositions } from '../../model/event_batch.ts';
import type { FilterFields } from '../../model/topics.ts';
import { asBuffer } from '../../wire/location_record.ts';
import { MessageError, packValue, unpackValue } from '../messages/codec.ts';

/**
 * Block of events that one hub has rendered for the subscribers of another, as the bytes that these get. It is a part of a
 * channel's message, about the receiver's number of the variant:
 *
 *     0  u32 events     4  u32 bytes of their JSON     8  u32 bytes of their fields, or 0
 *    12  u32 number of positions, as many as events for fence events, or 0
 *    16  u32 end offset of each JSON string; if it has positions: f64 number of the step, u32 shard, u32 index of each event;
 *        the JSON strings, joined by commas; the fields in msgpack
 *
 * Little-endian.
 */
const HEAD_BYTES = 16;
/** Size of the step and the shard before the indices of events. */
const STEP_BYTES = 12;
const BYTES_AT_FIRST = 1 << 12;
/** Size of memory that is retained for the next block. */
const BYTES_KEPT = 1 << 21;

/** Packs a range of events of a batch as a block. */
export class BlockPacker {
  #bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);

  /** Returns bytes that are valid until the next call. Hot path. */
  pack({ bytes, ends, fields, positions }: EventBatch, from: number, to: number): Uint8Array {
    const start = from === 0 ? 0 : (ends[from - 1] as number) + 1;
    const textBytes = (ends[to - 1] as number) - start;
    const packed = fields && packValue(to - from === fields.length ? fields : fields.slice(from, to));
    const positionsAt = HEAD_BYTES + 4 * (to - from);
    const textsAt = positionsAt + (positions === undefined ? 0 : STEP_BYTES + 4 * (to - from));
    const length = textsAt + textBytes + (packed?.length ?? 0);
    if (length > this.#bytes.length || this.#bytes.length > BYTES_KEPT) {
      this.#bytes = Buffer.allocUnsafeSlow(Math.max(BYTES_AT_FIRST, 2 ** Math.ceil(Math.log2(length))));
    }
    const into = this.#bytes;
    into.writeUInt32LE(to - from, 0);
    into.writeUInt32LE(textBytes, 4);
    into.writeUInt32LE(packed?.length ?? 0, 8);
    into.writeUInt32LE(positions === undefined ? 0 : to - from, 12);
    for (let i = from; i < to; i++) into.writeUInt32LE((ends[i] as number) - start, HEAD_BYTES + 4 * (i - from));
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

/** Reads a block; its JSON is a view of the bytes. Throws a MessageError if it is malformed. Hot path. */
export function readBlock(borrowed: Borrowed, variant: number): EventBatch {
  const bytes = asBuffer(look(borrowed));
  const { length } = bytes;
  if (length < HEAD_BYTES) throw malformed('ends within its head');
  const events = bytes.readUInt32LE(0);
  const textBytes = bytes.readUInt32LE(4);
  const fieldBytes = bytes.readUInt32LE(8);
  const isPositioned = bytes.readUInt32LE(12) === events && events > 0;
  const positionsAt = HEAD_BYTES + 4 * events;
  const textsAt = positionsAt + (isPositioned ? STEP_BYTES + 4 * events : 0);
  const textsEnd = textsAt + textBytes;
  if (textsEnd + fieldBytes !== length) throw malformed(`has ${length} bytes, not ${textsEnd + fieldBytes}`);
  const ends = new Uint32Array(events);
  let last = -1;
  for (let i = 0; i < events; i++) {
    const next = bytes.readUInt32LE(HEAD_BYTES + 4 * i);
    if (next <= last) throw malformed(`has a text that ends at ${next}, behind one that ends at ${last}`);
    ends[i] = next;
    last = next;
  }
  if (last !== textBytes) throw malformed(`has ${textBytes} bytes of texts, but the last ends at ${last}`);
  const fields = fieldBytes === 0 ? undefined : readFields(bytes.subarray(textsEnd), events);
  const positions = isPositioned ? readPositions(bytes, positionsAt, events) : undefined;
  return { variant, bytes: lend(bytes.subarray(textsAt, textsEnd)), ends, fields, positions };
}

function readPositions(bytes: Buffer, at: number, events: number): EventPositions {
  const indices = new Uint32Array(events);
  for (let i = 0; i < events; i++) indices[i] = bytes.readUInt32LE(at + STEP_BYTES + 4 * i);
  const step = bytes.readDoubleLE(at);
  if (!Number.isSafeInteger(step) || step < 0) throw malformed(`is of step ${step}`);
  return { step, shard: bytes.readUInt32LE(at + 8), indices };
}

function readFields(bytes: Uint8Array, events: number): readonly FilterFields[] {
  const fields = unpackValue('Cannot read the fields of events', bytes);
  const isFit = Array.isArray(fields) && fields.length === events && fields.every(isFields);
  if (!isFit) throw malformed(`must have fields of ${events} events, but has something else`);
  return fields;
}

function isFields(value: unknown): value is FilterFields {
  return Array.isArray(value) && value.every((one) => one === undefined || SCALARS.has(typeof one));
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);

function malformed(what: string): MessageError {
  return new MessageError(`A block of events ${what}`);
}
