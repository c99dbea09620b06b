import type { Borrowed } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { FilterFields } from '../model/topics.ts';
import type { QueryResult, ExportedState } from './item.ts';
import type { Motion } from './motion/motion.ts';
import type { PackedPositions } from './history_rows.ts';
import type { PackedRows } from './row_bytes.ts';
import type { ZoneMove } from './zone/following.ts';

/** Result of a step. The caller stores the rows, publishes `events`, and passes `motions` to the collision stage. */
export interface Outcome {
  /**
   * Events by variant, in order, valid until the next step. Fence events wait for `rows` if a membership must be stored
   * before it is announced.
   */
  readonly events: readonly EventBatch[];
  /** Fence events with subscribers, in order, of a journaled step. Each is listed once, however many renderings it has. */
  readonly fenceEvents: readonly FenceEventJson[];
  /** Rows of objects whose membership has changed, and tombstones. Valid until the next step. */
  readonly rows: PackedRows;
  /** Rows of other changed objects, those waiting longest first, within the flush budget. No event waits for them. */
  readonly backgroundRows: PackedRows;
  /**
   * State changes of all objects (effects.ts): together with those of earlier steps they rebuild the state in a new
   * worker.
   */
  readonly effects: Borrowed;
  /** Positions of objects for the history; undefined if nothing is recorded. */
  readonly positions?: PackedPositions | undefined;
  /** Number of objects whose row is still out of date, left for later flush budgets. */
  readonly dirtyCount: number;
  readonly motions: readonly Motion[];
  /** Zones that follow a moved object, each once. The caller changes them. */
  readonly zoneMoves: readonly ZoneMove[];
  readonly answers: readonly (readonly [id: number, answer: QueryResult | ExportedState])[];
  /** One entry for each release item. */
  readonly released: readonly ReleasedState[];
  readonly counts: StepCounts;
  /** Next deadline in milliseconds since 1970; Infinity without one. */
  readonly nextDeadlineMs: number;
}

/** Full state of objects that migrate to another hub. */
export interface ReleasedState {
  /** Id of the release item. */
  readonly id: number;
  readonly sequence: number;
  readonly config: number;
  /** See effects.ts; empty if none of the objects has a position. */
  readonly effects: Borrowed;
}

/** A fence event as plain JSON (not GeoJSON), with the values of its filter fields. */
export type FenceEventJson = readonly [fields: FilterFields, text: string];

/** For every run, received = processed + outdated + rejected. */
export interface StepCounts {
  processed: number;
  outdated: number;
  rejected: number;
  /** Processed locations that a filter rejected. */
  outliers: number;
  /** Events by kind, with or without subscribers. */
  entries: number;
  exits: number;
  motions: number;
}
