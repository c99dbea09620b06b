import type { TrackableMotion } from '../motion/motion.ts';
import type { Contact, MetBy } from './body.ts';
import type { CollisionHold } from './hold.ts';

/**
 * Stored row of two colliding trackables: the start time, and the motions of both when it was published, since their
 * own rows may be written later.
 *
 * A start is published after its row is stored. So after a crash a pair whose start was published is restored as
 * colliding, with the same start time, until its end is published.
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
      /** Ids of both, the smaller first, as a JSON array. */
      readonly id: string;
      readonly gone?: false;
      /** Event time of the location that began it, milliseconds since 1970. */
      readonly startMs: number;
      /** JSON array of the last motion of each, and of the identity of the motion that began it. */
      readonly bodies: string;
    };

/** Returns the row of an ongoing contact. */
export function rowOf(contact: Contact): CollisionRow {
  const { a, b, startMs, metBy } = contact;
  const bodies = JSON.stringify([plain(a.motion), plain(b.motion), metBy]);
  return { kind: 'collision', id: idOf(contact), startMs, bodies };
}

/** Returns the tombstone of a contact that has ended. */
export function goneRowOf(contact: Contact): CollisionRow {
  return { kind: 'collision', id: idOf(contact), gone: true };
}

/** Hold of a colliding pair, with its running deadlines, which would be lost with a worker. */
export interface HeldPair {
  /** Id of its row. */
  readonly id: string;
  readonly hold: CollisionHold;
}

export function heldPair(contact: Contact): HeldPair {
  return { id: idOf(contact), hold: contact.hold };
}

/** Returns the ids of both, given the id of their row. */
export function idsOf(row: string): readonly string[] {
  return JSON.parse(row) as readonly string[];
}

/** Returns the motions of both, the one with the smaller id first. */
export function motionsOf({ bodies }: CollisionRow & { gone?: false }): readonly [TrackableMotion, TrackableMotion] {
  const [a, b] = JSON.parse(bodies) as readonly [PlainMoved, PlainMoved];
  return [moved(a), moved(b)];
}

/** Returns the motion that began the collision; the later one of both if the row does not contain it. */
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
  // Restores the object shape of motions: JSON omits undefined members.
  const { z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs } = rest;
  return { ...rest, z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs, ring: ring && Float64Array.from(ring) };
}

function idOf({ a, b }: Contact): string {
  return JSON.stringify([a.motion.id, b.motion.id]);
}
