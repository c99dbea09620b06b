import { NO_CLOCK_STEPS, type ClockStep } from '../../model/clock_steps.ts';
import type { Variant } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import { DeadlineHeap } from '../deadline_heap.ts';
import type { NewRecordBuffer } from '../location/record.ts';
import type { TrackableMotion } from '../motion/motion.ts';
import type { OutputPlane } from '../motion/shape_bytes.ts';
import { type FilteredVariant, filteredVariant } from '../variant_filter.ts';
import { viewTransform } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { type Body, type Contact, locate, newBody, newSite } from './body.ts';
import { BodyJsonCache } from './body_json_cache.ts';
import { type CollisionGrid, move, newGrid, putIn, takeOut } from './grid.ts';

/** A variant and its plane; undefined if the plane is unavailable. */
interface Rendering {
  readonly variant: FilteredVariant;
  readonly plane: OutputPlane | undefined;
}

/** State of the collision stage. */
export interface CollisionState {
  /** Trackables that take part in collisions, by id. */
  readonly bodies: Map<string, Body>;
  readonly grid: CollisionGrid<Body>;
  readonly deadlines: DeadlineHeap<Contact>;
  /** Number of ongoing collisions. */
  contacts: number;
  /** Subscribed renderings of collision_events. */
  renderings: readonly Rendering[];
  zones: readonly (Zone | undefined)[];
  /** Clock steps that convert monotonic time to wall-clock time. */
  clockSteps: readonly ClockStep[];
  /** JSON of bodies in the current renderings. */
  readonly texts: BodyJsonCache;
}

export function newCollisionState(newBuffer: NewRecordBuffer): CollisionState {
  const bodies = new Map<string, Body>();
  return {
    bodies,
    grid: newGrid(bodies),
    deadlines: new DeadlineHeap(),
    contacts: 0,
    renderings: [],
    zones: [],
    clockSteps: NO_CLOCK_STEPS,
    texts: new BodyJsonCache(newBuffer),
  };
}

/** Applies the current variants and zones; unchanged renderings keep their cached JSON. */
export function refreshRenderings(
  state: CollisionState,
  variants: readonly Variant[] | undefined,
  zones: ZoneLookup,
): void {
  const wanted = variants?.filter(({ topic }) => topic === 'collision_events');
  const shown = wanted ?? state.renderings.map(({ variant }) => variant);
  const found = shown.map(({ zoneId }) => (zoneId === undefined ? undefined : zones(zoneId)));
  if (wanted === undefined && found.every((zone, index) => zone === state.zones[index])) return;
  state.renderings = shown.map((variant) => ({
    variant: filteredVariant(variant),
    plane: viewTransform(variant, undefined, zones),
  }));
  state.zones = found;
  state.texts.forgetAll();
}

const SITE = newSite();

/** Sets the position of a trackable, adding it if necessary. */
export function putAt(state: CollisionState, motion: TrackableMotion): Body {
  const known = state.bodies.get(motion.id);
  const body = known ?? newBody(motion);
  locate(motion, body.ring, SITE);
  body.motion = motion;
  body.ring = SITE.ring;
  body.jsonRound = 0;
  if (known === undefined) appear(state, body);
  else move(state.grid, body, SITE.space, SITE.reachMeters);
  return body;
}

function appear(state: CollisionState, body: Body): void {
  body.x = SITE.space[0]!;
  body.y = SITE.space[1]!;
  body.z = SITE.space[2]!;
  body.reachMeters = SITE.reachMeters;
  state.bodies.set(body.motion.id, body);
  putIn(state.grid, body);
}

/** Removes a trackable if it exists. */
export function takeAway(state: CollisionState, body: Body): void {
  if (state.bodies.delete(body.motion.id)) takeOut(state.grid, body);
}
