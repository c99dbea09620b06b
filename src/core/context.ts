import { eventTimeOfMonotonic, type ClockStep } from '../model/clock_steps.ts';
import type { Topic } from '../model/topics.ts';
import type { EffectWriter } from './effects.ts';
import type { EventWriter } from './event_writer.ts';
import type { FenceIndex } from './fence/fence_index.ts';
import type { QueryResult, ExportedState, Item } from './item.ts';
import type { NewRecordBuffer } from './location/record.ts';
import type { Motion } from './motion/motion.ts';
import type { StepCounts, FenceEventJson, ReleasedState } from './outcome.ts';
import type { PositionWriter, HistoryRecording } from './history_rows.ts';
import type { RowWriter } from './row_bytes.ts';
import type { ObjectIndex } from './search/object_index.ts';
import type { CrossingSettings, ShardState } from './state.ts';
import type { FilteredVariant } from './variant_filter.ts';
import type { FilterDefaults } from './tracking/filter_settings.ts';
import type { ZoneMove } from './zone/following.ts';
import type { ZoneLookup } from './zone/zone_table.ts';

/** Options of a shard. */
export interface ShardOptions {
  readonly index: FenceIndex;
  /** Allocates the buffers of locations. */
  readonly newBuffer: NewRecordBuffer;
  /** Returns a new event id: a UUID. */
  readonly newId: () => string;
  /** Whether trackables without a setting of their own take part in collisions. */
  readonly collisionsByDefault: boolean;
  /** Whether a trackable's events contain the provider that moved it. */
  readonly providerInTrackableEvents: boolean;
  /** Whether a trackable stays at its position when the provider that moved it is removed from it. */
  readonly detachedStay: boolean;
  /** Maximum depth of nested parents. Trackables nested deeper, in old data, do not move with their ancestors. */
  readonly parentsMax: number;
  /** Settings of crossings between two locations; by default only fences that say so have them, within 10 s. */
  readonly crossing?: CrossingSettings | undefined;
  /** Filters of positions that the configuration sets; undefined for none. */
  readonly filters?: FilterDefaults | undefined;
  /** Settings of the history recording; undefined to record nothing. */
  readonly recorded?: HistoryRecording | undefined;
}

/** A running shard: its state, and the outcome of the current step. */
export interface ShardContext {
  readonly options: ShardOptions;
  readonly index: FenceIndex;
  readonly state: ShardState;
  readonly zones: ZoneLookup;
  /** Spatial index of the objects, for searches. */
  readonly search: ObjectIndex;
  /** Subscribed renderings, by topic. */
  variants: ReadonlyMap<Topic, readonly FilteredVariant[]>;
  /** timestamp_sent of the current step's events, as a JSON member (see sentTimeJson). */
  sentTime: string;
  /** `sentTime` as bytes. */
  sentTimeBytes: Uint8Array;
  /** Backward clock steps that convert monotonic times and event times to wall-clock times. */
  clockSteps: readonly ClockStep[];
  /** Whether the current step has a position in the journal. */
  isJournaled: boolean;
  /** Events published by the current step. */
  readonly events: EventWriter;
  /**
   * Rows that must be stored before the fence events of the step are published. They include the rows of objects that
   * move to another shard.
   */
  readonly rows: RowWriter;
  /** Rows that no event depends on. */
  readonly backgroundRows: RowWriter;
  /** Positions of objects, for the history. */
  readonly positions: PositionWriter | undefined;
  /** State changes of the current step. */
  readonly effects: EffectWriter;
  draft: OutcomeDraft;
}

/** An Outcome under construction. */
export interface OutcomeDraft {
  readonly motions: Motion[];
  readonly fenceEvents: FenceEventJson[];
  readonly answers: (readonly [id: number, answer: QueryResult | ExportedState])[];
  readonly released: ReleasedState[];
  readonly counts: StepCounts;
  /** Latest move of each zone, by zone id. */
  readonly zoneMoves: Map<string, ZoneMove>;
}

/** Number of an item with its time of receipt, as monotonic time and as event time. */
export interface Moment {
  readonly nowMs: number;
  readonly eventNowMs: number;
  readonly seq: number;
}

/** Returns the moment at which the item was received. */
export function momentOf(
  { clockSteps }: Pick<ShardContext, 'clockSteps'>,
  { receivedMs, seq }: Pick<Item, 'receivedMs' | 'seq'>,
): Moment {
  return { nowMs: receivedMs, eventNowMs: eventTimeOfMonotonic(receivedMs, clockSteps), seq };
}

export function emptyDraft(): OutcomeDraft {
  const counts = { processed: 0, outdated: 0, rejected: 0, outliers: 0, entries: 0, exits: 0, motions: 0 };
  return { motions: [], fenceEvents: [], answers: [], released: [], counts, zoneMoves: new Map() };
}
