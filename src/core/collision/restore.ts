import type { Motion, TrackableMotion } from '../motion/motion.ts';
import { type Body, type Contact, dueMs, connect, newContact } from './body.ts';
import { holdingOf, type CollisionHold, observe, TOUCHING } from './hold.ts';
import { areaOf, mayCollide } from './pairing.ts';
import {
  byPosition,
  type CollisionRow,
  type HeldPair,
  type PairRow,
  type StoredCollision,
  storedCollision,
  type Transition,
} from './row.ts';
import { type CollisionState, putAt } from './state.ts';

/**
 * State that a stage restores from its predecessor, which stopped with its hub or only with its worker.
 *
 * Every trackable is at its last position. Every pair with a row is colliding, unless the row contains an end. If only
 * the worker has failed, the holds of all pairs are known and their deadlines continue. After a restart of the hub, the
 * positions decide whether a pair touches; if not, its tolerance timeout and exit delay start again. A pair that
 * touches but has no row starts to collide with the next motion of either trackable.
 */
export interface Restoration {
  readonly nowMs: number;
  /** Colliding pairs, and ended pairs whose ends may not be published yet. */
  readonly rows: readonly CollisionRow[];
  /** Holds of the pairs that do not touch; undefined after a restart, when they are unknown. */
  readonly held: readonly HeldPair[] | undefined;
  /** Trackables of pairs that were removed or no longer take part in collisions. */
  readonly gone: readonly string[];
  /** Time before which no pair is released by a motion of one trackable: see Contact. */
  readonly heldMs: number;
  /**
   * Last step whose starts and ends the predecessor has published. Starts and ends of later steps are published again,
   * with the same ids. Undefined if all are published.
   */
  readonly publishedStep?: number | undefined;
  /** Last motions that the predecessor has evaluated, as far as known. */
  readonly done: readonly Motion[];
  /**
   * Motions to evaluate next, in order: the positions of all trackables, and the motions that the predecessor has not
   * evaluated.
   */
  readonly ahead: readonly Motion[];
}

/** Parts of the restored state that the stage reports in its next step. */
export interface Restored {
  /** Contacts held by deadlines. */
  readonly held: readonly Contact[];
  /** Starts and ends that may not be published yet, in order, with their collisions. */
  readonly unpublished: readonly (readonly [Transition, StoredCollision])[];
  /** Rows of all ended pairs, and of pairs with unpublished starts. */
  readonly rows: readonly PairRow[];
}

/** Restores the state of the predecessor. */
export function restore(state: CollisionState, restoration: Restoration): Restored {
  const { nowMs, rows, held, gone, heldMs, publishedStep = Number.POSITIVE_INFINITY, done, ahead } = restoration;
  const found = { held: [] as Contact[], unpublished: [] as [Transition, StoredCollision][], rows: [] as PairRow[] };
  const first = firstOf(ahead);
  const last = new Map(done.map((motion) => [motion.id, motion]));
  for (const motion of first.values()) {
    // A reported position holds only for a trackable that does not move next; others start from their last evaluated
    // motion.
    const position = motion.kind === 'stands' ? motion : last.get(motion.id);
    if (position !== undefined && position.kind !== 'gone') putAt(state, position);
  }
  const holds = held && new Map(held.map((pair) => [pair.id, pair]));
  for (const row of rows) {
    if (row.gone === true) continue;
    const stored = storedCollision(row);
    const { rowId, begun, ended } = stored;
    const unpublished = [begun, ended].filter(
      (each) => each !== undefined && each.at[0] > publishedStep,
    ) as Transition[];
    found.unpublished.push(...unpublished.map((each): [Transition, StoredCollision] => [each, stored]));
    if (ended !== undefined || unpublished.length > 0) found.rows.push(row);
    if (ended !== undefined) continue;
    const [a, b] = [begun.a, begun.b].map((each) => bodyOf(state, each, { first, gone })) as [
      RestoredBody,
      RestoredBody,
    ];
    const mover = moverOf(a.body, b.body);
    const contact = newContact({ a: a.body, b: b.body, rowId, begun, mover, reportedBy: undefined });
    contact.hasRow = true;
    contact.heldMs = heldMs;
    connect(contact);
    state.contacts++;
    if (holds !== undefined) contact.hold = holds.get(row.id)?.hold ?? TOUCHING;
    else if (a.isExact && b.isExact) contact.hold = holdOf(contact, nowMs);
    if (!a.isExact || !b.isExact) contact.heldMs = Math.max(heldMs, nowMs);
    state.deadlines.push(dueMs(contact), contact);
    if (contact.hold !== TOUCHING) found.held.push(contact);
  }
  found.unpublished.sort(([one], [other]) => byPosition(one, other));
  return found;
}

/** Returns the first movement of each trackable, or its reported position if it does not move. */
function firstOf(ahead: readonly Motion[]): ReadonlyMap<string, Motion> {
  const first = new Map<string, Motion>();
  for (const motion of ahead) {
    const known = first.get(motion.id);
    if (known === undefined || (known.kind === 'stands' && motion.kind !== 'stands')) first.set(motion.id, motion);
  }
  return first;
}

/** One trackable of a pair, and whether its position is exact. */
interface RestoredBody {
  readonly body: Body;
  readonly isExact: boolean;
}

function bodyOf(
  state: CollisionState,
  stored: TrackableMotion,
  { first, gone }: { readonly first: ReadonlyMap<string, Motion>; readonly gone: readonly string[] },
): RestoredBody {
  const known = state.bodies.get(stored.id);
  if (known !== undefined) {
    const isLater = stored.receivedMs > known.motion.receivedMs;
    return { body: isLater ? putAt(state, at(known.motion, stored)) : known, isExact: true };
  }
  const next = first.get(stored.id);
  // The position before the next motion is unknown, but near it.
  if (next !== undefined) return { body: putAt(state, next.kind === 'gone' ? stored : next), isExact: false };
  // A removed trackable exists only until the pair ends. For any other trackable, the locations after the row were
  // lost.
  return { body: putAt(state, { ...stored, collides: !gone.includes(stored.id) }), isExact: true };
}

/** Returns the removed trackable, otherwise the one that moved last. */
function moverOf(a: Body, b: Body): Body {
  if (a.motion.collides !== b.motion.collides) return a.motion.collides ? b : a;
  return a.motion.receivedMs > b.motion.receivedMs ? a : b;
}

/**
 * Returns a trackable with its current values at the position stored with the pair, which is later: the trackable's own
 * row was lost.
 */
function at(motion: TrackableMotion, position: TrackableMotion): TrackableMotion {
  const { receivedMs, eventTimeMs, lon, lat, z, elevationRef, levelMeters, floor } = position;
  const ring = motion.ring && (position.ring ?? motion.ring);
  return { ...motion, receivedMs, eventTimeMs, lon, lat, z, elevationRef, levelMeters, floor, ring };
}

function holdOf(contact: Contact, nowMs: number): CollisionHold {
  const { a, b, hold } = contact;
  if (!mayCollide(a, b)) return { at: 'out', toleranceEndMs: nowMs, delayEndMs: nowMs };
  const holding = holdingOf(a, b);
  return observe(hold, areaOf(a, b, holding.toleranceMeters), holding, nowMs);
}
