import { Packr } from 'msgpackr';
import type { FenceEventJson } from '../core/outcome.ts';
import type { StepPosition } from '../model/event_batch.ts';

/**
 * Encoding of fence events. They precede the record of their step in the same message (journal_record.ts), so that both
 * are stored atomically. A hub that takes over publishes the events that some subscribers may not have received,
 * because the owner failed before.
 *
 *      0  u8 version, different from that of a record     1  u32 bytes of the events
 *      5  the events in msgpack, then the record
 *
 * Little-endian. The events are [shard, step, [[fields, JSON] for each]], or [[row for each]] with the rows of
 * `rowOf`. A step without fence events is only its record.
 *
 * A fence event is identified by its member and its position: the shard, the number of the step, and the index among
 * the fence events of the step. A member journals and publishes the fence events of a shard in the order of their
 * positions.
 */
const VERSION = 3;
const [SIZE_AT, EVENTS_AT] = [1, 5] as const;

/** Position of a fence event at the member that produced it. */
export interface FenceEventPosition extends StepPosition {
  readonly index: number;
}

/** A fence event in a journal. */
export interface RecordedFenceEvent extends FenceEventPosition {
  readonly event: FenceEventJson;
  /** Member that produced the event; undefined for the owner of the journal. */
  readonly of: string | undefined;
  /** Wall-clock time at that member; undefined if it is the end of the step. */
  readonly recordedMs: number | undefined;
}

/** A fence event of a failed member. */
export interface FailedFenceEvent extends RecordedFenceEvent {
  readonly of: string;
  readonly recordedMs: number;
}

/** The fence events of a step, in order. */
export interface FenceEventsOfStep extends StepPosition {
  readonly events: readonly FenceEventJson[];
}

const packr = new Packr({ useRecords: false, moreTypes: true, useToJSON: false });

/** Returns a record with the fence events of its step. */
export function withFenceEvents(record: Uint8Array, { shard, step, events }: FenceEventsOfStep): Uint8Array {
  return events.length === 0 ? record : prefixed(record, [shard, step, events]);
}

/** Returns a record with fence events of failed members. */
export function withFailedFenceEvents(record: Uint8Array, events: readonly FailedFenceEvent[]): Uint8Array {
  return prefixed(record, [events.map(rowOf)]);
}

function prefixed(record: Uint8Array, events: readonly unknown[]): Uint8Array {
  const packed = packr.pack(events);
  const bytes = Buffer.alloc(EVENTS_AT + packed.length + record.length);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32LE(packed.length, SIZE_AT);
  bytes.set(packed, EVENTS_AT);
  bytes.set(record, EVENTS_AT + packed.length);
  return bytes;
}

/** Splits a message into its record and the fence events before it; undefined if they are missing or unreadable. */
export function fenceEventsOf(
  bytes: Uint8Array,
): { readonly events: readonly RecordedFenceEvent[]; readonly record: Uint8Array } | undefined {
  if (bytes[0] !== VERSION || bytes.length < EVENTS_AT) return undefined;
  const recordAt = EVENTS_AT + new DataView(bytes.buffer, bytes.byteOffset, EVENTS_AT).getUint32(SIZE_AT, true);
  if (recordAt > bytes.length) return undefined;
  const events = readEvents(unpacked(bytes.subarray(EVENTS_AT, recordAt)));
  return events && { events, record: bytes.subarray(recordAt) };
}

function readEvents(value: unknown): readonly RecordedFenceEvent[] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.length === 1) return readRows(value[0]);
  const [shard, step, events] = value;
  if (!isCount(shard) || !isCount(step) || !Array.isArray(events) || !events.every(isFenceEvent)) return undefined;
  return events.map((event, index) => ({ event, shard, step, index, of: undefined, recordedMs: undefined }));
}

/** Returns the row of a failed member's fence event: fields, JSON, time, member, shard, step, index. */
export function rowOf({ event: [fields, text], recordedMs, of, shard, step, index }: FailedFenceEvent): unknown[] {
  return [fields, text, recordedMs, of, shard, step, index];
}

/** Reads rows of rowOf; undefined if they are malformed. JSON converts undefined fields to null. */
export function readRows(rows: unknown): readonly FailedFenceEvent[] | undefined {
  if (!Array.isArray(rows) || !rows.every(isRow)) return undefined;
  return rows.map(([fields, text, recordedMs, of, shard, step, index]) => {
    const event: FenceEventJson = [fields.map((field) => field ?? undefined), text];
    return { event, recordedMs, of, shard, step, index };
  });
}

type Row = [...FenceEventJson, recordedMs: number, of: string, shard: number, step: number, index: number];

function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length !== 7 || !isFenceEvent(row.slice(0, 2))) return false;
  const [, , recordedMs, of, ...position] = row;
  return typeof recordedMs === 'number' && typeof of === 'string' && position.every(isCount);
}

function isFenceEvent(value: unknown): value is FenceEventJson {
  return Array.isArray(value) && value.length === 2 && Array.isArray(value[0]) && typeof value[1] === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function unpacked(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch {
    return undefined;
  }
}
