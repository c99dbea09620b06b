import type { ErrorReason } from '../reasons.ts';
import { addExtension, Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Restoration } from '../core/collision/restore.ts';
import type { CollisionOutcome } from '../core/collision/stage.ts';
import { CompactPolygon } from '../core/fence/compact_polygon.ts';
import type { Item, PastStep } from '../core/item.ts';
import type { ReceivedLocation } from '../core/location/received.ts';
import type { Motion } from '../core/motion/motion.ts';
import type { Outcome, StepCounts } from '../core/outcome.ts';
import type { HistoryRecording } from '../core/history_rows.ts';
import { PackedRows } from '../core/row_bytes.ts';
import type { StepBatch } from '../core/shard.ts';
import type { CrossingSettings } from '../core/state.ts';
import type { FilterDefaults } from '../core/tracking/filter_settings.ts';
import { type Borrowed, copied, lend, look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { Fence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';
import { ExactNumber } from '../model/lossless_numbers.ts';
import type { ClockStep } from '../model/clock_steps.ts';
import type { Variant } from '../model/topics.ts';
import type { Zone } from '../model/zone.ts';
import type { PackedStep, RecordedWith } from './journal_record.ts';
import { type Adoption, asBuffer, type LaneItem, packedRuns, unpackedRuns } from './location_record.ts';

/**
 * Messages between the main thread and its workers: one msgpack message in each direction per batch. The main thread
 * forwards motions to the collision worker without unpacking them.
 */

/** Start parameters of a shard worker. */
export interface ShardSettings {
  readonly collisionsByDefault: boolean;
  readonly providerInTrackableEvents: boolean;
  readonly detachedStay: boolean;
  readonly parentsMax: number;
  /** See ShardOptions. */
  readonly crossing?: CrossingSettings | undefined;
  readonly filters?: FilterDefaults | undefined;
  /** See ShardOptions. */
  readonly recorded?: HistoryRecording | undefined;
  /** Whether to start without warm_shard.ts, so that many short-lived hubs start in two thirds of the time. */
  readonly isCold?: boolean;
}

/** A geometry to check. */
export type ShapeRequest =
  | { readonly kind: 'region'; readonly fence: Omit<Fence, 'region'>; readonly polygon: FlatPolygon }
  | { readonly kind: 'polygon'; readonly polygon: FlatPolygon; readonly path: string };

/**
 * A polygon as the number of positions of each ring and x, y, x, y … of all rings, which packs twenty times as fast.
 */
export interface FlatPolygon {
  readonly ringLengths: Uint32Array;
  readonly positions: Float64Array;
}

export interface ShapeReply {
  readonly problem: ErrorReason | undefined;
}

/** A batch for a shard, with lane items or plain items. */
export interface LaneBatch extends Omit<StepBatch, 'items'> {
  readonly items: readonly (Item | LaneItem)[];
  /** Context of the step's record for other hubs (journal_record.ts); absent if steps are not recorded. */
  readonly recordedWith?: RecordedWith;
}

/** Packed Motion[] of one shard. */
export interface PackedMotions {
  readonly packed: Borrowed;
  /** Number of the item that caused the last motion. */
  readonly lastSeq: number;
}

/** A shard's answer to a batch: its outcome, with events as bytes and the motions packed separately. */
export interface ShardReply {
  readonly outcome: Omit<Outcome, 'motions' | 'events' | 'fenceEvents' | 'released'>;
  readonly events: readonly EventBatch[];
  /** Undefined without motions. */
  readonly motions: PackedMotions | undefined;
  /** Record of the step (journal_record.ts), compressed, if steps are recorded and something has changed. */
  readonly record?: Borrowed;
  /** State released to another hub with the step. Must be committed before the step's record. */
  readonly released?: readonly ReleasedRecord[];
  /** Sequence of the last record of the shared log that the shard has applied; 0 for none. */
  readonly config?: number;
  /** Number of the step in its shard. */
  readonly step?: number;
}

/** State of released objects. */
export interface ReleasedRecord {
  /** Id of the release item. */
  readonly id: number;
  /** Record of kind `released` (journal_record.ts), compressed; undefined if none of the objects had a position. */
  readonly record: Borrowed | undefined;
}

/** Input to restore a collision stage that does not have the colliding pairs. */
export interface CollisionRestore extends Pick<Restoration, 'rows' | 'held' | 'gone' | 'heldMs' | 'publishedStep'> {
  /** Number of the first item whose motions the previous worker has not finished. */
  readonly fromSeq: number;
  /** Last motions that the previous worker has finished, packed. */
  readonly done: readonly Uint8Array[];
  /** The same for motions of other hubs. */
  readonly others?: readonly RemoteRestore[] | undefined;
}

export interface RemoteRestore extends Pick<CollisionRestore, 'fromSeq' | 'done'> {
  readonly hub: string;
}

/** Input of another hub. */
export interface RemoteHubMotions {
  readonly hub: string;
  readonly motions: readonly Uint8Array[];
  /** Number of that hub's earliest item that may still produce motions. */
  readonly watermark: number;
  /** All further motions were received at this time or later. */
  readonly passedMs: number;
  /** Clock steps that convert the hub's monotonic time to wall-clock time. */
  readonly clockSteps: readonly ClockStep[];
  /** Whether the hub has reported the positions of all its trackables as requested. */
  readonly isStood: boolean;
  /** Milliseconds by which the hub's clock lags, if it is wrong. */
  readonly behindMs: number;
}

/** Input of several hubs in a batch. */
export interface SeveralHubs {
  /** Id of this hub. */
  readonly self: string;
  /** Time that all hubs have passed; Infinity for a single hub. */
  readonly untilMs: number;
  /** Current time. Nothing was received later. */
  readonly clockMs: number;
  readonly hubs: readonly RemoteHubMotions[];
  /** Hubs that have left. */
  readonly gone: readonly string[];
}

/** A batch for the collision worker: motions of shards, still packed, and context. */
export interface CollisionBatch {
  /** Current time, or the time of receipt of the earliest unfinished item. */
  readonly nowMs: number;
  readonly motions: readonly Uint8Array[];
  /** Number of the earliest unfinished item: no shard will produce an earlier motion. */
  readonly watermark: number;
  readonly variants: readonly Variant[] | undefined;
  /** See CollisionInput. */
  readonly clockSteps: readonly ClockStep[] | undefined;
  /** See CollisionInput. */
  readonly isShared: boolean;
  readonly step: number;
  /** State for a stage that does not have the colliding pairs. */
  readonly restore: CollisionRestore | undefined;
  /** Changed zones, for views in their coordinates. */
  readonly zones: readonly (readonly [id: string, zone: Zone | undefined])[];
  /** Input of other hubs; absent for a single hub. */
  readonly others?: SeveralHubs | undefined;
}

/** The collision worker's answer. */
export interface CollisionReply extends CollisionOutcome {
  /** Number of motions that wait for slower shards or other hubs. */
  readonly waiting: number;
  /** For each hub, the number of the first item whose motions are not finished. */
  readonly finished?:
    | { readonly own: number; readonly others: readonly (readonly [hub: string, to: number])[] }
    | undefined;
}

/** Motions that the stage has evaluated. */
export interface EvaluatedMotions {
  /** Number of the last step that evaluated motions. */
  readonly step: number;
  /** For each other hub, the number of the first item whose motions are not evaluated. */
  readonly others: readonly (readonly [hub: string, item: number])[];
}

// Clients choose the member names in `properties`, so a member toJSON must not be called as a function.
const packr = new Packr({ moreTypes: true, useToJSON: false });

addExtension({
  Class: ExactNumber,
  type: 1,
  write: (number: ExactNumber) => number.text,
  read: (text: string) => new ExactNumber(text),
});

addExtension({
  Class: CompactPolygon as new (...values: never[]) => CompactPolygon,
  type: 2,
  write: ({ rings, size }: CompactPolygon) => [size, rings],
  read: ([size, rings]: [number, readonly Float64Array[]]) => new CompactPolygon(rings, size),
});

addExtension({
  Class: PackedRows as new (...values: never[]) => PackedRows,
  type: 3,
  write: ({ bytes, count }: PackedRows) => [count, look(bytes)],
  read: ([count, { buffer, byteOffset, byteLength: size }]: [number, Uint8Array]) => {
    const bytes = { bytes: Buffer.from(buffer, byteOffset, size), view: new DataView(buffer, byteOffset, size) };
    return new PackedRows(bytes, { size, count });
  },
});

/** Members of a reply in transit, without names: msgpack would repeat these in each message. */
type ReplyValues = ReturnType<typeof valuesOf>;

type Packed = ReplyValues | CollisionBatch | CollisionReply | ShapeRequest | ShapeReply;

/**
 * Packs a value into bytes that are valid until the next call. New memory for each batch would trigger full garbage
 * collections.
 */
export function packForNow(value: Packed): Borrowed {
  return lend(packr.pack(value, RESET_BUFFER_MODE));
}

/** Packs a value into its own bytes, which can be transferred to another thread without a copy. */
export function pack(value: Packed): Uint8Array {
  return copied(packForNow(value));
}

/** Packs an answer into shared memory and returns its length; if it does not fit, returns its own bytes. */
export function packInto(area: Uint8Array, reply: ShardReply): number | Uint8Array {
  const packed = look(packForNow(valuesOf(reply)));
  if (packed.length > area.length) return new Uint8Array(packed);
  area.set(packed);
  return packed.length;
}

/** Packs a batch for a shard into bytes that are valid until the next call. */
// hot: a rest element would copy the batch member by member
export function packBatch(batch: LaneBatch): Borrowed {
  return lend(packr.pack({ ...batch, items: packedRuns(batch.items) }, RESET_BUFFER_MODE));
}

export function unpackBatch(bytes: Borrowed): StepBatch & Pick<LaneBatch, 'recordedWith'> {
  const batch = packr.unpack(look(bytes));
  return { ...batch, items: unpackedItems(unpackedRuns(batch.items)) };
}

/** Splits adoptions into items of the core. hot: most batches contain none and are returned unchanged. */
function unpackedItems(items: (Item | Adoption)[]): readonly Item[] {
  if (items.every((item): item is Item => item.kind !== 'adopt')) return items;
  return items.flatMap((item) => (item.kind === 'adopt' ? adopted(item) : [item]));
}

function adopted({ seq, receivedMs, rows, steps: packed, suppressUntilMs, takenOver }: Adoption): Item[] {
  const steps = packed.map(pastStep);
  if (takenOver !== undefined) {
    return [{ kind: 'takeOver', seq, receivedMs, rows, steps, heldUntilMs: suppressUntilMs, ...takenOver }];
  }
  // No deadline may be due before the state is restored, so these items are received before all others.
  const before = { seq: 0, receivedMs: 0 };
  return [
    { ...before, kind: 'restore', rows, suppressUntilMs, withTimers: true },
    { ...before, kind: 'replay', steps },
  ];
}

function pastStep(step: PackedStep): PastStep {
  const { effects, clockSteps, except } = step;
  return { locations: locationsIn(step), effects: asBuffer(effects), clockSteps, except };
}

/** Returns the locations of a step. */
export function locationsIn({ batch }: Pick<PackedStep, 'batch'>): readonly ReceivedLocation[] {
  const items = batch.length === 0 ? [] : unpackBatch(lend(batch)).items;
  return items.filter((item) => item.kind === 'location');
}

export function unpackShardReply(bytes: Borrowed): ShardReply {
  return replyOf(packr.unpack(look(bytes)) as ReplyValues);
}

// hot
function valuesOf({ outcome, events, motions, record, released }: ShardReply) {
  const { counts, nextDeadlineMs, dirtyCount, effects, rows, backgroundRows, positions, zoneMoves, answers } = outcome;
  const { processed, outdated, rejected, outliers, entries, exits, motions: moved } = counts;
  return [
    [processed, outdated, rejected, outliers, entries, exits, moved],
    [nextDeadlineMs, dirtyCount, effects, rows, backgroundRows, positions, zoneMoves, answers],
    events.map((each) => [each.variant, each.bytes, each.ends, each.fields, each.positions] as const),
    motions,
    record,
    released,
  ] as const;
}

// hot
function replyOf([counted, ofStep, batches, motions, record, released]: ReplyValues): ShardReply {
  const [processed, outdated, rejected, outliers, entries, exits, moved] = counted;
  const [nextDeadlineMs, dirtyCount, effects, rows, backgroundRows, positions, zoneMoves, answers] = ofStep;
  const counts = { processed, outdated, rejected, outliers, entries, exits, motions: moved } as StepCounts;
  const outcome = { rows, backgroundRows, effects, dirtyCount, answers, zoneMoves, counts, nextDeadlineMs };
  return {
    outcome: positions === undefined ? outcome : { ...outcome, positions },
    events: batches.map(eventBatchOf),
    motions,
    ...(record && { record }),
    ...(released && { released }),
  };
}

function eventBatchOf([variant, bytes, ends, fields, positions]: ReplyValues[2][number]): EventBatch {
  const batch = { variant, bytes, ends, fields };
  return positions === undefined ? batch : { ...batch, positions };
}

/** Unpacks what `packMotions` has packed. */
export function unpackMotions(bytes: Uint8Array): Motion[] {
  return packr.unpack(bytes) as Motion[];
}

export function unpackCollisionBatch(bytes: Borrowed): CollisionBatch {
  return packr.unpack(look(bytes)) as CollisionBatch;
}

export function unpackCollisionReply(bytes: Borrowed): CollisionReply {
  return packr.unpack(look(bytes)) as CollisionReply;
}

/** Returns a polygon with only x and y of its positions, since the checks ignore z. */
export function flattenPolygon({ coordinates }: Polygon): FlatPolygon {
  const ringLengths = Uint32Array.from(coordinates, (ring) => ring.length);
  const positions = new Float64Array(2 * ringLengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const ring of coordinates) {
    for (let i = 0; i < ring.length; i++) {
      const position = ring[i] as readonly number[];
      positions[at++] = position[0] as number;
      positions[at++] = position[1] as number;
    }
  }
  return { ringLengths, positions };
}

function toPolygon({ ringLengths, positions }: FlatPolygon): Polygon {
  let at = 0;
  const coordinates = Array.from(ringLengths, (length) =>
    Array.from({ length }, () => [positions[at++] as number, positions[at++] as number]),
  );
  return { type: 'Polygon', coordinates };
}

/** Packs a check request. */
export function packShape(asked: ShapeRequest): Uint8Array {
  return pack(asked);
}

/** Returns the arguments of ShapeChecks: a fence with its region, or a polygon and its path. */
export function unpackShape(
  bytes: Uint8Array,
): { readonly fence: Fence } | { readonly polygon: Polygon; path: string } {
  const asked = packr.unpack(bytes) as ShapeRequest;
  const polygon = toPolygon(asked.polygon);
  return asked.kind === 'region' ? { fence: { ...asked.fence, region: polygon } } : { polygon, path: asked.path };
}

export function unpackShapeReply(bytes: Borrowed): ShapeReply {
  return packr.unpack(look(bytes)) as ShapeReply;
}
