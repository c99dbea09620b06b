// hot: see bench/kernel/collisions.bench.ts
/**
 * Finds the collisions of trackables, pair by pair, from the motions of all shards.
 *
 * Motions are taken one after another, as they come, each at its time of receipt: first the deadlines that were due by
 * then, then the collisions that the trackable is in, then the trackables that it has newly met, each in the order of
 * the other's id. Nothing depends on how motions are split into steps. A motion without neighbours costs a few
 * look-ups in the grid and allocates nothing.
 */
import type { EventBatch } from '../../model/event_batch.ts';
import type { CollisionEvent } from '../../model/events.ts';
import { eventTimeOfMonotonic, NO_CLOCK_STEPS, type ClockStep } from '../../model/clock_steps.ts';
import type { Variant } from '../../model/topics.ts';
import { EventWriter } from '../event_writer.ts';
import type { NewRecordBuffer } from '../location/record.ts';
import type { TrackableRemoved, Motion, TrackableMotion } from '../motion/motion.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { type Body, type Contact, dueMs, join, newContact, otherOf, part } from './body.ts';
import { type Announcement, writeCollision } from './event_text.ts';
import { collect, startSearch } from './grid.ts';
import { holdingOf, observe, releaseMs } from './lease.ts';
import { areaOf, mayCollide } from './pairing.ts';
import { type Restoration, type Restored, restore } from './restore.ts';
import { type CollisionRow, goneRowOf, type HeldPair, heldPair, rowOf } from './row.ts';
import { type CollisionState, newCollisionState, putAt, refreshRenderings, takeAway } from './state.ts';

export interface CollisionOptions {
  /** Makes the id of an event. */
  readonly newId: () => string;
  /** Returns the id of the start or end that a name stands for: the same one whichever stage finds it. */
  readonly namedId: (name: string) => string;
  /** Finds a zone as it is now, for renderings in its coordinates. */
  readonly zones: ZoneLookup;
  /** Makes the memory that events are written to. */
  readonly newBuffer: NewRecordBuffer;
}

export interface CollisionInput {
  /** Deadlines up to now fire at the end; later motions must not have been received before. */
  readonly nowMs: number;
  /** In ascending order of `seq`. */
  readonly motions: readonly Motion[];
  /** The renderings wanted from now on, when they have changed. */
  readonly variants?: readonly Variant[] | undefined;
  /** How running times and event times become wall-clock times; they are the same if left out. */
  readonly setBacks?: readonly ClockStep[] | undefined;
  /**
   * Whether a trackable that stands is certainly where its last motion was. Then a pair that touches without being in
   * collision has met unnoticed, and starts to collide. False after the restart of a single hub, whose rows may be older.
   */
  readonly areStandsExact?: boolean | undefined;
}

export interface CollisionOutcome {
  /** By variant, and in order. They are good until the next step. */
  readonly events: readonly EventBatch[];
  /** Events by kind, whether or not anybody has subscribed. */
  readonly started: number;
  readonly colliding: number;
  readonly ended: number;
  /** Of pairs that have begun or ceased to collide. To be kept before these events are published: see row.ts. */
  readonly rows: readonly CollisionRow[];
  /** Pairs that still collide, but are held by something else than before: by touching, or by other deadlines. */
  readonly held: readonly HeldPair[];
  /** When to step again at the latest, in milliseconds since 1970; Infinity when nothing is due. */
  readonly nextDeadlineMs: number;
}

export interface CollisionStage {
  readonly state: CollisionState;
  step(input: CollisionInput): CollisionOutcome;
  /** Takes over what another stage has left, without events. Before the first step that it matters to. */
  restore(restoration: Restoration): void;
}

/** Opens a stage without trackables. */
export function openCollisionStage(options: CollisionOptions): CollisionStage {
  const state = newCollisionState(options.newBuffer);
  const events = new EventWriter(options.newBuffer);
  let restored: Restored = { held: [], unannounced: [] };
  const begin = (): Run => {
    const { held, unannounced } = restored;
    restored = { held: [], unannounced: [] };
    const changes = { met: [], goneRows: [], held: new Set(held), started: 0, colliding: 0, ended: 0 };
    return { state, options, events, unannounced, ...changes };
  };
  return {
    state,
    step: (input) => step(begin(), input),
    restore(restoration) {
      restored = restore(state, restoration);
    },
  };
}

/** Memory of events that is kept for the next step, of each variant. */
const EVENT_BYTES_KEPT = 16 << 20;

/** One step under way. */
interface Run {
  readonly state: CollisionState;
  readonly options: CollisionOptions;
  readonly events: EventWriter;
  /** Contacts that were restored, and whose start may not have been published. */
  readonly unannounced: readonly Contact[];
  /** Contacts that have begun. */
  readonly met: Contact[];
  /** Of contacts that had rows and have ended. */
  readonly goneRows: CollisionRow[];
  /** Contacts that are held by something else than before. */
  readonly held: Set<Contact>;
  started: number;
  colliding: number;
  ended: number;
}

function step(run: Run, input: CollisionInput): CollisionOutcome {
  const { nowMs, motions, variants, setBacks, areStandsExact = false } = input;
  const { state, events } = run;
  state.setBacks = setBacks ?? NO_CLOCK_STEPS;
  events.tidy(EVENT_BYTES_KEPT);
  if (variants !== undefined) events.retain(variants);
  refreshRenderings(state, variants, run.options.zones);
  for (const contact of run.unannounced) announce(run, contact, 'collision_start', contact.startMs);
  for (const motion of motions) {
    if (motion.kind !== 'stands') releaseDue(run, motion.receivedMs);
    if (motion.kind === 'gone') onGone(run, motion);
    else if (motion.kind === 'moved') onMoved(run, motion);
    else onStands(run, motion, areStandsExact);
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

/** Rows of what has changed in the run as a whole: a pair that has met and parted again needs none. */
function rowsOf({ met, goneRows }: Run): readonly CollisionRow[] {
  const rows = goneRows;
  for (const contact of met) {
    if (contact.hasEnded) continue;
    contact.isKept = true;
    // After the row that says that the same pair has parted.
    rows.push(rowOf(contact));
  }
  return rows;
}

function heldOf({ held }: Run): readonly HeldPair[] {
  const pairs: HeldPair[] = [];
  for (const contact of held) if (!contact.hasEnded) pairs.push(heldPair(contact));
  return pairs;
}

const FOUND: Body[] = [];

function onMoved(run: Run, motion: TrackableMotion): void {
  const { state } = run;
  if (!motion.collides && !state.bodies.has(motion.id)) return;
  const body = putAt(state, motion);
  body.isHeardOf = true;
  const search = startSearch(state.grid, body);
  reassess(run, body, search);
  if (motion.collides) meet(run, body);
  else takeAway(state, body);
}

/** Where a trackable stands is no event. A stage that has missed its way there updates its collisions by that. */
function onStands(run: Run, motion: TrackableMotion, isExact: boolean): void {
  const known = run.state.bodies.get(motion.id);
  if (known !== undefined && known.motion.receivedMs > motion.receivedMs) return;
  const body = known?.motion.receivedMs === motion.receivedMs ? known : standAt(run, motion);
  if (!isExact || !body.motion.collides) return;
  const search = startSearch(run.state.grid, body);
  for (const contact of body.contacts) otherOf(contact, body).seenIn = search;
  meet(run, body);
}

function standAt(run: Run, motion: TrackableMotion): Body {
  const body = putAt(run.state, motion);
  for (const contact of body.contacts) {
    const other = otherOf(contact, body);
    const holding = holdingOf(body, other);
    const area = mayCollide(body, other) ? areaOf(body, other, holding.toleranceMetres) : 'out';
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
  const timeMs = eventTimeOfMonotonic(receivedMs, run.state.setBacks);
  while (body.contacts.length > 0) end(run, body.contacts[0]!, body, timeMs);
  takeAway(run.state, body);
}

/** Brings the collisions that the body is in up to date, and marks the others as seen. */
function reassess(run: Run, body: Body, search: number): void {
  const { contacts } = body;
  const { eventTimeMs, receivedMs } = body.motion;
  let index = 0;
  while (index < contacts.length) {
    const contact = contacts[index]!;
    const other = otherOf(contact, body);
    other.seenIn = search;
    contact.mover = body;
    if (!mayCollide(body, other)) {
      end(run, contact, body, eventTimeMs);
      continue;
    }
    const holding = holdingOf(body, other);
    const { hold } = contact;
    contact.hold = observe(hold, areaOf(body, other, holding.toleranceMetres), holding, receivedMs);
    if (contact.hold !== hold) run.held.add(contact);
    if (other.isHeardOf) contact.heldMs = 0;
    const endMs = dueMs(contact);
    if (endMs <= receivedMs) {
      end(run, contact, body, eventTimeMs);
      continue;
    }
    run.state.deadlines.push(endMs, contact);
    index++;
    // By its places alone it has ended: whether it has, the other one or the time will tell.
    if (releaseMs(contact.hold) <= receivedMs) continue;
    run.colliding++;
    announce(run, contact, 'colliding', eventTimeMs);
  }
}

/** Starts the collisions with what the body touches now. */
function meet(run: Run, body: Body): void {
  collect(run.state.grid, body, FOUND);
  if (FOUND.length === 0) return;
  const met = FOUND.filter((other) => mayCollide(body, other) && areaOf(body, other, 0) === 'touching');
  FOUND.length = 0;
  met.sort((a, b) => (a.motion.id < b.motion.id ? -1 : 1));
  // Of two that stand the later one has moved to the other.
  for (const other of met) {
    if (other.motion.receivedMs > body.motion.receivedMs) start(run, other, body);
    else start(run, body, other);
  }
}

function start(run: Run, mover: Body, other: Body): void {
  const [a, b] = mover.motion.id < other.motion.id ? [mover, other] : [other, mover];
  const { eventTimeMs: startMs, receivedMs, seq } = mover.motion;
  const contact = newContact({ a, b, startMs, metBy: { receivedMs, seq }, mover });
  join(contact);
  run.state.contacts++;
  run.met.push(contact);
  run.started++;
  announce(run, contact, 'collision_start', contact.startMs);
}

function end(run: Run, contact: Contact, mover: Body, timeMs: number): void {
  const { a, b } = contact;
  contact.mover = mover;
  contact.hasEnded = true;
  part(contact);
  if (contact.isKept) run.goneRows.push(goneRowOf(contact));
  run.state.deadlines.remove(contact);
  run.state.contacts--;
  run.ended++;
  announce(run, contact, 'collision_end', timeMs);
  for (const body of [a, b]) {
    // It was restored for the sake of this end.
    if (body.contacts.length === 0 && !body.motion.collides) takeAway(run.state, body);
  }
}

/** Releases the pairs whose deadlines are due, in the order of these, then of their ids. */
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
  const { setBacks } = run.state;
  for (const contact of due) end(run, contact, contact.mover, eventTimeOfMonotonic(releaseMs(contact.hold), setBacks));
}

function byIds(one: Contact, other: Contact): number {
  if (one.a !== other.a) return one.a.motion.id < other.a.motion.id ? -1 : 1;
  return one.b.motion.id < other.b.motion.id ? -1 : 1;
}

function announce(run: Run, contact: Contact, type: CollisionEvent['collision_type'], timeMs: number): void {
  const { renderings } = run.state;
  if (renderings.length === 0) return;
  // A clock that was set back, or a late location, must not end a collision before it began.
  const announcement = { type, contact, mover: contact.mover, timeMs: Math.max(timeMs, contact.startMs) };
  const id = type === 'colliding' ? run.options.newId() : run.options.namedId(nameOf(announcement));
  writeCollision({ id, ...announcement }, run.state, run.events);
}

/**
 * A start is identified by its pair and the motion that began the collision. An end is identified by its start and by what it
 * reports: two stages of which one has lost motions of the pair may end the same collision differently, as two events.
 */
function nameOf({ type, contact, mover, timeMs }: Omit<Announcement, 'id'>): string {
  const { a, b, metBy } = contact;
  const name = [type, a.motion.id, b.motion.id, metBy.receivedMs, metBy.seq];
  if (type === 'collision_start') return JSON.stringify(name);
  const positions = [a, b].map(({ motion: { lon, lat, z, floor } }) => [lon, lat, z, floor]);
  return JSON.stringify([...name, timeMs, mover.motion.id, positions]);
}
