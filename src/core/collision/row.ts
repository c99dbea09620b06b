import type { TrackableMotion } from '../motion/motion.ts';
import type { Contact, MetBy } from './body.ts';
import type { Lease } from './lease.ts';

/**
 * What is kept of two trackables in collision: since when, and where both were when that was told, since their own rows
 * may be written later.
 *
 * A start is published after its row is stored. So after a crash a pair whose start was published is restored as colliding,
 * with the same start time, until its end is published.
 *
 *   hub        | an end is published        | an event that was stored, and not published before the crash, is
 *   -----------+----------------------------+-----------------------------------------------------------------------
 *   alone      | after its row is erased    | lost: each event is published at most once
 *   in cluster | before its row is erased   | published by the next owner of the stage: at least once, with the same id
 */
export type CollisionRow =
  | { readonly kind: 'collision'; readonly id: string; readonly gone: true }
  | {
      readonly kind: 'collision';
      /** The ids of both, the smaller first, as a JSON array. */
      readonly id: string;
      readonly gone?: false;
      /** Event time of the location that began it, milliseconds since 1970. */
      readonly startMs: number;
      /** JSON array of the last motion of each, and of what identifies the motion that began it. */
      readonly bodies: string;
    };

/** The row of a contact that goes on. */
export function rowOf(contact: Contact): CollisionRow {
  const { a, b, startMs, metBy } = contact;
  const bodies = JSON.stringify([plain(a.motion), plain(b.motion), metBy]);
  return { kind: 'collision', id: idOf(contact), startMs, bodies };
}

/** The row of a contact that has ended. */
export function goneRowOf(contact: Contact): CollisionRow {
  return { kind: 'collision', id: idOf(contact), gone: true };
}

/** What holds a pair in collision, with the deadlines that are running. A worker that dies would take them along. */
export interface HeldPair {
  /** The id of its row. */
  readonly id: string;
  readonly hold: Lease;
}

export function heldPair(contact: Contact): HeldPair {
  return { id: idOf(contact), hold: contact.hold };
}

/** The ids of both, from the id of their row. */
export function idsOf(row: string): readonly string[] {
  return JSON.parse(row) as readonly string[];
}

/** Where both were, the one with the smaller id first. */
export function motionsOf({ bodies }: CollisionRow & { gone?: false }): readonly [TrackableMotion, TrackableMotion] {
  const [a, b] = JSON.parse(bodies) as readonly [PlainMoved, PlainMoved];
  return [moved(a), moved(b)];
}

/** The motion that began the collision; the later one of both if the row does not have it. */
export function metByOf({ bodies }: CollisionRow & { gone?: false }): MetBy {
  const [a, b, metBy] = JSON.parse(bodies) as readonly [PlainMoved, PlainMoved, MetBy?];
  return metBy ?? (a.receivedMs > b.receivedMs ? a : b);
}

type PlainMoved = Omit<TrackableMotion, 'ring'> & { readonly ring?: readonly number[] };

function plain(motion: TrackableMotion): PlainMoved {
  const { ring, ...rest } = motion;
  return ring === undefined ? rest : { ...rest, ring: Array.from(ring) };
}

function moved({ ring, ...rest }: PlainMoved): TrackableMotion {
  // In the shape that motions have: what was undefined is not in the text.
  const { z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs } = rest;
  return { ...rest, z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs, ring: ring && Float64Array.from(ring) };
}

function idOf({ a, b }: Contact): string {
  return JSON.stringify([a.motion.id, b.motion.id]);
}
