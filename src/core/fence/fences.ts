import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import type { FenceState, ShardState, Tracked } from '../state.ts';
import { projection } from '../zone/crs.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import type { FenceIndex, Region } from './fence_index.ts';
import { compileRegion, sameRegion } from './region.ts';
import { effectiveTiming, timingOfFence, UNSET } from './timing.ts';
import { sameVertical, verticalOf } from './vertical.ts';

type Convert = (x: number, y: number, out: [number, number]) => void;

/**
 * Adds or replaces a fence in the state and in the index. Memberships of its predecessor go over to it. Returns the
 * fence when it covers something else than before, or has another tolerance: then objects must be shown to it.
 */
export function setFence(state: ShardState, index: FenceIndex, entity: Fence): FenceState | undefined {
  const before = state.fences.get(entity.id);
  const slot = before?.slot ?? state.freeSlots.pop() ?? state.slots.length;
  const compiled = regionOf(state, entity);
  const isThere = before !== undefined && sameRegion(before.region, compiled);
  const region = isThere ? before.region : compiled;
  if (!isThere && region === undefined) index.delete(slot);
  if (!isThere && region !== undefined) index.set(slot, region);
  const timing = timingOfFence(entity);
  const fence: FenceState = {
    id: entity.id,
    slot,
    entity,
    timing,
    plainTiming: effectiveTiming(timing, UNSET, UNSET),
    vertical: verticalOf(entity),
    region,
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
  return isThere && holdsTheSame(before, fence) ? undefined : fence;
}

function holdsTheSame(a: FenceState, b: FenceState): boolean {
  if (a.timing.exitTolerance !== b.timing.exitTolerance) return false;
  if (a.timing.entryTolerance !== b.timing.entryTolerance) return false;
  return sameVertical(a.vertical, b.vertical);
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

/** The fences whose region is given in the plane of one of the zones, by its id or foreign id. */
export function fencesIn(state: ShardState, zones: readonly (Zone | undefined)[]): Fence[] {
  const names = new Set<string>();
  for (const zone of zones) {
    if (zone === undefined) continue;
    names.add(zone.id.toLowerCase());
    if (zone.foreign_id != null) names.add(zone.foreign_id.toLowerCase());
  }
  const found: Fence[] = [];
  for (const { entity } of state.fences.values()) {
    // Some fences too many do no harm, so that case need not matter here.
    if (entity.crs === 'local' && entity.zone_id != null && names.has(entity.zone_id.toLowerCase())) found.push(entity);
  }
  return found;
}

/** A fence whose plane is nowhere (its zone is gone or has no transform) has no region. */
function regionOf(state: ShardState, entity: Fence): Region | undefined {
  const crs = entity.crs ?? 'EPSG:4326';
  if (crs === 'EPSG:4326') return compileRegion(entity, undefined);
  const convert = planeOf(state, entity, crs);
  return convert === undefined ? undefined : compileRegion(entity, convert);
}

function planeOf(state: ShardState, entity: Fence, crs: string): Convert | undefined {
  if (crs !== 'local') return converter(projection(crs));
  if (entity.zone_id == null) return undefined;
  const zone = state.zones.find(entity.zone_id);
  return zone === undefined ? undefined : converter(zoneTransform(zone));
}

function converter(plane: { toWgs84: Convert } | undefined): Convert | undefined {
  return plane === undefined ? undefined : (x, y, out) => plane.toWgs84(x, y, out);
}
