// hot: see bench/kernel/collisions.bench.ts
/**
 * Finds the collisions of trackables, pair by pair, from the motions of all shards.
 *
 * Motions are processed one after another, each at its time of receipt. Deadlines due by then fire first, then the
 * trackable's current collisions are updated, then its new contacts start; both in the order of the other trackable's
 * id. The result does not depend on how motions are split into steps. A motion without neighbors costs a few lookups in
 * the grid and allocates nothing.
 */
import type { EventBatch } from '../../model/event_batch.ts';
import type { CollisionEvent } from '../../model/events.ts';
import { eventTimeOfMonotonic, NO_CLOCK_STEPS, type ClockStep } from '../../model/clock_steps.ts';
import type { Variant } from '../../model/topics.ts';
import { EventWriter } from '../event_writer.ts';
import type { NewRecordBuffer } from '../location/record.ts';
import type { TrackableRemoved, Motion, TrackableMotion } from '../motion/motion.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { type Body, bodyAt, type Contact, dueMs, connect, newContact, otherOf, separate } from './body.ts';
import { writeCollision } from './event_json.ts';
import { collect, startSearch } from './grid.ts';
import { holdingOf, observe, releaseMs } from './hold.ts';
import { areaOf, mayCollide } from './pairing.ts';
import { type Restoration, type Restored, restore } from './restore.ts';
import {
  type CollisionRow,
  goneRow,
  type HeldPair,
  type PairRow,
  rowIdOf,
  rowOf,
  type StoredCollision,
  type Transition,
} from './row.ts';
import { type CollisionState, newCollisionState, putAt, refreshRenderings, takeAway } from './state.ts';

export interface CollisionOptions {
  /** Returns a new event id. */
  readonly newId: () => string;
  /** Returns an id derived from the name of a start or end. Every stage derives the same id. */
  readonly namedId: (name: string) => string;
  /** Finds the current zone, for renderings in its coordinates. */
  readonly zones: ZoneLookup;
  /** Allocates the buffers of events. */
  readonly newBuffer: NewRecordBuffer;
}

export interface CollisionInput {
  /** Deadlines up to this time fire at the end of the step. Motions of later steps must not be received before it. */
  readonly nowMs: number;
  /** In ascending order of `seq`. */
  readonly motions: readonly Motion[];
  /** All subscribed renderings, if they have changed. */
  readonly variants?: readonly Variant[] | undefined;
  /** Clock steps that convert monotonic times and event times to wall-clock times; by default the times are equal. */
  readonly clockSteps?: readonly ClockStep[] | undefined;
  /**
   * Whether another hub may take over this stage. A shared stage stores ends as well as starts. Its reported positions
   * are exactly those of the last motions, so a pair that touches at a reported position starts to collide. In a single
   * hub, positions restored from rows may be older than the last motions.
   */
  readonly isShared?: boolean | undefined;
  /** Number of the step; 0 by default. It increases, also from one stage to its successor. */
  readonly step?: number | undefined;
}

export interface CollisionOutcome {
  /** Events by variant, in order. Valid until the next step. */
  readonly events: readonly EventBatch[];
  /** Numbers of events by type, with or without subscribers. */
  readonly started: number;
  readonly colliding: number;
  readonly ended: number;
  /** Rows of pairs that have started or ended, to be stored before the events are published: see row.ts. */
  readonly rows: readonly CollisionRow[];
  /** Colliding pairs whose hold has changed. */
  readonly held: readonly HeldPair[];
  /** Latest time of the next step, in milliseconds since 1970; Infinity if no deadline is set. */
  readonly nextDeadlineMs: number;
}

export interface CollisionStage {
  readonly state: CollisionState;
  step(input: CollisionInput): CollisionOutcome;
  /** Restores the state of a predecessor, without events. Call it before the first step that depends on that state. */
  restore(restoration: Restoration): void;
}

/** Opens a stage without trackables. */
export function openCollisionStage(options: CollisionOptions): CollisionStage {
  const state = newCollisionState(options.newBuffer);
  const events = new EventWriter(options.newBuffer);
  let restored: Restored = NOTHING_RESTORED;
  const begin = (input: CollisionInput): Run => {
    const { held, unpublished, rows } = restored;
    restored = NOTHING_RESTORED;
    const { step: number = 0, isShared = false } = input;
    const changes = { changed: new Set<Contact>(), transitions: 0, started: 0, colliding: 0, ended: 0 };
    return { state, options, events, unpublished, rows, number, isShared, held: new Set(held), ...changes };
  };
  return {
    state,
    step: (input) => step(begin(input), input),
    restore(restoration) {
      restored = restore(state, restoration);
    },
  };
}

const NOTHING_RESTORED: Restored = { held: [], unpublished: [], rows: [] };
/** Memory per variant that is retained for the events of the next step, in bytes. */
const EVENT_BYTES_RETAINED = 16 << 20;

/** A step in progress. */
interface Run {
  readonly state: CollisionState;
  readonly options: CollisionOptions;
  readonly events: EventWriter;
  /** See Restored. */
  readonly unpublished: Restored['unpublished'];
  readonly rows: readonly PairRow[];
  /** See CollisionInput. */
  readonly number: number;
  readonly isShared: boolean;
  /** Contacts that have started or ended. */
  readonly changed: Set<Contact>;
  /** Number of starts and ends so far. */
  transitions: number;
  /** Contacts whose hold has changed. */
  readonly held: Set<Contact>;
  started: number;
  colliding: number;
  ended: number;
}

function step(run: Run, input: CollisionInput): CollisionOutcome {
  const { nowMs, motions, variants, clockSteps } = input;
  const { state, events } = run;
  state.clockSteps = clockSteps ?? NO_CLOCK_STEPS;
  events.tidy(EVENT_BYTES_RETAINED);
  if (variants !== undefined) events.retain(variants);
  refreshRenderings(state, variants, run.options.zones);
  for (const [transition, collision] of run.unpublished) announceStored(run, transition, collision);
  for (const motion of motions) {
    if (motion.kind !== 'stands') releaseDue(run, motion.receivedMs);
    if (motion.kind === 'gone') onGone(run, motion);
    else if (motion.kind === 'moved') onMoved(run, motion);
    else onStands(run, motion);
  }
  releaseDue(run, nowMs);
  const { started, colliding, ended } = run;
  return {
    events: events.take(),
    started,
    colliding,
    ended,
    rows: rowsOf(run),
    held: heldOf(run),
    nextDeadlineMs: state.deadlines.nextMs,
  };
}

/**
 * Returns the rows of the step. In a single hub, a pair that collided and was released within the step needs no row.
 */
function rowsOf({ rows: restored, changed, isShared }: Run): readonly CollisionRow[] {
  const rows: CollisionRow[] = [...restored];
  for (const contact of changed) {
    if (contact.ended === undefined || isShared) rows.push(rowOf(contact));
    else if (contact.hasRow) rows.push(goneRow(contact.rowId));
    contact.hasRow = true;
  }
  return rows;
}

function heldOf({ held }: Run): readonly HeldPair[] {
  const pairs: HeldPair[] = [];
  for (const contact of held) if (contact.ended === undefined) pairs.push({ id: contact.rowId, hold: contact.hold });
  return pairs;
}

const FOUND: Body[] = [];

function onMoved(run: Run, motion: TrackableMotion): void {
  const { state } = run;
  if (!motion.collides && !state.bodies.has(motion.id)) return;
  const body = putAt(state, motion);
  body.hasMoved = true;
  const search = startSearch(state.grid, body);
  reassess(run, body, search);
  if (motion.collides) meet(run, body);
  else takeAway(state, body);
}

/**
 * Handles a reported position, which publishes nothing for existing collisions. If the stage missed the motion to that
 * position, it updates their holds.
 */
function onStands(run: Run, motion: TrackableMotion): void {
  const known = run.state.bodies.get(motion.id);
  if (known !== undefined && known.motion.receivedMs > motion.receivedMs) return;
  const body = known?.motion.receivedMs === motion.receivedMs ? known : standAt(run, motion);
  if (!run.isShared || !body.motion.collides) return;
  const search = startSearch(run.state.grid, body);
  for (const contact of body.contacts) otherOf(contact, body).seenIn = search;
  meet(run, body, motion);
}

function standAt(run: Run, motion: TrackableMotion): Body {
  const body = putAt(run.state, motion);
  for (const contact of body.contacts) {
    const other = otherOf(contact, body);
    const holding = holdingOf(body, other);
    const area = mayCollide(body, other) ? areaOf(body, other, holding.toleranceMeters) : 'out';
    const { hold } = contact;
    contact.hold = observe(hold, area, holding, motion.receivedMs);
    if (contact.hold !== hold) run.held.add(contact);
    run.state.deadlines.push(dueMs(contact), contact);
  }
  return body;
}

function onGone(run: Run, { id, receivedMs }: TrackableRemoved): void {
  const body = run.state.bodies.get(id);
  if (body === undefined) return;
  const timeMs = eventTimeOfMonotonic(receivedMs, run.state.clockSteps);
  while (body.contacts.length > 0) end(run, body.contacts[0]!, body, timeMs);
  takeAway(run.state, body);
}

/** Updates the collisions of the body and marks the other bodies as visited. */
function reassess(run: Run, body: Body, search: number): void {
  const { contacts } = body;
  const { eventTimeMs, receivedMs } = body.motion;
  let index = 0;
  while (index < contacts.length) {
    const contact = contacts[index]!;
    const other = otherOf(contact, body);
    other.seenIn = search;
    if (isEvaluated(contact, body.motion)) {
      index++;
      continue;
    }
    contact.mover = body;
    if (!mayCollide(body, other)) {
      end(run, contact, body, eventTimeMs);
      continue;
    }
    const holding = holdingOf(body, other);
    const { hold } = contact;
    contact.hold = observe(hold, areaOf(body, other, holding.toleranceMeters), holding, receivedMs);
    if (contact.hold !== hold) run.held.add(contact);
    if (other.hasMoved) contact.heldMs = 0;
    const endMs = dueMs(contact);
    if (endMs <= receivedMs) {
      end(run, contact, body, eventTimeMs);
      continue;
    }
    run.state.deadlines.push(endMs, contact);
    index++;
    // Only `heldMs` keeps the pair: it is not reported as colliding.
    if (releaseMs(contact.hold) <= receivedMs) continue;
    run.colliding++;
    announce(run, contact, 'colliding', eventTimeMs);
  }
}

/**
 * Whether the collision was started by a reported position that includes the motion. Reported positions may arrive
 * before the motions that led to them.
 */
function isEvaluated({ reportedBy }: Contact, { receivedMs, seq }: TrackableMotion): boolean {
  if (reportedBy === undefined || receivedMs > reportedBy.receivedMs) return false;
  return receivedMs < reportedBy.receivedMs || seq <= reportedBy.seq;
}

/**
 * Starts collisions with the bodies that the body touches now. `reported` is the reported position of the body;
 * undefined after a motion.
 */
function meet(run: Run, body: Body, reported?: TrackableMotion): void {
  collect(run.state.grid, body, FOUND);
  if (FOUND.length === 0) return;
  const met = FOUND.filter((other) => mayCollide(body, other) && areaOf(body, other, 0) === 'touching');
  FOUND.length = 0;
  met.sort((a, b) => (a.motion.id < b.motion.id ? -1 : 1));
  // If the other body's position is later, the other body is the mover.
  for (const other of met) {
    const [mover, still] = other.motion.receivedMs > body.motion.receivedMs ? [other, body] : [body, other];
    start(run, mover, still, reported);
  }
}

function start(run: Run, mover: Body, other: Body, reportedBy: Contact['reportedBy']): void {
  const [a, b] = mover.motion.id < other.motion.id ? [mover, other] : [other, mover];
  const begun = transition(run, { type: 'collision_start', timeMs: mover.motion.eventTimeMs, a, b, mover });
  const contact = newContact({ a, b, rowId: rowIdOf(begun), begun, mover, reportedBy });
  connect(contact);
  run.state.contacts++;
  run.changed.add(contact);
  run.started++;
  announce(run, contact, 'collision_start', begun.timeMs);
}

function transition(
  run: Run,
  { a, b, mover, ...rest }: Pick<Transition, 'type' | 'timeMs'> & Pick<Contact, 'a' | 'b' | 'mover'>,
): Transition {
  return { ...rest, a: a.motion, b: b.motion, moverId: mover.motion.id, at: [run.number, run.transitions++] };
}

function end(run: Run, contact: Contact, mover: Body, timeMs: number): void {
  const { a, b } = contact;
  contact.mover = mover;
  // A backward clock step, or a late location, must not end a collision before it began.
  const endMs = Math.max(timeMs, contact.begun.timeMs);
  contact.ended = transition(run, { type: 'collision_end', timeMs: endMs, a, b, mover });
  separate(contact);
  run.changed.add(contact);
  run.state.deadlines.remove(contact);
  run.state.contacts--;
  run.ended++;
  announce(run, contact, 'collision_end', endMs);
  for (const body of [a, b]) {
    // A removed trackable was restored only for this end.
    if (body.contacts.length === 0 && !body.motion.collides) takeAway(run.state, body);
  }
}

/** Releases the pairs whose deadlines are due, in the order of deadlines, then of ids. */
function releaseDue(run: Run, untilMs: number): void {
  const { deadlines } = run.state;
  if (deadlines.nextMs > untilMs) return;
  const due: Contact[] = [];
  for (let contact = deadlines.popDue(untilMs); contact !== undefined; contact = deadlines.popDue(untilMs)) {
    const endMs = dueMs(contact);
    if (endMs <= untilMs) due.push(contact);
    else deadlines.push(endMs, contact);
  }
  due.sort((one, other) => dueMs(one) - dueMs(other) || byIds(one, other));
  const { clockSteps } = run.state;
  for (const contact of due)
    end(run, contact, contact.mover, eventTimeOfMonotonic(releaseMs(contact.hold), clockSteps));
}

function byIds(one: Contact, other: Contact): number {
  if (one.a !== other.a) return one.a.motion.id < other.a.motion.id ? -1 : 1;
  return one.b.motion.id < other.b.motion.id ? -1 : 1;
}

function announce(run: Run, contact: Contact, type: CollisionEvent['collision_type'], atMs: number): void {
  if (run.state.renderings.length === 0) return;
  const { mover, begun, rowId } = contact;
  const id = type === 'colliding' ? run.options.newId() : run.options.namedId(nameOf(type, rowId));
  const timeMs = Math.max(atMs, begun.timeMs);
  const event = { id, type, mover, other: otherOf(contact, mover), startMs: begun.timeMs, timeMs };
  writeCollision(event, run.state, run.events);
}

/** Publishes a start or end that the predecessor has stored, with the same id and content. */
function announceStored(run: Run, { type, timeMs, a, b, moverId }: Transition, collision: StoredCollision): void {
  const { rowId, begun } = collision;
  const [mover, other] = (a.id === moverId ? [a, b] : [b, a]).map(bodyAt) as [Body, Body];
  const id = run.options.namedId(nameOf(type, rowId));
  writeCollision({ id, type, mover, other, startMs: begun.timeMs, timeMs }, run.state, run.events);
}

/** Returns the name from which the id of a start or end is derived. */
function nameOf(type: Transition['type'], rowId: string): string {
  return `${type} ${rowId}`;
}
