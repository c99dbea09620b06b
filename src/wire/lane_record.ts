import { type Borrowed, look } from '../model/borrowed.ts';

/**
 * The records of a lane's journal: what a step has changed, and how far the journal is needed.
 *
 *      0  u8  version            1  u8 kind, as its index in KINDS
 *      2  f64 of a step its order, of a done record the number of the message up to which all is in the state
 *     10  f64 of a step the running time at its end        18  u32 bytes of the batch
 *     22  the batch as it was sent, empty where no location was in it, then the effects (core/effects.ts)
 *
 * Little-endian. Steps of several lanes of a hub are replayed in their order: that of a step is the number of the last item
 * that its lane has done, so whatever goes from lane to lane arrives in a later one.
 */
const VERSION = 1;
const KINDS = ['step', 'done'] as const;
const [KIND_AT, ORDER_AT, NOW_AT, BATCH_SIZE_AT, HEAD_BYTES] = [1, 2, 10, 18, 22] as const;

/** A step that a worker has made: the batch as it was sent, empty where no location was in it, and the effects. */
export interface PackedStep {
  readonly batch: Uint8Array;
  readonly effects: Uint8Array;
}

export type LaneRecord =
  | { readonly kind: 'step'; readonly order: number; readonly nowMs: number; readonly step: PackedStep }
  | { readonly kind: 'done'; readonly upTo: number };

/** A record is none that this version can read. */
export class LaneRecordError extends Error {
  override name = 'LaneRecordError';
}

/** What a step is recorded with. */
export interface RecordedStep {
  readonly order: number;
  /** Running time. */
  readonly nowMs: number;
  readonly batch: Borrowed;
  readonly effects: Borrowed;
}

/** Packs the record of a step into bytes of its own. */
export function packStep({ order, nowMs, batch, effects }: RecordedStep): Uint8Array<ArrayBuffer> {
  const [batchBytes, effectBytes] = [look(batch), look(effects)];
  const { bytes, view } = begun('step', order, HEAD_BYTES + batchBytes.length + effectBytes.length);
  view.setFloat64(NOW_AT, nowMs, true);
  view.setUint32(BATCH_SIZE_AT, batchBytes.length, true);
  bytes.set(batchBytes, HEAD_BYTES);
  bytes.set(effectBytes, HEAD_BYTES + batchBytes.length);
  return bytes;
}

/** Packs the record that says: all messages of the lane up to that number are in the state. */
export function packDone(upTo: number): Uint8Array<ArrayBuffer> {
  return begun('done', upTo, HEAD_BYTES).bytes;
}

/** Reads a record; its step is parts of the bytes. Throws a LaneRecordError. */
export function unpackLaneRecord(bytes: Uint8Array): LaneRecord {
  if (bytes.length < HEAD_BYTES) throw new LaneRecordError(`A lane record has ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint8(0);
  if (version !== VERSION) throw new LaneRecordError(`A lane record has version ${version}, not ${VERSION}`);
  const kind = KINDS[view.getUint8(KIND_AT)];
  if (kind === undefined) throw new LaneRecordError(`A lane record has kind ${view.getUint8(KIND_AT)}`);
  const order = view.getFloat64(ORDER_AT, true);
  if (kind === 'done') return { kind, upTo: order };
  const batchEnd = HEAD_BYTES + view.getUint32(BATCH_SIZE_AT, true);
  if (batchEnd > bytes.length) throw new LaneRecordError(`The lane record of order ${order} ends within its batch`);
  const step = { batch: bytes.subarray(HEAD_BYTES, batchEnd), effects: bytes.subarray(batchEnd) };
  return { kind, order, nowMs: view.getFloat64(NOW_AT, true), step };
}

function begun(kind: LaneRecord['kind'], order: number, size: number) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(KIND_AT, KINDS.indexOf(kind));
  view.setFloat64(ORDER_AT, order, true);
  return { bytes, view };
}
