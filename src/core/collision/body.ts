// hot: runs for each motion, see bench/kernel/collisions.bench.ts

import type { Scheduled } from '../deadline_heap.ts';
import { toEcef } from '../geo/ecef.ts';
import type { TrackableMotion } from '../motion/motion.ts';
import type { Celled } from './grid.ts';
import { type CollisionHold, releaseMs, TOUCHING } from './hold.ts';
import type { Transition } from './row.ts';

/** A trackable that takes part in collisions, at its last position. */
export interface Body extends Celled {
  motion: TrackableMotion;
  /**
   * Whether the trackable has moved since this stage was opened. Until then its position may be slightly out of date.
   */
  hasMoved: boolean;
  /** Vertices of its ring in space: x, y, z, x …; undefined for a circle or point. */
  ring: Float64Array | undefined;
  /** Its collisions, ordered by the id of the other trackable. */
  readonly contacts: Contact[];
  /**
   * Start and end offsets of the body's JSON in the BodyJsonCache, by rendering index. They are valid in `jsonRound`
   * only.
   */
  readonly texts: number[];
  jsonRound: number;
}

/** Two trackables in collision, from the first contact until their release. */
export interface Contact extends Scheduled {
  /** `a` has the smaller id. */
  readonly a: Body;
  readonly b: Body;
  /** Id of the stored row. */
  readonly rowId: string;
  readonly begun: Transition;
  /** Undefined while the collision is ongoing. */
  ended: Transition | undefined;
  /** The trackable that moved last. */
  mover: Body;
  hold: CollisionHold;
  /**
   * Time before which a restored pair is not released, unless both trackables have moved since the restart; 0 for a
   * pair that is not restored. If two trackables move together during a restart, one is located first, and the other
   * seems to be at its old position until its next location. The delay also gives subscribers time to reconnect.
   */
  heldMs: number;
  /**
   * The reported position that started the collision; undefined if a motion did. Earlier motions that arrive later are
   * part of that position and are not evaluated again.
   */
  readonly reportedBy: Pick<TrackableMotion, 'receivedMs' | 'seq'> | undefined;
  /** Whether the row was emitted. */
  hasRow: boolean;
}

export function newBody(motion: TrackableMotion): Body {
  return {
    motion,
    hasMoved: false,
    x: 0,
    y: 0,
    z: 0,
    reachMeters: 0,
    level: 0,
    seenIn: 0,
    ring: undefined,
    contacts: [],
    texts: [],
    jsonRound: 0,
  };
}

/** Returns a contact of two touching trackables. */
export function newContact(known: Pick<Contact, 'a' | 'b' | 'rowId' | 'begun' | 'mover' | 'reportedBy'>): Contact {
  return { ...known, ended: undefined, hold: TOUCHING, heldMs: 0, hasRow: false, heapIndex: -1 };
}

/** Returns a body that is not in the grid, to render an event of the past. */
export function bodyAt(motion: TrackableMotion): Body {
  const site = newSite();
  locate(motion, undefined, site);
  const [x, y, z] = site.space as unknown as readonly [number, number, number];
  return { ...newBody(motion), x, y, z, reachMeters: site.reachMeters, ring: site.ring };
}

/** Returns the time at which the contact ends if neither trackable moves again. */
export function dueMs({ hold, heldMs }: Contact): number {
  return Math.max(releaseMs(hold), heldMs);
}

/** Adds a contact to both bodies. */
export function connect(contact: Contact): void {
  const { a, b } = contact;
  a.contacts.splice(indexOf(a, b), 0, contact);
  b.contacts.splice(indexOf(b, a), 0, contact);
}

/** Removes a contact from both bodies. */
export function separate({ a, b }: Contact): void {
  a.contacts.splice(indexOf(a, b), 1);
  b.contacts.splice(indexOf(b, a), 1);
}

/** Returns the index of the contact with `other` in the body's contacts, or its insertion index. */
function indexOf({ contacts }: Body, other: Body): number {
  const { id } = other.motion;
  let from = 0;
  let to = contacts.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const { a, b } = contacts[middle]!;
    // The other body of the contact.
    const found = a.contacts === contacts ? b : a;
    if (found.motion.id < id) from = middle + 1;
    else to = middle;
  }
  return from;
}

export function otherOf(contact: Contact, body: Body): Body {
  return contact.a === body ? contact.b : contact.a;
}

/** Position and shape of a motion in space. One instance is reused for all motions. */
export interface CollisionSite {
  readonly space: Float64Array;
  /** Maximum distance of any point of the shape from the position; 0 for a point. */
  reachMeters: number;
  ring: Float64Array | undefined;
}

export function newSite(): CollisionSite {
  return { space: new Float64Array(3), reachMeters: 0, ring: undefined };
}

/** Computes the site of a motion. Reuses the memory of the body's last ring if it fits. */
export function locate(motion: TrackableMotion, reuse: Float64Array | undefined, out: CollisionSite): void {
  toEcef(motion.lon, motion.lat, out.space, 0);
  const { ring } = motion;
  out.ring = undefined;
  out.reachMeters = motion.radiusMeters;
  if (ring === undefined) return;
  const points = ring.length >> 1;
  const space = reuse?.length === 3 * points ? reuse : new Float64Array(3 * points);
  let reachSquared = 0;
  for (let i = 0; i < points; i++) {
    toEcef(ring[2 * i]!, ring[2 * i + 1]!, space, 3 * i);
    const dx = space[3 * i]! - out.space[0]!;
    const dy = space[3 * i + 1]! - out.space[1]!;
    const dz = space[3 * i + 2]! - out.space[2]!;
    reachSquared = Math.max(reachSquared, dx * dx + dy * dy + dz * dz);
  }
  out.ring = space;
  out.reachMeters = Math.sqrt(reachSquared);
}
