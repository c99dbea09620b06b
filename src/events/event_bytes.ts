import type { EncodedEvents, EventBlock } from '../core/entity_write.ts';
import { EVENT_TOPICS, type EventTopic } from '../model/logged_event.ts';
import type { FilterFields } from '../model/topics.ts';

/**
 * Events as bytes. An event: the index of its topic in EVENT_TOPICS (8 bits), the sizes of its filter fields and of its
 * JSON (32 bits each, little-endian), the fields as a JSON array, and the JSON, both in UTF-8.
 *
 * Databases contain such bytes (store/event_table.ts): later versions must read them.
 */
const HEAD_BYTES = 9;
const UTF8_MAX = 3;

/** Encodes events of one topic, given as consecutive slices of bytes joined by a separator of one byte. */
// hot
export function encodeSlices(topic: EventTopic, { bytes, ends, fields }: Slices): EncodedEvents {
  const texts = fields.map((each) => JSON.stringify(each));
  const encoded = Buffer.allocUnsafe(
    texts.reduce((sum, text) => sum + HEAD_BYTES + UTF8_MAX * text.length, bytes.length),
  );
  let at = 0;
  let start = 0;
  for (const [i, text] of texts.entries()) {
    const end = ends[i] as number;
    const fieldBytes = encoded.write(text, at + HEAD_BYTES);
    encoded[at] = EVENT_TOPICS.indexOf(topic);
    encoded.writeUInt32LE(fieldBytes, at + 1);
    encoded.writeUInt32LE(end - start, at + 5);
    at += HEAD_BYTES + fieldBytes;
    encoded.set(bytes.subarray(start, end), at);
    at += end - start;
    start = end + 1;
  }
  return { count: texts.length, bytes: encoded.subarray(0, at) };
}

interface Slices {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly fields: readonly FilterFields[];
}

/** Encodes one event. */
export function encodeEvent(topic: EventTopic, fields: FilterFields, json: string): EncodedEvents {
  const bytes = Buffer.from(json);
  return encodeSlices(topic, { bytes, ends: Uint32Array.of(bytes.length), fields: [fields] });
}

/** Joins encoded events, in order; undefined without events. */
export function joinEvents(all: readonly EncodedEvents[]): EncodedEvents | undefined {
  const [first] = all;
  if (all.length <= 1) return first;
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    bytes: Buffer.concat(all.map(({ bytes }) => bytes)),
  };
}

/** An event of a block. Its parts are decoded when they are read. */
export interface StoredEvent {
  readonly position: number;
  readonly topic: EventTopic;
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
        topic: EVENT_TOPICS[buffer[at] as number] as EventTopic,
        fields: () => fieldsOf(buffer.toString('utf8', fieldsAt, jsonAt)),
        json: () => buffer.toString('utf8', jsonAt, end),
      };
    }
    at = end;
  }
}

/** JSON has no undefined: a field without a value is null there. */
function fieldsOf(json: string): FilterFields {
  return (JSON.parse(json) as (FilterFields[number] | null)[]).map((field) => field ?? undefined);
}
