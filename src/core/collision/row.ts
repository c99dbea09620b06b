import type { Moved } from '../motion/motion.ts';
import type { Contact } from './body.ts';
import type { Lease } from './lease.ts';

/**
 * What is kept of two trackables in collision: since when, and where both were when that was told, since their own rows
 * may be written later.
 *
 * A start is published once its row is kept, and an end once its row is gone. So whenever the hub is killed, a pair whose
 * start was told comes back as colliding, with the same start time, until its end is told. An event that the crash came
 * between, kept and not yet published, is lost: it is told at most once.
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
      /** JSON array of the last motion of each. */
      readonly bodies: string;
    };

/** The row of a contact that goes on. */
export function rowOf(contact: Contact): CollisionRow {
  const { a, b, startMs } = contact;
  const bodies = JSON.stringify([plain(a.motion), plain(b.motion)]);
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
export function motionsOf({ bodies }: CollisionRow & { gone?: false }): readonly [Moved, Moved] {
  const [a, b] = JSON.parse(bodies) as readonly [PlainMoved, PlainMoved];
  return [moved(a), moved(b)];
}

type PlainMoved = Omit<Moved, 'ring'> & { readonly ring?: readonly number[] };

function plain(motion: Moved): PlainMoved {
  const { ring, ...rest } = motion;
  return ring === undefined ? rest : { ...rest, ring: Array.from(ring) };
}

function moved({ ring, ...rest }: PlainMoved): Moved {
  // In the shape that motions have: what was undefined is not in the text.
  const { z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs } = rest;
  return { ...rest, z, levelMetres, extrusion, toleranceTimeoutMs, exitDelayMs, ring: ring && Float64Array.from(ring) };
}

function idOf({ a, b }: Contact): string {
  return JSON.stringify([a.motion.id, b.motion.id]);
}
