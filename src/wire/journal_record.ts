import type { FenceEventJson } from '../core/outcome.ts';
import { type Borrowed, lend, look } from '../model/borrowed.ts';
import { type ClockStep, wallClockTime } from '../model/clock_steps.ts';
import { fenceEventsOf } from './fence_events.ts';

/**
 * The records of a hub's journal: what a step has changed, what has left for another hub with a step, and how far the journal
 * is needed. What has left comes before the record of its step, which says no more than that it is elsewhere.
 *
 *      0  u8  version            1  u8 kind, as its index in KINDS
 *      2  f64 of a step the time of day at its end, of a done record the number of the message up to which all is in the
 *             state
 *     10  f64 sequence of the last record of the configuration log of which the shard had been told: by the end of the step,
 *             before the objects left, or by the last step so far
 *     18  u32 bytes of the batch
 *     22  u8 how often the clock of the hub was set back, or the hub stood still
 *     23  for each f64 toMs, f64 byMs (model/clock_steps.ts): by these its running times, as the step has them, mean something to
 *         other hubs; then the batch as it was sent, empty where no location was in it, then the effects (core/effects.ts).
 *         Of what has left: f64 sequence of the record of the configuration log that says so, then the effects. Where an owner
 *         before had let it go, RELAYED comes before the times that its clock was set back: no clock makes such a one, and it
 *         changes no time for whoever does not know it
 *
 * Little-endian. In front of the record of a step there may be its fence events: see fence_events.ts.
 */
const VERSION = 1;
const KINDS = ['step', 'done', 'released'] as const;
const [KIND_AT, NUMBER_AT, CONFIG_AT, BATCH_SIZE_AT, SET_BACKS_AT, HEAD_BYTES] = [1, 2, 10, 18, 22, 23] as const;
const SET_BACK_BYTES = 16;
/** Marks what an owner before had let go: it sets nothing back. */
const RELAYED: ClockStep = { toMs: 0, byMs: 0 };

/** A step that a worker has made: the batch as it was sent, empty where no location was in it, and the effects. */
export interface PackedStep {
  readonly batch: Uint8Array;
  readonly effects: Uint8Array;
  /** Those of the hub that has made it; left out where it is this one. */
  readonly setBacks?: readonly ClockStep[];
  /** See PastStep. */
  readonly except?: readonly string[];
}

export type JournalRecord = RecordedWith &
  (
    | {
        readonly kind: 'step';
        readonly endMs: number;
        readonly step: PackedStep;
        /** Left out where none were kept. */
        readonly fenceEvents?: readonly FenceEventJson[];
      }
    | { readonly kind: 'done'; readonly upTo: number }
    | {
        readonly kind: 'released';
        readonly endMs: number;
        readonly sequence: number;
        /** Whether an owner before had let it go. */
        readonly isRelayed: boolean;
        readonly step: PackedStep;
      }
  );

/** The state of objects that have left for another hub, and the last record of the configuration log that they have met. */
export type ReleasedStep = PackedStep & RecordedWith;

/** What a record says of how it was made. */
export interface RecordedWith {
  readonly config: number;
}

/** A record is none that this version can read. */
export class JournalRecordError extends Error {
  override name = 'JournalRecordError';
}

/** What a step is recorded with. */
export interface RecordedStep extends RecordedWith {
  /** Running time. */
  readonly nowMs: number;
  readonly setBacks: readonly ClockStep[];
  readonly batch: Borrowed;
  readonly effects: Borrowed;
}

/** Packs the record of a step into bytes of its own. */
export function packStep(step: RecordedStep): Uint8Array<ArrayBuffer> {
  return packed('step', step, look(step.batch));
}

/** What has left for another hub with a step. */
export interface RecordedRelease extends Omit<RecordedStep, 'batch'> {
  readonly sequence: number;
}

/** Packs the record of what has left into bytes of its own. */
export function packReleased(released: RecordedRelease): Uint8Array<ArrayBuffer> {
  const sequence = new DataView(new ArrayBuffer(8));
  sequence.setFloat64(0, released.sequence, true);
  return packed('released', released, new Uint8Array(sequence.buffer));
}

/** Packs the record of what has left another hub before, as that one has said it. `endMs`: time of day. */
export function packReleasedAgain({
  sequence,
  endMs,
  config,
  step,
}: Omit<JournalRecord & { kind: 'released' }, 'kind' | 'isRelayed'>): Uint8Array<ArrayBuffer> {
  const { effects, setBacks = [] } = step;
  const aheadMs = setBacks.reduce((sum, { byMs }) => sum + byMs, 0);
  const marked = [RELAYED, ...setBacks];
  return packReleased({ config, sequence, nowMs: endMs + aheadMs, setBacks: marked, effects: lend(effects) });
}

/** `first`: what comes before the effects. */
function packed(
  kind: 'step' | 'released',
  { nowMs, config, setBacks, effects }: Omit<RecordedStep, 'batch'>,
  first: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const effectBytes = look(effects);
  const firstAt = HEAD_BYTES + SET_BACK_BYTES * setBacks.length;
  const size = firstAt + first.length + effectBytes.length;
  const { bytes, view } = begun(kind, wallClockTime(nowMs, setBacks), { config, size });
  view.setUint32(BATCH_SIZE_AT, kind === 'step' ? first.length : 0, true);
  view.setUint8(SET_BACKS_AT, setBacks.length);
  for (const [index, { toMs, byMs }] of setBacks.entries()) {
    view.setFloat64(HEAD_BYTES + SET_BACK_BYTES * index, toMs, true);
    view.setFloat64(HEAD_BYTES + SET_BACK_BYTES * index + 8, byMs, true);
  }
  bytes.set(first, firstAt);
  bytes.set(effectBytes, firstAt + first.length);
  return bytes;
}

/** Packs the record that says: all messages of the journal up to that number are in the state. */
export function packDone(upTo: number, config: number): Uint8Array<ArrayBuffer> {
  return begun('done', upTo, { config, size: HEAD_BYTES }).bytes;
}

/** Reads a record; its step is parts of the bytes. Throws a JournalRecordError. */
export function unpackJournalRecord(bytes: Uint8Array): JournalRecord {
  const told = fenceEventsOf(bytes);
  const record = unpackRecord(told?.record ?? bytes);
  return told !== undefined && record.kind === 'step' ? { ...record, fenceEvents: told.events } : record;
}

function unpackRecord(bytes: Uint8Array): JournalRecord {
  if (bytes.length < HEAD_BYTES) throw new JournalRecordError(`A journal record has ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint8(0);
  if (version !== VERSION) throw new JournalRecordError(`A journal record has version ${version}, not ${VERSION}`);
  const kind = KINDS[view.getUint8(KIND_AT)];
  if (kind === undefined) throw new JournalRecordError(`A journal record has kind ${view.getUint8(KIND_AT)}`);
  const number = view.getFloat64(NUMBER_AT, true);
  const config = view.getFloat64(CONFIG_AT, true);
  if (kind === 'done') return { kind, config, upTo: number };
  const batchAt = HEAD_BYTES + SET_BACK_BYTES * view.getUint8(SET_BACKS_AT);
  const batchEnd = batchAt + view.getUint32(BATCH_SIZE_AT, true);
  const effectsAt = batchEnd + (kind === 'released' ? 8 : 0);
  if (effectsAt > bytes.length) throw new JournalRecordError(`A journal record ends before its effects`);
  const setBacks = Array.from({ length: view.getUint8(SET_BACKS_AT) }, (_, index): ClockStep => {
    const at = HEAD_BYTES + SET_BACK_BYTES * index;
    return { toMs: view.getFloat64(at, true), byMs: view.getFloat64(at + 8, true) };
  });
  const isRelayed = kind === 'released' && setBacks[0]?.byMs === RELAYED.byMs;
  if (isRelayed) setBacks.shift();
  const step = { batch: bytes.subarray(batchAt, batchEnd), effects: bytes.subarray(effectsAt), setBacks };
  if (kind === 'step') return { kind, config, endMs: number, step };
  return { kind, config, endMs: number, sequence: view.getFloat64(batchEnd, true), isRelayed, step };
}

function begun(
  kind: JournalRecord['kind'],
  number: number,
  { config, size }: RecordedWith & { readonly size: number },
) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(KIND_AT, KINDS.indexOf(kind));
  view.setFloat64(NUMBER_AT, number, true);
  view.setFloat64(CONFIG_AT, config, true);
  return { bytes, view };
}
