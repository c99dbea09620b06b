import type { Borrowed } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { FilterFields } from '../model/topics.ts';
import type { Answer, ExportedState } from './item.ts';
import type { Motion } from './motion/motion.ts';
import type { PackedPlaces } from './recorded.ts';
import type { PackedRows } from './row_bytes.ts';
import type { ZoneMove } from './zone/following.ts';

/** What a step wants done. The caller stores the rows, publishes `events`, and hands `motions` to the collision stage. */
export interface Outcome {
  /**
   * By variant, and in order. They are good until the next step. Fence events wait for `rows` where a membership must not
   * be announced before it is kept.
   */
  readonly events: readonly EventBatch[];
  /** Its fence events that somebody wants, in order: each once, whatever it is rendered as. */
  readonly fenceEvents: readonly FenceEventText[];
  /** Of objects whose membership has changed, or that are gone. They are good until the next step. */
  readonly rows: PackedRows;
  /** Of other objects that have changed, those that have waited longest, within the flush budget. Nothing waits for them. */
  readonly backgroundRows: PackedRows;
  /** What has changed of all objects (effects.ts): with those of the steps before, a new worker knows what this one does. */
  readonly effects: Borrowed;
  /** Where objects have been, for the history; undefined where nothing is recorded. */
  readonly places?: PackedPlaces | undefined;
  /** How many objects have changed since their last row: what is left of the work for later budgets. */
  readonly dirtyCount: number;
  readonly motions: readonly Motion[];
  /** Zones that follow something that has moved, each once: it is for the caller to change them. */
  readonly zoneMoves: readonly ZoneMove[];
  readonly answers: readonly (readonly [id: number, answer: Answer | ExportedState])[];
  /** Of objects that have left for another hub, one for each item that said so. */
  readonly released: readonly Released[];
  readonly counts: Counts;
  /** When the next deadline is due, in milliseconds since 1970; Infinity when there is none. */
  readonly nextDeadlineMs: number;
}

/** The state of objects that have left for another hub, in full. */
export interface Released {
  /** Of the item. */
  readonly id: number;
  readonly sequence: number;
  readonly config: number;
  /** See effects.ts; empty where none of the objects has a place. */
  readonly effects: Borrowed;
}

/** A fence event as JSON text that is no GeoJSON, with the values of its filter fields. */
export type FenceEventText = readonly [fields: FilterFields, text: string];

/** received = processed + outdated + rejected, for every run. */
export interface Counts {
  processed: number;
  outdated: number;
  rejected: number;
  /** Events by kind, whether or not anybody has subscribed. */
  entries: number;
  exits: number;
  motions: number;
}
