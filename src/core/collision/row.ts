import type { TrackableMotion } from '../motion/motion.ts';
import type { CollisionHold } from './hold.ts';

/**
 * Stored row of a collision: its start and, once it has ended, its end, each with the motions of both trackables at
 * that time.
 *
 * A start or end is published after its row is stored, and the row determines its content, so every stage publishes the
 * same event. Its id is derived from its position in the stored steps, which is unique.
 *
 *   hub        | the row of an ended pair       | an event that was stored, and not published before the crash, is
 *   -----------+--------------------------------+------------------------------------------------------------------
 *   alone      | is deleted before the end is   | lost: each event is published at most once
 *              | published                      |
 *   in cluster | has the end, and is deleted    | published by the next owner of the stage: at least once, with the
 *              | after that is published        | same id and content
 */
export type CollisionRow =
  | { readonly kind: 'collision'; readonly id: string; readonly gone: true }
  | {
      readonly kind: 'collision';
      /** JSON array: the ids of both trackables in ascending order, the start's time of receipt, and its position. */
      readonly id: string;
      readonly gone?: false;
      /** Event time of the location that started the collision, in milliseconds since 1970. */
      readonly startMs: number;
      /** Event time of the end; undefined while the collision is ongoing. */
      readonly endMs?: number | undefined;
      /** JSON array: see Bodies. */
      readonly bodies: string;
    };

/** A row that is not a tombstone. */
export type PairRow = CollisionRow & { readonly gone?: false };

/** Position of a start or end among those of all stages: the number of the step and the index in the step. */
export type TransitionPosition = readonly [step: number, index: number];

/** Start or end of a collision. */
export interface Transition {
  readonly type: 'collision_start' | 'collision_end';
  /** Event time. */
  readonly timeMs: number;
  readonly a: TrackableMotion;
  readonly b: TrackableMotion;
  /** Id of the trackable whose motion caused the transition. */
  readonly moverId: string;
  readonly at: TransitionPosition;
}

/** The start (motions of both trackables, id of the one that caused it, position), then the end in the same form. */
type Bodies = readonly [...start: PlainTransition, ...end: PlainTransition | readonly []];
type PlainTransition = readonly [a: PlainMoved, b: PlainMoved, moverId: string, at: TransitionPosition];

/** A decoded row of a collision. */
export interface StoredCollision {
  readonly rowId: string;
  readonly begun: Transition;
  /** Undefined while the collision is ongoing. */
  readonly ended: Transition | undefined;
}

/** Returns the row of a collision. */
export function rowOf({ rowId, begun, ended }: StoredCollision): PairRow {
  const head = { kind: 'collision', id: rowId, startMs: begun.timeMs } as const;
  if (ended === undefined) return { ...head, bodies: JSON.stringify(plainTransition(begun)) };
  return {
    ...head,
    endMs: ended.timeMs,
    bodies: JSON.stringify([...plainTransition(begun), ...plainTransition(ended)]),
  };
}

/** Returns the tombstone of a row. */
export function goneRow(id: string): CollisionRow {
  return { kind: 'collision', id, gone: true };
}

/** Hold of a colliding pair with its running deadlines. The stage reports it, so that it survives a failed worker. */
export interface HeldPair {
  /** Id of the pair's row. */
  readonly id: string;
  readonly hold: CollisionHold;
}

/**
 * Returns the id of a collision's row. It contains the time of receipt because a single hub numbers its steps from 0
 * again after a restart.
 */
export function rowIdOf({ a, b, at }: Transition): string {
  return JSON.stringify([a.id, b.id, Math.max(a.receivedMs, b.receivedMs), ...at]);
}

/** Returns the ids of both trackables, given the id of their row. */
export function idsOf(row: string): readonly string[] {
  return JSON.parse(row).slice(0, 2) as readonly string[];
}

/** Reads a row. */
export function storedCollision({ id: rowId, startMs, endMs, bodies }: PairRow): StoredCollision {
  const members = JSON.parse(bodies) as Bodies;
  const [start, end] = [members.slice(0, START_MEMBERS), members.slice(START_MEMBERS)] as unknown as PlainTransition[];
  const begun = transitionOf('collision_start', startMs, start as PlainTransition);
  const ended = endMs === undefined ? undefined : transitionOf('collision_end', endMs, end as PlainTransition);
  return { rowId, begun, ended };
}

/** Returns the row as it was before the collision ended. */
export function ongoing({ endMs: _, bodies, ...row }: PairRow): PairRow {
  return { ...row, bodies: JSON.stringify((JSON.parse(bodies) as Bodies).slice(0, START_MEMBERS)) };
}

/** Compares transitions by position. */
export function byPosition({ at: [step, index] }: Transition, { at: [otherStep, otherIndex] }: Transition): number {
  return step - otherStep || index - otherIndex;
}

/** Number of members of Bodies that describe the start. */
const START_MEMBERS = 4;

type PlainMoved = Omit<TrackableMotion, 'ring'> & { readonly ring?: readonly number[] };

function transitionOf(type: Transition['type'], timeMs: number, plain: PlainTransition): Transition {
  const [a, b, moverId, at] = plain;
  return { type, timeMs, a: moved(a), b: moved(b), moverId, at };
}

function plainTransition({ a, b, moverId, at }: Transition): PlainTransition {
  return [plain(a), plain(b), moverId, at];
}

function plain(motion: TrackableMotion): PlainMoved {
  const { ring, ...rest } = motion;
  return ring === undefined ? rest : { ...rest, ring: Array.from(ring) };
}

function moved({ ring, ...rest }: PlainMoved): TrackableMotion {
  // Restores the object shape of motions: JSON omits undefined members.
  const { z, levelMeters, extrusion, toleranceTimeoutMs, exitDelayMs } = rest;
  return { ...rest, z, levelMeters, extrusion, toleranceTimeoutMs, exitDelayMs, ring: ring && Float64Array.from(ring) };
}
