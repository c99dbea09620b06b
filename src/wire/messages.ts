import { addExtension, Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Restoration } from '../core/collision/restore.ts';
import type { CollisionOutcome } from '../core/collision/stage.ts';
import { CompactPolygon } from '../core/fence/compact_polygon.ts';
import type { Item, PastStep } from '../core/item.ts';
import type { ReceivedLocation } from '../core/location/received.ts';
import type { Motion } from '../core/motion/motion.ts';
import type { Outcome } from '../core/outcome.ts';
import type { HistoryRecording } from '../core/history_rows.ts';
import { PackedRows } from '../core/row_bytes.ts';
import type { StepBatch } from '../core/shard.ts';
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
 * What crosses between the front thread and its workers: one msgpack text each way per batch. Motions stay packed on
 * their way through the front thread, which only hands them on to the collision worker.
 */

/** What a shard worker is started with. */
export interface ShardSettings {
  readonly collisionsByDefault: boolean;
  readonly providerInTrackableEvents: boolean;
  readonly detachedStay: boolean;
  readonly parentsMax: number;
  /** See ShardOptions. */
  readonly recorded?: HistoryRecording | undefined;
  /** Whether it starts without warm_shard.ts: many hubs that live for moments start in two thirds of the time. */
  readonly isCold?: boolean;
}

/** A geometry that is to be checked, and what is wrong with it. */
export type AskedShape =
  | { readonly kind: 'region'; readonly fence: Omit<Fence, 'region'>; readonly polygon: FlatPolygon }
  | { readonly kind: 'polygon'; readonly polygon: FlatPolygon; readonly path: string };

/** How many positions each ring has, and x, y, x, y … of one ring after the other: packed twenty times as fast. */
export interface FlatPolygon {
  readonly ringLengths: Uint32Array;
  readonly positions: Float64Array;
}

export interface ShapeReply {
  readonly problem: string | undefined;
}

/** A batch on its way to a shard: items as they wait in its lane, or plain ones. */
export interface LaneBatch extends Omit<StepBatch, 'items'> {
  readonly items: readonly (Item | LaneItem)[];
  /** Where the step is to be recorded for other hubs: what its record says besides, see journal_record.ts. */
  readonly recordedWith?: RecordedWith & {
    /** Whether the record has the fence events of the step as well: hubs of before protocol 2 cannot read such. */
    readonly tells?: boolean;
  };
}

/** Packed Motion[] of one shard. */
export interface PackedMotions {
  readonly packed: Borrowed;
  /** Number of the item that caused the last of them. */
  readonly lastSeq: number;
}

/** A shard's answer to a batch: its outcome, with events as bytes and the motions packed by themselves. */
export interface ShardReply {
  readonly outcome: Omit<Outcome, 'motions' | 'events' | 'fenceEvents' | 'released'>;
  readonly events: readonly EventBatch[];
  /** Undefined when nothing moved. */
  readonly motions: PackedMotions | undefined;
  /** Where the step is recorded, and has changed anything: its record (journal_record.ts), compressed. */
  readonly record?: Borrowed;
  /** Of objects that have left for another hub with the step: to be kept before its record. */
  readonly released?: readonly ReleasedRecord[];
  /** The sequence of the last record of the shared log of which the shard was told; 0 where there is none. */
  readonly config?: number;
}

/** The state of objects that have left. */
export interface ReleasedRecord {
  /** Of the item that said so. */
  readonly id: number;
  /** A record of kind `released` (journal_record.ts), compressed; undefined where none of the objects had a place. */
  readonly record: Borrowed | undefined;
}

/** What a collision stage is told that does not know the pairs that collide. */
export interface Restore extends Pick<Restoration, 'rows' | 'held' | 'gone' | 'heldMs' | 'publishedMs'> {
  /** Motions of items before this one were run by another worker. */
  readonly fromSeq: number;
  /** The last of these, packed. */
  readonly done: readonly Uint8Array[];
  /** The same of the motions of other hubs. */
  readonly others?: readonly OtherRestore[] | undefined;
}

export interface OtherRestore extends Pick<Restore, 'fromSeq' | 'done'> {
  readonly hub: string;
}

/** What has come of another hub. */
export interface OtherMotions {
  readonly hub: string;
  readonly motions: readonly Uint8Array[];
  /** Number of the earliest item there of which motions may still come. */
  readonly watermark: number;
  /** What comes of it from now on was received at that time or later. */
  readonly passedMs: number;
  /** By which its running time becomes the time of day. */
  readonly setBacks: readonly ClockStep[];
  /** Whether it has told by now where all its trackables stand, as it was asked. */
  readonly isStood: boolean;
  /** How far its clock is behind, where it is wrong. */
  readonly behindMs: number;
}

/** What of several hubs makes up a batch. */
export interface SeveralHubs {
  /** This one. */
  readonly self: string;
  /** What all hubs have passed; Infinity where there is no other one. */
  readonly untilMs: number;
  /** Now: nothing was received later. */
  readonly clockMs: number;
  readonly hubs: readonly OtherMotions[];
  /** Hubs of which nothing more comes. */
  readonly gone: readonly string[];
}

/** What the collision worker is told: motions of shards, still packed, and what else it needs to know. */
export interface CollisionBatch {
  /** Now, or the time of receipt of the earliest item that is not done yet. */
  readonly nowMs: number;
  readonly motions: readonly Uint8Array[];
  /** Number of the earliest item that is not done yet: no shard will come with an earlier motion. */
  readonly watermark: number;
  readonly variants: readonly Variant[] | undefined;
  /** See CollisionInput. */
  readonly setBacks: readonly ClockStep[] | undefined;
  /** See CollisionInput. */
  readonly areStandsExact: boolean;
  /** For a stage that does not know the pairs that collide. */
  readonly restore: Restore | undefined;
  /** Zones that have changed, for views in their coordinates. */
  readonly zones: readonly (readonly [id: string, zone: Zone | undefined])[];
  /** Where several hubs own objects. */
  readonly others?: SeveralHubs | undefined;
}

/** The collision worker's answer. */
export interface CollisionReply extends CollisionOutcome {
  /** Motions that wait for slower shards, or other hubs. */
  readonly waiting: number;
  /** Of this hub, and of each other one, the number of the item before which all motions are finished. */
  readonly finished?:
    | { readonly own: number; readonly others: readonly (readonly [hub: string, to: number])[] }
    | undefined;
}

/** Which motions the stage has evaluated. */
export interface Evaluated {
  /** All that were received before that running time; undefined while the stage is paused. */
  readonly beforeMs: number | undefined;
  /** Of each other hub, those of items before a number. */
  readonly others: readonly (readonly [hub: string, item: number])[];
}

// Clients choose the member names in `properties`: a member called toJSON is no function to be called.
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

type Packed = ShardReply | CollisionBatch | CollisionReply | readonly Motion[] | AskedShape | ShapeReply;

/**
 * Packs a value into bytes that are good until the next packing: memory that came and went with each batch would have the
 * whole heap searched for garbage, again and again.
 */
export function packForNow(value: Packed): Borrowed {
  return lend(packr.pack(value, RESET_BUFFER_MODE));
}

/** Packs a value into bytes of its own, which can be handed to another thread without a copy. */
export function pack(value: Packed): Uint8Array {
  return copied(packForNow(value));
}

/** Packs an answer into an area of shared memory, and returns its length; where it does not fit, into bytes of its own. */
export function packInto(area: Uint8Array, reply: ShardReply): number | Uint8Array {
  const packed = look(packForNow(reply));
  if (packed.length > area.length) return new Uint8Array(packed);
  area.set(packed);
  return packed.length;
}

/** Packs a batch for a shard into bytes that are good until the next packing. */
export function packBatch({ items, ...rest }: LaneBatch): Borrowed {
  return lend(packr.pack({ ...rest, items: packedRuns(items) }, RESET_BUFFER_MODE));
}

export function unpackBatch(bytes: Borrowed): StepBatch & Pick<LaneBatch, 'recordedWith'> {
  const { items: runs, ...rest } = packr.unpack(look(bytes));
  return { ...rest, items: unpackedItems(unpackedRuns(runs)) };
}

/** hot: most batches have nothing but locations, and are as they should be. */
function unpackedItems(items: (Item | Adoption)[]): readonly Item[] {
  if (items.every((item): item is Item => item.kind !== 'adopt')) return items;
  return items.flatMap((item) => (item.kind === 'adopt' ? adopted(item) : [item]));
}

function adopted({ seq, receivedMs, rows, steps: packed, suppressUntilMs, takenOver }: Adoption): Item[] {
  const steps = packed.map(pastStep);
  if (takenOver !== undefined) {
    return [{ kind: 'takeOver', seq, receivedMs, rows, steps, heldUntilMs: suppressUntilMs, ...takenOver }];
  }
  // No deadline may be due before all is known, so both are received before everything else.
  const before = { seq: 0, receivedMs: 0 };
  return [
    { ...before, kind: 'restore', rows, suppressUntilMs, withTimers: true },
    { ...before, kind: 'replay', steps },
  ];
}

function pastStep(step: PackedStep): PastStep {
  const { effects, setBacks, except } = step;
  return { locations: locationsIn(step), effects: asBuffer(effects), setBacks, except };
}

/** The locations that a step was given. */
export function locationsIn({ batch }: Pick<PackedStep, 'batch'>): readonly ReceivedLocation[] {
  const items = batch.length === 0 ? [] : unpackBatch(lend(batch)).items;
  return items.filter((item) => item.kind === 'location');
}

export function unpackShardReply(bytes: Borrowed): ShardReply {
  return packr.unpack(look(bytes)) as ShardReply;
}

export function unpackMotions(bytes: Uint8Array): Motion[] {
  return packr.unpack(bytes) as Motion[];
}

export function unpackCollisionBatch(bytes: Borrowed): CollisionBatch {
  return packr.unpack(look(bytes)) as CollisionBatch;
}

export function unpackCollisionReply(bytes: Borrowed): CollisionReply {
  return packr.unpack(look(bytes)) as CollisionReply;
}

/** A polygon without what no check looks at: all of its positions but x and y. */
export function flattened({ coordinates }: Polygon): FlatPolygon {
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

function unflattened({ ringLengths, positions }: FlatPolygon): Polygon {
  let at = 0;
  const coordinates = Array.from(ringLengths, (length) =>
    Array.from({ length }, () => [positions[at++] as number, positions[at++] as number]),
  );
  return { type: 'Polygon', coordinates };
}

/** Packs a question about a geometry. */
export function packShape(asked: AskedShape): Uint8Array {
  return pack(asked);
}

/** The question as ShapeChecks is asked it: a fence with its region, or a polygon and where it stands. */
export function unpackShape(
  bytes: Uint8Array,
): { readonly fence: Fence } | { readonly polygon: Polygon; path: string } {
  const asked = packr.unpack(bytes) as AskedShape;
  const polygon = unflattened(asked.polygon);
  return asked.kind === 'region' ? { fence: { ...asked.fence, region: polygon } } : { polygon, path: asked.path };
}

export function unpackShapeReply(bytes: Borrowed): ShapeReply {
  return packr.unpack(look(bytes)) as ShapeReply;
}
