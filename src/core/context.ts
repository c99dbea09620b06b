import { eventTimeOfMonotonic, type ClockStep } from '../model/clock_steps.ts';
import type { Topic } from '../model/topics.ts';
import type { EffectWriter } from './effects.ts';
import type { EventWriter } from './event_writer.ts';
import type { FenceIndex } from './fence/fence_index.ts';
import type { Answer, ExportedState, Item } from './item.ts';
import type { NewRecordBuffer } from './location/record.ts';
import type { Motion } from './motion/motion.ts';
import type { Counts, FenceEventText, Released } from './outcome.ts';
import type { PlaceWriter, RecordedPlaces } from './recorded.ts';
import type { RowWriter } from './row_bytes.ts';
import type { ShardState } from './state.ts';
import type { WantedVariant } from './wanted.ts';
import type { ZoneMove } from './zone/following.ts';
import type { ZoneLookup } from './zone/zone_table.ts';

/** What a shard is opened with. */
export interface ShardOptions {
  readonly index: FenceIndex;
  /** Makes the memory that locations are kept in. */
  readonly newBuffer: NewRecordBuffer;
  /** Makes the ids of events: UUIDs. */
  readonly newId: () => string;
  /** Whether trackables take part in collisions that do not say so themselves. */
  readonly collisionsByDefault: boolean;
  /** Whether the event of a trackable names the provider that moved it. */
  readonly providerInTrackableEvents: boolean;
  /** Whether a trackable keeps its position when the provider that moved it is removed from it. */
  readonly detachedStay: boolean;
  /** Levels of parents: what is carried deeper, in old data, stays where it is. */
  readonly parentsMax: number;
  /** What is recorded for the history; undefined for nothing. */
  readonly recorded?: RecordedPlaces | undefined;
}

/** A shard at work: its state, and the outcome that the step in progress is filling. */
export interface ShardContext {
  readonly options: ShardOptions;
  readonly index: FenceIndex;
  readonly state: ShardState;
  readonly zones: ZoneLookup;
  /** The renderings wanted, by topic. */
  variants: ReadonlyMap<Topic, readonly WantedVariant[]>;
  /** When the step in progress sends what it publishes: see sentTimeText. */
  sentTime: string;
  /** The same as bytes. */
  sentTimeBytes: Uint8Array;
  /** How running times and event times become wall-clock times. */
  setBacks: readonly ClockStep[];
  /** What the step in progress publishes. */
  readonly events: EventWriter;
  /** Rows that must be kept before its fence events are told. Objects that move to another shard have theirs first. */
  readonly rows: RowWriter;
  /** Other rows, for which nobody waits. */
  readonly backgroundRows: RowWriter;
  /** Where objects have been, for the history. */
  readonly places: PlaceWriter | undefined;
  /** What the step has changed. */
  readonly effects: EffectWriter;
  draft: Draft;
}

/** An Outcome in the making. */
export interface Draft {
  readonly motions: Motion[];
  readonly fenceEvents: FenceEventText[];
  readonly answers: (readonly [id: number, answer: Answer | ExportedState])[];
  readonly released: Released[];
  readonly counts: Counts;
  /** By the id of the zone. */
  readonly zoneMoves: Map<string, ZoneMove>;
}

/** When an item is processed, as running time and as event time, and its number. */
export interface Moment {
  readonly nowMs: number;
  readonly eventNowMs: number;
  readonly seq: number;
}

/** The moment at which an item was received. */
export function momentOf(
  { setBacks }: Pick<ShardContext, 'setBacks'>,
  { receivedMs, seq }: Pick<Item, 'receivedMs' | 'seq'>,
): Moment {
  return { nowMs: receivedMs, eventNowMs: eventTimeOfMonotonic(receivedMs, setBacks), seq };
}

export function emptyDraft(): Draft {
  const counts = { processed: 0, outdated: 0, rejected: 0, entries: 0, exits: 0, motions: 0 };
  return { motions: [], fenceEvents: [], answers: [], released: [], counts, zoneMoves: new Map() };
}
