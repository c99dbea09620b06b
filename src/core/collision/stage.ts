// hot: see bench/kernel/collisions.bench.ts
/**
 * Finds the collisions of trackables, pair by pair, from the motions of all shards.
 *
 * Motions are taken one after another, as they come, each at its time of receipt: first the deadlines that were due by
 * then, then the collisions that the trackable is in, then the trackables that it has newly met, each in the order of
 * the other's id. Nothing depends on how motions are split into steps. A motion without neighbours costs a few
 * look-ups in the grid and allocates nothing.
 */
import type { CollisionEvent } from '../../model/events.ts';
import type { EventText, Variant } from '../../model/topics.ts';
import type { ZoneLookup } from '../location/text.ts';
import type { Motion } from '../motion/motion.ts';
import { type Body, locate, type Moved, newBody, newSite } from './body.ts';
import { type Contact, holdingOf, observe, otherOf, releaseMs, TOUCHING } from './contact.ts';
import { collisionTexts } from './event_text.ts';
import { collect, move, putIn, startSearch, takeOut } from './grid.ts';
import { areaOf, mayCollide } from './pairing.ts';
import { type CollisionState, newCollisionState, refreshRenderings } from './state.ts';

export interface CollisionOptions {
  /** Makes the id of an event. */
  readonly newId: () => string;
  /** Finds a zone as it is now, for renderings in its coordinates. */
  readonly zones: ZoneLookup;
}

export interface CollisionInput {
  /** Deadlines up to now fire at the end; later motions must not have been received before. */
  readonly nowMs: number;
  /** In ascending order of `seq`. */
  readonly motions: readonly Motion[];
  /** The renderings wanted from now on, when they have changed. */
  readonly variants?: readonly Variant[] | undefined;
}

export interface CollisionOutcome {
  readonly events: readonly EventText[];
  /** Events by kind, whether or not anybody has subscribed. */
  readonly started: number;
  readonly colliding: number;
  readonly ended: number;
  /** When to step again at the latest, in milliseconds since 1970; Infinity when nothing is due. */
  readonly nextDeadlineMs: number;
}

export interface CollisionStage {
  readonly state: CollisionState;
  step(input: CollisionInput): CollisionOutcome;
}

/** Opens a stage without trackables. */
export function openCollisionStage(options: CollisionOptions): CollisionStage {
  const state = newCollisionState();
  return { state, step: (input) => step({ state, options, events: [], started: 0, colliding: 0, ended: 0 }, input) };
}

/** One step under way. */
interface Run {
  readonly state: CollisionState;
  readonly options: CollisionOptions;
  readonly events: EventText[];
  started: number;
  colliding: number;
  ended: number;
}

function step(run: Run, { nowMs, motions, variants }: CollisionInput): CollisionOutcome {
  const { state, events } = run;
  refreshRenderings(state, variants, run.options.zones);
  for (const motion of motions) {
    releaseDue(run, motion.receivedMs);
    if (motion.kind === 'moved') onMoved(run, motion);
    else onGone(run, motion);
  }
  releaseDue(run, nowMs);
  const { started, colliding, ended } = run;
  return { events, started, colliding, ended, nextDeadlineMs: state.deadlines.nextMs };
}

const SITE = newSite();
const FOUND: Body[] = [];

function onMoved(run: Run, motion: Moved): void {
  const { state } = run;
  const known = state.bodies.get(motion.id);
  if (known === undefined && !motion.collides) return;
  const body = known ?? newBody(motion);
  locate(motion, body.ring, SITE);
  body.motion = motion;
  body.ring = SITE.ring;
  if (body.texts.length > 0) body.texts = [];
  if (known === undefined) appear(state, body);
  else move(state.grid, body, SITE.space, SITE.reachMetres);
  const search = startSearch(state.grid, body);
  reassess(run, body, search);
  if (motion.collides) meet(run, body);
  else disappear(state, body);
}

function onGone(run: Run, { id, receivedMs }: Extract<Motion, { kind: 'gone' }>): void {
  const body = run.state.bodies.get(id);
  if (body === undefined) return;
  while (body.contacts.length > 0) end(run, body.contacts[0]!, body, receivedMs);
  disappear(run.state, body);
}

function appear(state: CollisionState, body: Body): void {
  body.x = SITE.space[0]!;
  body.y = SITE.space[1]!;
  body.z = SITE.space[2]!;
  body.reachMetres = SITE.reachMetres;
  state.bodies.set(body.motion.id, body);
  putIn(state.grid, body);
}

function disappear(state: CollisionState, body: Body): void {
  takeOut(state.grid, body);
  state.bodies.delete(body.motion.id);
}

/** Brings the collisions that the body is in up to date, and marks the others as seen. */
function reassess(run: Run, body: Body, search: number): void {
  const { contacts } = body;
  const { keyMs, receivedMs } = body.motion;
  let index = 0;
  while (index < contacts.length) {
    const contact = contacts[index]!;
    const other = otherOf(contact, body);
    other.seenIn = search;
    contact.mover = body;
    if (!mayCollide(body, other)) {
      end(run, contact, body, keyMs);
      continue;
    }
    const holding = holdingOf(body, other);
    contact.hold = observe(contact.hold, areaOf(body, other, holding.toleranceMetres), holding, receivedMs);
    const dueMs = releaseMs(contact.hold);
    if (dueMs <= receivedMs) {
      end(run, contact, body, keyMs);
      continue;
    }
    run.state.deadlines.push(dueMs, contact);
    run.colliding++;
    announce(run, contact, 'colliding', keyMs);
    index++;
  }
}

/** Starts the collisions with what the body touches now. */
function meet(run: Run, body: Body): void {
  collect(run.state.grid, body, FOUND);
  if (FOUND.length === 0) return;
  const met = FOUND.filter((other) => mayCollide(body, other) && areaOf(body, other, 0) === 'touching');
  FOUND.length = 0;
  met.sort((a, b) => (a.motion.id < b.motion.id ? -1 : 1));
  for (const other of met) start(run, body, other);
}

function start(run: Run, mover: Body, other: Body): void {
  const [a, b] = mover.motion.id < other.motion.id ? [mover, other] : [other, mover];
  const contact: Contact = { a, b, startMs: mover.motion.keyMs, mover, hold: TOUCHING, heapIndex: -1 };
  a.contacts.splice(placeOf(a, b), 0, contact);
  b.contacts.splice(placeOf(b, a), 0, contact);
  run.state.contacts++;
  run.started++;
  announce(run, contact, 'collision_start', contact.startMs);
}

function end(run: Run, contact: Contact, mover: Body, timeMs: number): void {
  const { a, b } = contact;
  contact.mover = mover;
  a.contacts.splice(placeOf(a, b), 1);
  b.contacts.splice(placeOf(b, a), 1);
  run.state.deadlines.remove(contact);
  run.state.contacts--;
  run.ended++;
  announce(run, contact, 'collision_end', timeMs);
  // Texts are kept for the next event of a collision only.
  if (a.contacts.length === 0) a.texts = [];
  if (b.contacts.length === 0) b.texts = [];
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

/** Releases the pairs whose deadlines are due, in the order of these, then of their ids. */
function releaseDue(run: Run, untilMs: number): void {
  const { deadlines } = run.state;
  if (deadlines.nextMs > untilMs) return;
  const due: Contact[] = [];
  for (let contact = deadlines.popDue(untilMs); contact !== undefined; contact = deadlines.popDue(untilMs)) {
    const dueMs = releaseMs(contact.hold);
    if (dueMs <= untilMs) due.push(contact);
    else deadlines.push(dueMs, contact);
  }
  due.sort((one, other) => releaseMs(one.hold) - releaseMs(other.hold) || byIds(one, other));
  for (const contact of due) end(run, contact, contact.mover, releaseMs(contact.hold));
}

function byIds(one: Contact, other: Contact): number {
  if (one.a !== other.a) return one.a.motion.id < other.a.motion.id ? -1 : 1;
  return one.b.motion.id < other.b.motion.id ? -1 : 1;
}

function announce(run: Run, contact: Contact, type: CollisionEvent['collision_type'], timeMs: number): void {
  const { renderings } = run.state;
  if (renderings.length === 0) return;
  const told = {
    id: run.options.newId(),
    type,
    contact,
    mover: contact.mover,
    // A clock that was set back, or a late location, must not end a collision before it began.
    timeMs: Math.max(timeMs, contact.startMs),
  };
  for (const text of collisionTexts(told, run.state)) run.events.push(text);
}
