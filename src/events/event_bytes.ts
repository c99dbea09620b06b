import type { EncodedEvents, EventBlock, EventSpace, WriteEvents } from '../core/entity_write.ts';
import { LOG_TOPICS, type LogTopic } from '../model/logged_event.ts';
import type { FilterFields } from '../model/topics.ts';

/**
 * Events as bytes. An event: the index of its topic in LOG_TOPICS (8 bits), the sizes of its filter fields and of its
 * JSON (32 bits each, little-endian), the fields as a JSON array, and the JSON, both in UTF-8.
 *
 * Databases contain such bytes (store/event_table.ts): later versions must read them.
 */
const HEAD_BYTES = 9;
const UTF8_MAX = 3;

/**
 * Events of one topic, given as consecutive slices of bytes joined by a separator of one byte. Their bytes are read when
 * the events are written.
 */
export function slicedEvents(topic: LogTopic, { bytes, ends, fields }: Slices): WriteEvents {
  return (to) => {
    // In shared memory `copy` takes 11 ns per KB; `set` takes 250 if the offsets are aligned differently.
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let start = 0;
    for (let i = 0; i < fields.length; i++) {
      const end = ends[i] as number;
      const jsonAt = writeHead(to, topic, { fields: fields[i] as FilterFields, jsonBytes: end - start });
      source.copy(to.bytes, jsonAt, start, end);
      to.end(jsonAt + end - start);
      start = end + 1;
    }
  };
}

interface Slices {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly fields: readonly FilterFields[];
}

/** One event. */
export function textEvent(topic: LogTopic, fields: FilterFields, json: string): WriteEvents {
  return (to) => {
    const jsonBytes = Buffer.byteLength(json);
    const jsonAt = writeHead(to, topic, { fields, jsonBytes });
    to.bytes.write(json, jsonAt);
    to.end(jsonAt + jsonBytes);
  };
}

/** Joins events, in order; undefined without any. */
export function joinEvents(all: readonly WriteEvents[]): WriteEvents | undefined {
  if (all.length <= 1) return all[0];
  return (to) => {
    for (const write of all) write(to);
  };
}

/** Returns events as bytes of their own. */
export function encoded(write: WriteEvents): EncodedEvents {
  let bytes = Buffer.alloc(ENCODED_BYTES);
  let [used, count] = [0, 0];
  write({
    get bytes() {
      return bytes;
    },
    begin(bytesMax) {
      if (used + bytesMax > bytes.length) {
        const grown = Buffer.alloc(2 * bytes.length + bytesMax);
        bytes.copy(grown, 0, 0, used);
        bytes = grown;
      }
      return used;
    },
    end(at) {
      used = at;
      count++;
    },
  });
  return { count, bytes: bytes.subarray(0, used) };
}

/** Memory of a few events. */
const ENCODED_BYTES = 1024;

interface Head {
  readonly fields: FilterFields;
  readonly jsonBytes: number;
}

/** Writes an event up to its JSON. Returns the offset of the JSON. */
// hot
function writeHead(to: EventSpace, topic: LogTopic, { fields, jsonBytes }: Head): number {
  const text = JSON.stringify(fields);
  const at = to.begin(HEAD_BYTES + UTF8_MAX * text.length + jsonBytes);
  const { bytes } = to;
  const fieldBytes = bytes.write(text, at + HEAD_BYTES);
  bytes[at] = LOG_TOPICS.indexOf(topic);
  writeUInt32(bytes, at + 1, fieldBytes);
  writeUInt32(bytes, at + 5, jsonBytes);
  return at + HEAD_BYTES + fieldBytes;
}

// hot
function writeUInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** An event of a block. Its parts are decoded when they are read. */
export interface StoredEvent {
  readonly position: number;
  readonly topic: LogTopic;
  fields(): FilterFields;
  json(): string;
}

/** Yields the events of a block after a position. */
export function* eventsIn({ first, bytes }: EventBlock, after: number): Generator<StoredEvent> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let position = first;
  for (let at = 0; at < buffer.length; position++) {
    const fieldsAt = at + HEAD_BYTES;
    const jsonAt = fieldsAt + buffer.readUInt32LE(at + 1);
    const end = jsonAt + buffer.readUInt32LE(at + 5);
    if (position > after) {
      yield {
        position,
        topic: LOG_TOPICS[buffer[at] as number] as LogTopic,
        fields: () => fieldsOf(buffer.toString('utf8', fieldsAt, jsonAt)),
        json: () => buffer.toString('utf8', jsonAt, end),
      };
    }
    at = end;
  }
}

/** Yields events as bytes in parts: each but the last one has at least `bytesMin` bytes, and ends with a whole event. */
export function* partsOf(bytes: Uint8Array, bytesMin: number): Generator<EncodedEvents> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let [start, count] = [0, 0];
  for (let at = 0; at < buffer.length; ) {
    at += HEAD_BYTES + buffer.readUInt32LE(at + 1) + buffer.readUInt32LE(at + 5);
    count++;
    if (at - start < bytesMin && at < buffer.length) continue;
    yield { count, bytes: bytes.subarray(start, at) };
    [start, count] = [at, 0];
  }
}

/** JSON has no undefined: a field without a value is null there. */
function fieldsOf(json: string): FilterFields {
  return (JSON.parse(json) as (FilterFields[number] | null)[]).map((field) => field ?? undefined);
}
