import type { Motion, TrackableMotion } from '../motion/motion.ts';
import { type Body, type Contact, dueMs, join, newContact } from './body.ts';
import { holdingOf, type Lease, observe, TOUCHING } from './lease.ts';
import { areaOf, mayCollide } from './pairing.ts';
import { type CollisionRow, type HeldPair, metByOf, motionsOf } from './row.ts';
import { type CollisionState, putAt } from './state.ts';

/**
 * What one stage takes over from another, which has ended with its hub or with its worker alone.
 *
 * Every trackable stands where it stood. Every pair whose start was published is in collision, since then. If only the
 * worker has died, it is known what holds each pair, with its deadlines, and these go on. After a restart of the hub the
 * places tell whether a pair touches; if they say that it does not, its tolerance timeout and exit delay begin again. A
 * pair that touches and has no row begins to collide with the next motion of either one.
 */
export interface Restoration {
  readonly nowMs: number;
  /** The pairs that collide. */
  readonly rows: readonly CollisionRow[];
  /** What holds those pairs that do not touch; undefined after a restart, when nobody knows. */
  readonly held: readonly HeldPair[] | undefined;
  /** Of these the trackables that are not there any more, or take no part any more. */
  readonly gone: readonly string[];
  /** Before that time no pair is released by what one of the two says: see Contact. */
  readonly heldMs: number;
  /**
   * The other stage has evaluated, and published, everything received before that time, as its rows have it. The start of a
   * pair that met later may not be published: it is published again, with the same id. Undefined if all are.
   */
  readonly publishedMs?: number | undefined;
  /** The last motions that the other stage has finished, as far as they are known. */
  readonly done: readonly Motion[];
  /** The motions that are run next, in order: where everybody stands, and what the other stage has not finished. */
  readonly ahead: readonly Motion[];
}

/** What a stage has to report of the contacts that it has taken over. */
export interface Restored {
  /** Contacts that are held by deadlines. */
  readonly held: readonly Contact[];
  /** Contacts whose start may not have been published. */
  readonly unannounced: readonly Contact[];
}

/** Brings a stage to where another one was. */
export function restore(state: CollisionState, restoration: Restoration): Restored {
  const { nowMs, rows, held, gone, heldMs, publishedMs = Number.POSITIVE_INFINITY, done, ahead } = restoration;
  const found = { held: [] as Contact[], unannounced: [] as Contact[] };
  const first = firstOf(ahead);
  const last = new Map(done.map((motion) => [motion.id, motion]));
  for (const motion of first.values()) {
    // What moves next was not where it stands after that.
    const place = motion.kind === 'stands' ? motion : last.get(motion.id);
    if (place !== undefined && place.kind !== 'gone') putAt(state, place);
  }
  const holds = held && new Map(held.map((pair) => [pair.id, pair]));
  for (const row of rows) {
    if (row.gone === true) continue;
    const stored = motionsOf(row);
    const [a, b] = stored.map((each) => bodyOf(state, each, { first, gone })) as [Found, Found];
    const metBy = metByOf(row);
    const mover = moverOf(a.body, b.body);
    const contact = newContact({ a: a.body, b: b.body, startMs: row.startMs, metBy, mover });
    contact.isKept = true;
    contact.heldMs = heldMs;
    join(contact);
    state.contacts++;
    if (holds !== undefined) contact.hold = holds.get(row.id)?.hold ?? TOUCHING;
    else if (a.isExact && b.isExact) contact.hold = holdOf(contact, nowMs);
    if (!a.isExact || !b.isExact) contact.heldMs = Math.max(heldMs, nowMs);
    state.deadlines.push(dueMs(contact), contact);
    if (contact.hold !== TOUCHING) found.held.push(contact);
    if (metBy.receivedMs >= publishedMs) found.unannounced.push(contact);
  }
  return found;
}

/** The first motion of each trackable; where it stands counts for those that do not move. */
function firstOf(ahead: readonly Motion[]): ReadonlyMap<string, Motion> {
  const first = new Map<string, Motion>();
  for (const motion of ahead) {
    const known = first.get(motion.id);
    if (known === undefined || (known.kind === 'stands' && motion.kind !== 'stands')) first.set(motion.id, motion);
  }
  return first;
}

/** One of a pair, and whether that is where it was. */
interface Found {
  readonly body: Body;
  readonly isExact: boolean;
}

function bodyOf(
  state: CollisionState,
  kept: TrackableMotion,
  { first, gone }: { readonly first: ReadonlyMap<string, Motion>; readonly gone: readonly string[] },
): Found {
  const known = state.bodies.get(kept.id);
  if (known !== undefined) {
    const isLater = kept.receivedMs > known.motion.receivedMs;
    return { body: isLater ? putAt(state, at(known.motion, kept)) : known, isExact: true };
  }
  const next = first.get(kept.id);
  // It has moved since, and will soon move again: where it was in between will not be far.
  if (next !== undefined) return { body: putAt(state, next.kind === 'gone' ? kept : next), isExact: false };
  // What is gone is there for the end of the pair alone. Of anything else the last locations were lost.
  return { body: putAt(state, { ...kept, collides: !gone.includes(kept.id) }), isExact: true };
}

/** The one that is gone, else the one that moved last. */
function moverOf(a: Body, b: Body): Body {
  if (a.motion.collides !== b.motion.collides) return a.motion.collides ? b : a;
  return a.motion.receivedMs > b.motion.receivedMs ? a : b;
}

/** A trackable as it is now, at a later place than the one of its row: that was lost. */
function at(motion: TrackableMotion, place: TrackableMotion): TrackableMotion {
  const { receivedMs, eventTimeMs, lon, lat, z, elevationRef, levelMetres, floor } = place;
  const ring = motion.ring && (place.ring ?? motion.ring);
  return { ...motion, receivedMs, eventTimeMs, lon, lat, z, elevationRef, levelMetres, floor, ring };
}

function holdOf(contact: Contact, nowMs: number): Lease {
  const { a, b, hold } = contact;
  if (!mayCollide(a, b)) return { at: 'out', toleranceEndMs: nowMs, delayEndMs: nowMs };
  const holding = holdingOf(a, b);
  return observe(hold, areaOf(a, b, holding.toleranceMetres), holding, nowMs);
}
