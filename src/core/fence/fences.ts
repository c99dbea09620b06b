import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import type { FenceState, ShardState, Tracked } from '../state.ts';
import { projection } from '../zone/crs.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import type { FenceIndex } from './fence_index.ts';
import { compileRegion } from './region.ts';
import { effectiveTiming, timingOfFence, UNSET } from './timing.ts';
import { verticalOf } from './vertical.ts';

type Convert = (x: number, y: number, out: [number, number]) => void;

/** Adds or replaces a fence in the state and in the index. Memberships of its predecessor go over to it. */
export function setFence(state: ShardState, index: FenceIndex, entity: Fence): FenceState {
  const before = state.fences.get(entity.id);
  const slot = before?.slot ?? state.freeSlots.pop() ?? state.slots.length;
  const region = regionOf(state, entity);
  if (region === undefined) index.delete(slot);
  else index.set(slot, region);
  const timing = timingOfFence(entity);
  const fence: FenceState = {
    id: entity.id,
    slot,
    entity,
    timing,
    plainTiming: effectiveTiming(timing, UNSET, UNSET),
    vertical: verticalOf(entity),
    placed: region !== undefined,
    occupants: before?.occupants ?? new Set(),
    texts: undefined,
  };
  state.fences.set(entity.id, fence);
  state.slots[slot] = fence;
  if (slot >= state.met.length) {
    const grown = new Int32Array(state.met.length * 2);
    grown.set(state.met);
    state.met = grown;
  }
  for (const object of fence.occupants) {
    for (const member of object.members) if (member.fence === before) member.fence = fence;
  }
  return fence;
}

/** Removes a fence, with its memberships and timers and without events. Returns the objects that were in it. */
export function deleteFence(state: ShardState, index: FenceIndex, id: string): Tracked[] {
  const fence = state.fences.get(id);
  if (fence === undefined) return [];
  state.fences.delete(id);
  state.slots[fence.slot] = undefined;
  state.freeSlots.push(fence.slot);
  index.delete(fence.slot);
  for (const object of fence.occupants) object.members = object.members.filter((member) => member.fence !== fence);
  return [...fence.occupants];
}

/** The fences whose region is given in the zone's plane, by its id or foreign id. */
export function fencesIn(state: ShardState, zones: readonly (Zone | undefined)[]): Fence[] {
  const names = new Set<string>();
  for (const zone of zones) {
    if (zone === undefined) continue;
    names.add(zone.id);
    if (zone.foreign_id != null) names.add(zone.foreign_id);
  }
  const found: Fence[] = [];
  for (const { entity } of state.fences.values()) {
    if (entity.crs === 'local' && entity.zone_id != null && names.has(entity.zone_id)) found.push(entity);
  }
  return found;
}

/** A fence whose plane is nowhere (its zone is gone or has no transform) has no region. */
function regionOf(state: ShardState, entity: Fence): ReturnType<typeof compileRegion> {
  const crs = entity.crs ?? 'EPSG:4326';
  if (crs === 'EPSG:4326') return compileRegion(entity, undefined);
  const convert = planeOf(state, entity, crs);
  return convert === undefined ? undefined : compileRegion(entity, convert);
}

function planeOf(state: ShardState, entity: Fence, crs: string): Convert | undefined {
  if (crs !== 'local') return converter(projection(crs));
  if (entity.zone_id == null) return undefined;
  const zone = state.zones.get(entity.zone_id) ?? state.zonesByForeignId.get(entity.zone_id);
  return zone === undefined ? undefined : converter(zoneTransform(zone));
}

function converter(plane: { toWgs84: Convert } | undefined): Convert | undefined {
  return plane === undefined ? undefined : (x, y, out) => plane.toWgs84(x, y, out);
}
