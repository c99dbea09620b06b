// hot: run for each motion, see bench/kernel/collisions.bench.ts

import type { Scheduled } from '../deadline_heap.ts';
import { toEcef } from '../geo/ecef.ts';
import type { TrackableMotion } from '../motion/motion.ts';
import type { Celled } from './grid.ts';
import { type Lease, releaseMs, TOUCHING } from './lease.ts';

/** A trackable that takes part in collisions, where it was last. */
export interface Body extends Celled {
  motion: TrackableMotion;
  /** Whether it has moved since this stage knows it: otherwise its place may be of a moment before. */
  isHeardOf: boolean;
  /** Vertices of its ring in space: x, y, z, x …; undefined for a circle or point. */
  ring: Float64Array | undefined;
  /** The collisions it is in, ordered by the id of the other. */
  readonly contacts: Contact[];
  /** Where its part of event texts lies, start and end by the index of the rendering, and in which round: see BodyTexts. */
  readonly texts: number[];
  textsRound: number;
}

/** What identifies the motion that began a collision of two trackables, while event and receipt times may be those of others. */
export interface MetBy {
  readonly receivedMs: number;
  /** The number of its item. */
  readonly seq: number;
}

/** Two trackables in collision, from the first touch until they are released. */
export interface Contact extends Scheduled {
  /** `a` has the smaller id. */
  readonly a: Body;
  readonly b: Body;
  readonly startMs: number;
  /** The motion that began it. */
  readonly metBy: MetBy;
  /** The one that moved last. */
  mover: Body;
  hold: Lease;
  /**
   * Of a pair that was restored: it is not released before that time, unless both have been heard of since. Who moves
   * with another through a restart is heard of after it, or before, and each is where it was last until then. Subscribers
   * are back by then, too. 0: released when due.
   */
  heldMs: number;
  /** Whether a row of it was handed out. */
  isKept: boolean;
  hasEnded: boolean;
}

export function newBody(motion: TrackableMotion): Body {
  return {
    motion,
    isHeardOf: false,
    x: 0,
    y: 0,
    z: 0,
    reachMetres: 0,
    level: 0,
    seenIn: 0,
    ring: undefined,
    contacts: [],
    texts: [],
    textsRound: 0,
  };
}

/** A contact of two that touch. */
export function newContact(begun: Pick<Contact, 'a' | 'b' | 'startMs' | 'metBy' | 'mover'>): Contact {
  return { ...begun, hold: TOUCHING, heldMs: 0, isKept: false, hasEnded: false, heapIndex: -1 };
}

/** When the contact ends if nothing more is heard of it. */
export function dueMs({ hold, heldMs }: Contact): number {
  return Math.max(releaseMs(hold), heldMs);
}

/** A contact becomes one of both bodies. */
export function join(contact: Contact): void {
  const { a, b } = contact;
  a.contacts.splice(placeOf(a, b), 0, contact);
  b.contacts.splice(placeOf(b, a), 0, contact);
}

/** The contact is none of either body any more. */
export function part({ a, b }: Contact): void {
  a.contacts.splice(placeOf(a, b), 1);
  b.contacts.splice(placeOf(b, a), 1);
}

/** Where the contact with `other` is, or belongs, among those of the body. */
function placeOf({ contacts }: Body, other: Body): number {
  const { id } = other.motion;
  let from = 0;
  let to = contacts.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const { a, b } = contacts[middle]!;
    // The contact's other half is the one that all contacts of this body do not share.
    const found = a.contacts === contacts ? b : a;
    if (found.motion.id < id) from = middle + 1;
    else to = middle;
  }
  return from;
}

export function otherOf(contact: Contact, body: Body): Body {
  return contact.a === body ? contact.b : contact.a;
}

/** Where a motion is in space. One such value is written again and again. */
export interface Site {
  readonly space: Float64Array;
  /** Greatest distance of any part of the shape from the position; 0 for a point. */
  reachMetres: number;
  ring: Float64Array | undefined;
}

export function newSite(): Site {
  return { space: new Float64Array(3), reachMetres: 0, ring: undefined };
}

/** Finds the place of a motion. The memory of `reuse`, the body's last ring, is used again where it fits. */
export function locate(motion: TrackableMotion, reuse: Float64Array | undefined, out: Site): void {
  toEcef(motion.lon, motion.lat, out.space, 0);
  const { ring } = motion;
  out.ring = undefined;
  out.reachMetres = motion.radiusMetres;
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
  out.reachMetres = Math.sqrt(reachSquared);
}
