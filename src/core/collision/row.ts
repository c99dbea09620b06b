import type { TrackableMotion } from '../motion/motion.ts';
import type { CollisionHold } from './hold.ts';

/**
 * Stored row of a collision: its start and, if it has ended, its end. Both have the motions of both trackables at that time.
 *
 * A start or an end is published after its row is stored, and the row determines it. So every stage publishes it alike.
 * Its id follows from its position in the stored steps: nothing else has that.
 *
 *   hub        | the row of an ended pair       | an event that was stored, and not published before the crash, is
 *   -----------+--------------------------------+------------------------------------------------------------------
 *   alone      | is erased before the end is    | lost: each event is published at most once
 *              | published                      |
 *   in cluster | has the end, and is erased     | published by the next owner of the stage: at least once, with the
 *              | after that is published        | same id and content
 */
export type CollisionRow =
  | { readonly kind: 'collision'; readonly id: string; readonly gone: true }
  | {
      readonly kind: 'collision';
      /** JSON array of the ids of both, the smaller first, the time of receipt and the position of the start. */
      readonly id: string;
      readonly gone?: false;
      /** Event time of the location that began it, milliseconds since 1970. */
      readonly startMs: number;
      /** Event time of its end; undefined while it goes on. */
      readonly endMs?: number | undefined;
      /** JSON array: see Bodies. */
      readonly bodies: string;
    };

/** A row that is not a tombstone. */
export type PairRow = CollisionRow & { readonly gone?: false };

/** Position of a start or an end among those of all stages: number of the step, and index in it. */
export type TransitionPosition = readonly [step: number, index: number];

/** Start or end of a collision. */
export interface Transition {
  readonly type: 'collision_start' | 'collision_end';
  /** Event time. */
  readonly timeMs: number;
  readonly a: TrackableMotion;
  readonly b: TrackableMotion;
  /** Id of the trackable that caused it. */
  readonly moverId: string;
  readonly at: TransitionPosition;
}

/** Motions of both at the start, the trackable that caused it, and its position; then the same of the end. */
type Bodies = readonly [...start: PlainTransition, ...end: PlainTransition | readonly []];
type PlainTransition = readonly [a: PlainMoved, b: PlainMoved, moverId: string, at: TransitionPosition];

/** A collision as its row has it. */
export interface StoredCollision {
  readonly rowId: string;
  readonly begun: Transition;
  /** Undefined while it goes on. */
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

/** Hold of a colliding pair, with its running deadlines, which would be lost with a worker. */
export interface HeldPair {
  /** Id of its row. */
  readonly id: string;
  readonly hold: CollisionHold;
}

/** Returns the id of the row of a collision. A hub that restarts alone begins with step 0 again, but later. */
export function rowIdOf({ a, b, at }: Transition): string {
  return JSON.stringify([a.id, b.id, Math.max(a.receivedMs, b.receivedMs), ...at]);
}

/** Returns the ids of both, given the id of their row. */
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

/** Returns the row before the end of its collision. */
export function ongoing({ endMs: _, bodies, ...row }: PairRow): PairRow {
  return { ...row, bodies: JSON.stringify((JSON.parse(bodies) as Bodies).slice(0, START_MEMBERS)) };
}

/** Order of transitions. */
export function byPosition({ at: [step, index] }: Transition, { at: [otherStep, otherIndex] }: Transition): number {
  return step - otherStep || index - otherIndex;
}

/** Members of Bodies that are about the start. */
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
  const { z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs } = rest;
  return { ...rest, z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs, ring: ring && Float64Array.from(ring) };
}
