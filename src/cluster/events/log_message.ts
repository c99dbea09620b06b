import type { EncodedEvents } from '../../core/entity_write.ts';
import { isCount, MessageError, packValue, unpackValue } from '../messages/codec.ts';

/**
 * Messages of the cluster's event log. Each has some events of one writer, and which events of that writer the log has up
 * to and including this message: so the last message of a subject tells its next author how to continue.
 *
 *     0  u8 version      1  u8 flags: 1 if events before it were dropped      2  f64 time      10  u32 number of events
 *    14  u32 bytes of the head      18  the head in msgpack, then the events (events/event_bytes.ts)
 *
 * All numbers are little-endian. The head is [author, number, [[shard, step, index]...], [[key, step]...]].
 */
const VERSION = 1;
const HAS_LOST = 1;
const [FLAGS_AT, TIME_AT, COUNT_AT, HEAD_BYTES_AT, HEAD_AT] = [1, 2, 10, 14, 18] as const;

/** Last logged position of a shard. */
export type LogWatermark = readonly [step: number, index: number];

/** Which events of a writer the log has. */
export interface LoggedSoFar {
  /** Member that has appended the last message, and its number among all messages of this member. */
  readonly author: string;
  readonly number: number;
  /** By shard: all events up to there are logged. */
  readonly watermarks: ReadonlyMap<number, LogWatermark>;
  /** Other logged events, and their steps. */
  readonly keys: ReadonlyMap<string, number>;
}

export interface LogMessage extends LoggedSoFar {
  /** Wall-clock time of the append. */
  readonly timeMs: number;
  readonly events: EncodedEvents;
  /** Whether events before it were dropped. */
  readonly hasLost: boolean;
}

export function packLogMessage(message: LogMessage): Uint8Array {
  const { author, number, watermarks, keys, timeMs, events, hasLost } = message;
  const shards = [...watermarks].map(([shard, [step, index]]) => [shard, step, index]);
  const head = packValue([author, number, shards, [...keys]]);
  const bytes = Buffer.alloc(HEAD_AT + head.length + events.bytes.length);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(hasLost ? HAS_LOST : 0, FLAGS_AT);
  bytes.writeDoubleLE(timeMs, TIME_AT);
  bytes.writeUInt32LE(events.count, COUNT_AT);
  bytes.writeUInt32LE(head.length, HEAD_BYTES_AT);
  bytes.set(head, HEAD_AT);
  bytes.set(events.bytes, HEAD_AT + head.length);
  return bytes;
}

/** Decodes a message; its events are a view of the bytes. Throws a MessageError. */
export function readLogMessage(bytes: Uint8Array): LogMessage {
  if (bytes.length < HEAD_AT) throw new MessageError(`A message of the event log has ${bytes.length} bytes`);
  if (bytes[0] !== VERSION) throw new MessageError(`A message of the event log has version ${bytes[0]}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const eventsAt = HEAD_AT + view.getUint32(HEAD_BYTES_AT, true);
  const head = headIn(bytes.subarray(HEAD_AT, eventsAt));
  if (head === undefined || eventsAt > bytes.length) {
    throw new MessageError(`A message of the event log with ${bytes.length} bytes has no readable head`);
  }
  const [author, number, watermarks, keys] = head;
  return {
    ...{ author, number, keys: new Map(keys) },
    watermarks: new Map(watermarks.map(([shard, step, index]) => [shard, [step, index]])),
    timeMs: view.getFloat64(TIME_AT, true),
    hasLost: ((bytes[FLAGS_AT] as number) & HAS_LOST) !== 0,
    events: { count: view.getUint32(COUNT_AT, true), bytes: bytes.subarray(eventsAt) },
  };
}

type Head = readonly [
  author: string,
  number: number,
  watermarks: readonly (readonly [shard: number, step: number, index: number])[],
  keys: readonly (readonly [key: string, step: number])[],
];

function headIn(bytes: Uint8Array): Head | undefined {
  const head = unpackValue('Cannot read a message of the event log', bytes);
  if (!Array.isArray(head) || head.length !== 4) return undefined;
  const [author, number, watermarks, keys] = head;
  const areTuples = (value: unknown, length: number): boolean =>
    Array.isArray(value) && value.every((each) => Array.isArray(each) && each.length === length);
  const isValid = typeof author === 'string' && isCount(number) && areTuples(watermarks, 3) && areTuples(keys, 2);
  return isValid ? (head as unknown as Head) : undefined;
}
