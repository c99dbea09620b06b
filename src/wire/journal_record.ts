import { Packr } from 'msgpackr';
import { CLOCK_STEP, JOURNAL_RECORD } from '../core/encoding/layouts.ts';
import { type Borrowed, look } from '../model/borrowed.ts';
import { type ClockStep, wallClockTime } from '../model/clock_steps.ts';
import { fenceEventsOf, type RecordedFenceEvent } from './fence_events.ts';

/**
 * Records of a hub's journal. A step record contains the changes of a step; a released record contains state released
 * to another hub with a step; a done record states which part of the journal is no longer needed. A released record
 * precedes the record of its step, in which the objects are only marked as elsewhere. A delivered record states that each
 * hub has delivered the events that precede the released state.
 *
 *     JOURNAL_RECORD
 *       `kind`: its index in KINDS
 *       `number`: for a step the wall-clock time of its end, for a done record the number of the message up to which the
 *         state contains everything; for a delivered record the sequence of the record in the configuration log
 *       `config`: sequence of the last record of the configuration log that the shard has applied: by the end of the
 *         step, before the objects left, or by the last step so far
 *       `clockSteps`: number of clock steps and suspensions of the hub
 *     for each of these CLOCK_STEP (model/clock_steps.ts), which convert the step's monotonic times for other hubs
 *     for a step the batch as sent, empty if it had no location, then the effects (core/effects.ts)
 *     for released state: f64 sequence of its record in the configuration log, then the effects
 *     for a done record: msgpack of [ingress hub, number] of each request whose locations are all journaled
 *
 * Fence events may precede the record of a step: see fence_events.ts.
 */
const VERSION = 1;
const KINDS = ['step', 'done', 'released', 'delivered'] as const;
const HEAD_BYTES = JOURNAL_RECORD.bytes;
/** A request with locations, received by an ingress hub. */
export interface NumberedRequest {
  /** Member id of the ingress hub. */
  readonly ingress: string;
  readonly number: number;
}

const packr = new Packr({ useRecords: false, useToJSON: false });

/** A step of a worker: the batch as sent, empty if it had no locations, and the effects. */
export interface PackedStep {
  readonly batch: Uint8Array;
  readonly effects: Uint8Array;
  /** Clock steps of the hub that made the step; absent for this hub. */
  readonly clockSteps?: readonly ClockStep[];
  /** See PastStep. */
  readonly except?: readonly string[];
}

export type JournalRecord = RecordedWith &
  (
    | {
        readonly kind: 'step';
        readonly endMs: number;
        readonly step: PackedStep;
        /** Absent if the step had none. */
        readonly fenceEvents?: readonly RecordedFenceEvent[];
      }
    | { readonly kind: 'done'; readonly upTo: number; readonly requests: readonly NumberedRequest[] }
    | { readonly kind: 'delivered'; readonly sequence: number }
    | {
        readonly kind: 'released';
        readonly endMs: number;
        readonly sequence: number;
        readonly step: PackedStep;
      }
  );

/** Context of a record. */
export interface RecordedWith {
  readonly config: number;
}

/** Thrown for a record that is invalid or of an unsupported version. */
export class JournalRecordError extends Error {
  override name = 'JournalRecordError';
}

/** Values of a step record. */
export interface RecordedStep extends RecordedWith {
  /** Monotonic time. */
  readonly nowMs: number;
  readonly clockSteps: readonly ClockStep[];
  readonly batch: Borrowed;
  readonly effects: Borrowed;
}

/** Packs the record of a step into its own bytes. */
export function packStep(step: RecordedStep): Uint8Array<ArrayBuffer> {
  return packed('step', step, look(step.batch));
}

/** State released to another hub with a step. */
export interface RecordedRelease extends Omit<RecordedStep, 'batch'> {
  readonly sequence: number;
}

/** Packs the record of released state into its own bytes. */
export function packReleased(released: RecordedRelease): Uint8Array<ArrayBuffer> {
  const sequence = new DataView(new ArrayBuffer(8));
  sequence.setFloat64(0, released.sequence, true);
  return packed('released', released, new Uint8Array(sequence.buffer));
}

/** Packs a record. `first` are the bytes before the effects. */
function packed(
  kind: 'step' | 'released',
  { nowMs, config, clockSteps, effects }: Omit<RecordedStep, 'batch'>,
  first: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const effectBytes = look(effects);
  const firstAt = HEAD_BYTES + CLOCK_STEP.bytes * clockSteps.length;
  const size = firstAt + first.length + effectBytes.length;
  const batchBytes = kind === 'step' ? first.length : 0;
  const number = wallClockTime(nowMs, clockSteps);
  const { bytes, view } = begun(kind, size, { number, config, batchBytes, clockSteps: clockSteps.length });
  for (const [i, clockStep] of clockSteps.entries())
    CLOCK_STEP.write({ view }, HEAD_BYTES + CLOCK_STEP.bytes * i, clockStep);
  bytes.set(first, firstAt);
  bytes.set(effectBytes, firstAt + first.length);
  return bytes;
}

/** Values of a done record. */
export interface RecordedDone extends RecordedWith {
  /** The state contains all messages of the journal up to this one. */
  readonly upTo: number;
  /** Requests whose locations are all journaled. */
  readonly requests: readonly NumberedRequest[];
}

/** Packs a done record into its own bytes. */
export function packDone({ upTo, config, requests }: RecordedDone): Uint8Array<ArrayBuffer> {
  const rows = packr.pack(requests.map(({ ingress, number }) => [ingress, number]));
  const { bytes } = begun('done', HEAD_BYTES + rows.length, { number: upTo, config, batchBytes: 0, clockSteps: 0 });
  bytes.set(rows, HEAD_BYTES);
  return bytes;
}

/** Packs a delivered record about the objects that were released because of the record with that sequence. */
export function packDelivered(sequence: number): Uint8Array<ArrayBuffer> {
  return begun('delivered', HEAD_BYTES, { number: sequence, config: 0, batchBytes: 0, clockSteps: 0 }).bytes;
}

function readRequests(bytes: Uint8Array): readonly NumberedRequest[] {
  const rows: unknown = packr.unpack(bytes);
  const isRow = (row: unknown): row is [string, number] =>
    Array.isArray(row) && typeof row[0] === 'string' && typeof row[1] === 'number';
  if (!Array.isArray(rows) || !rows.every(isRow))
    throw new JournalRecordError('A journal record has malformed requests');
  return rows.map(([ingress, number]) => ({ ingress, number }));
}

/** Size from which a record is compressed. Below it, compressing takes more CPU time than storing the record as it is. */
const COMPRESSED_FROM_BYTES = 16_384;
/** First byte of a frame of zstd, unlike that of a record or of fence events: https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1 */
const FRAME_BEGIN = 0x28;

/** Returns the form in which a record is stored: a large one compressed by `compress`, which makes a frame of zstd. */
export function storedRecord(record: Uint8Array, compress: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  return record.length < COMPRESSED_FROM_BYTES ? record : compress(record);
}

/** Reads a stored record. `decompress`: of a frame of zstd. Throws a JournalRecordError. */
export function readStoredRecord(stored: Uint8Array, decompress: (bytes: Uint8Array) => Uint8Array): JournalRecord {
  return unpackJournalRecord(stored[0] === FRAME_BEGIN ? decompress(stored) : stored);
}

/** Reads a record. The step refers to the given bytes without copying them. Throws a JournalRecordError. */
export function unpackJournalRecord(bytes: Uint8Array): JournalRecord {
  const extended = fenceEventsOf(bytes);
  const record = unpackRecord(extended?.record ?? bytes);
  return extended !== undefined && record.kind === 'step' ? { ...record, fenceEvents: extended.events } : record;
}

function unpackRecord(bytes: Uint8Array): JournalRecord {
  if (bytes.length < HEAD_BYTES) throw new JournalRecordError(`A journal record has ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = JOURNAL_RECORD.read({ view }, 0);
  const { version, number, config } = head;
  if (version !== VERSION) throw new JournalRecordError(`A journal record has version ${version}, not ${VERSION}`);
  const kind = KINDS[head.kind];
  if (kind === undefined) throw new JournalRecordError(`A journal record has kind ${head.kind}`);
  if (kind === 'delivered') return { kind, config, sequence: number };
  if (kind === 'done') return { kind, config, upTo: number, requests: readRequests(bytes.subarray(HEAD_BYTES)) };
  const batchAt = HEAD_BYTES + CLOCK_STEP.bytes * head.clockSteps;
  const batchEnd = batchAt + head.batchBytes;
  const effectsAt = batchEnd + (kind === 'released' ? 8 : 0);
  if (effectsAt > bytes.length) throw new JournalRecordError(`A journal record ends before its effects`);
  const clockSteps: ClockStep[] = Array.from({ length: head.clockSteps }, (_, i) => {
    return CLOCK_STEP.read({ view }, HEAD_BYTES + CLOCK_STEP.bytes * i);
  });
  const step = { batch: bytes.subarray(batchAt, batchEnd), effects: bytes.subarray(effectsAt), clockSteps };
  if (kind === 'step') return { kind, config, endMs: number, step };
  return { kind, config, endMs: number, sequence: view.getFloat64(batchEnd, true), step };
}

function begun(
  kind: JournalRecord['kind'],
  size: number,
  head: Omit<Parameters<typeof JOURNAL_RECORD.write>[2], 'version' | 'kind'>,
) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  JOURNAL_RECORD.write({ view }, 0, { version: VERSION, kind: KINDS.indexOf(kind), ...head });
  return { bytes, view };
}
