import { Packr } from 'msgpackr';
import type { FenceEventJson } from '../core/outcome.ts';

/**
 * Fence events in front of the record of their step (journal_record.ts), so that they are kept with it or not at all. Who takes
 * over tells of them again, since their owner may have had no time to.
 *
 *      0  u8 version, which is none of a record     1  u32 bytes of the events
 *      5  the events in msgpack, then the record
 *
 * Little-endian. A step without fence events is its record alone.
 */
const VERSION = 2;
const [SIZE_AT, EVENTS_AT] = [1, 5] as const;

const packr = new Packr({ useRecords: false, moreTypes: true, useToJSON: false });

/** A record with the fence events of its step. */
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

/** A record by itself and the fence events in front of it; undefined where there are none that can be read. */
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
