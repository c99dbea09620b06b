import { NEVER_SET_BACK, type SetBack } from '../../model/set_back.ts';
import type { Variant } from '../../model/topics.ts';
import type { Zone } from '../../model/zone.ts';
import { DeadlineHeap } from '../deadlines/heap.ts';
import type { ZoneLookup } from '../location/text.ts';
import { wantedVariant } from '../wanted.ts';
import { viewTransform } from '../zone/view.ts';
import type { Body } from './body.ts';
import type { Contact } from './contact.ts';
import type { Rendering } from './event_text.ts';
import { type Grid, newGrid } from './grid.ts';

/** All that the collision stage knows. */
export interface CollisionState {
  /** The trackables that take part, by id. */
  readonly bodies: Map<string, Body>;
  readonly grid: Grid<Body>;
  readonly deadlines: DeadlineHeap<Contact>;
  /** Number of collisions that have started and not ended. */
  contacts: number;
  /** The renderings of collision_events that somebody wants, and the zone that each of them shows. */
  renderings: readonly Rendering[];
  zones: readonly (Zone | undefined)[];
  /** By which running time is shown as the time of day. */
  setBacks: readonly SetBack[];
  /** Changes with the renderings, so that kept texts are known to be of old ones. */
  epoch: number;
}

export function newCollisionState(): CollisionState {
  const bodies = new Map<string, Body>();
  return {
    bodies,
    grid: newGrid(bodies),
    deadlines: new DeadlineHeap(),
    contacts: 0,
    renderings: [],
    zones: [],
    setBacks: NEVER_SET_BACK,
    epoch: 0,
  };
}

/** Takes over the wanted variants and the zones as they are now; what has not changed keeps its texts. */
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
    variant: wantedVariant(variant),
    plane: viewTransform(variant, undefined, zones),
  }));
  state.zones = found;
  state.epoch++;
}
