import { Packr } from 'msgpackr';
import type { FenceEventJson } from '../core/outcome.ts';

/**
 * Encoding of fence events before the record of their step (journal_record.ts), so that both are stored atomically. A
 * hub that takes over publishes them again, because their owner may have failed before.
 *
 *      0  u8 version, different from that of a record     1  u32 bytes of the events
 *      5  the events in msgpack, then the record
 *
 * Little-endian. A step without fence events is only its record.
 */
const VERSION = 2;
const [SIZE_AT, EVENTS_AT] = [1, 5] as const;

const packr = new Packr({ useRecords: false, moreTypes: true, useToJSON: false });

/** Returns a record with the fence events of its step. */
export function withFenceEvents(record: Uint8Array, events: readonly FenceEventJson[]): Uint8Array {
  if (events.length === 0) return record;
  const packed = packr.pack(events);
  const bytes = Buffer.alloc(EVENTS_AT + packed.length + record.length);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32LE(packed.length, SIZE_AT);
  bytes.set(packed, EVENTS_AT);
  bytes.set(record, EVENTS_AT + packed.length);
  return bytes;
}

/**
 * Returns a record without the fence events before it, and these; undefined if missing or unreadable.
 */
export function fenceEventsOf(
  bytes: Uint8Array,
): { readonly events: readonly FenceEventJson[]; readonly record: Uint8Array } | undefined {
  if (bytes[0] !== VERSION || bytes.length < EVENTS_AT) return undefined;
  const recordAt = EVENTS_AT + new DataView(bytes.buffer, bytes.byteOffset, EVENTS_AT).getUint32(SIZE_AT, true);
  if (recordAt > bytes.length) return undefined;
  const events: unknown = unpacked(bytes.subarray(EVENTS_AT, recordAt));
  if (!Array.isArray(events) || !events.every(isFenceEvent)) return undefined;
  return { events, record: bytes.subarray(recordAt) };
}

function isFenceEvent(value: unknown): value is FenceEventJson {
  return Array.isArray(value) && value.length === 2 && Array.isArray(value[0]) && typeof value[1] === 'string';
}

function unpacked(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch {
    return undefined;
  }
}
