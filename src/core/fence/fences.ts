import type { StoredFence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import { projection } from '../geo/crs.ts';
import { CHANGED_MEMBERS, type FenceState, type ShardState, type Tracked } from '../state.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { isCrossed } from './cross_fences.ts';
import type { FenceIndex, Region } from './fence_index.ts';
import { localPlane } from './fence_plane.ts';
import { withCompactRegion } from './compact_polygon.ts';
import { compileRegion, sameRegion } from './region.ts';
import { effectiveTiming, sameTiming, timingOfFence, UNSET } from './timing.ts';
import { sameVertical, verticalOf } from './vertical.ts';

type Convert = (x: number, y: number, out: [number, number]) => void;

/** Result of setting a fence: its new state and its changes. */
export interface SetFence {
  readonly fence: FenceState;
  /** Whether it covers another region or other heights, so objects must be observed again. */
  readonly isMoved: boolean;
  /** Whether its timing values have changed. */
  readonly isRetimed: boolean;
}

/** Adds or replaces a fence in the state and in the index. The new fence takes over the memberships of the old one. */
export function setFence(state: ShardState, index: FenceIndex, entity: StoredFence): SetFence {
  const before = state.fences.get(entity.id);
  const slot = before?.slot ?? state.freeSlots.pop() ?? state.slots.length;
  const compiled = fenceAmong(state.zones.find, entity, { slot, occupants: before?.occupants ?? new Set() });
  const isThere = before !== undefined && sameRegion(before.region, compiled.region);
  const region = isThere ? before.region : compiled.region;
  if (!isThere && region === undefined) index.delete(slot);
  if (!isThere && region !== undefined) index.set(slot, region);
  const fence: FenceState = { ...compiled, region };
  state.untracked.set(fence);
  state.crossing.fences += Number(isCrossed(state, fence)) - Number(before !== undefined && isCrossed(state, before));
  state.fences.set(entity.id, fence);
  state.slots[slot] = fence;
  if (slot >= state.metInObservation.length) {
    const grown = new Int32Array(state.metInObservation.length * 2);
    grown.set(state.metInObservation);
    state.metInObservation = grown;
  }
  for (const object of fence.occupants) {
    for (const member of object.members) if (member.fence === before) member.fence = fence;
  }
  return changeOf(before, fence);
}

/** Builds the state of a fence from the given zones. */
export function fenceAmong(
  zones: ZoneLookup,
  entity: StoredFence,
  { slot, occupants }: Pick<FenceState, 'slot' | 'occupants'>,
): FenceState {
  const timing = timingOfFence(entity);
  const region = regionOf(zones, entity);
  return {
    id: entity.id,
    slot,
    entity: withCompactRegion(entity),
    timing,
    plainTiming: effectiveTiming(timing, UNSET, UNSET),
    vertical: verticalOf(entity, levelOf(zones, entity)),
    region: entity.untracked === true ? undefined : region,
    untracked: entity.untracked === true ? region : undefined,
    occupants,
    json: undefined,
  };
}

/** Compares a fence with its predecessor. */
export function changeOf(before: FenceState | undefined, fence: FenceState): SetFence {
  const isThere =
    before !== undefined && sameRegion(before.region, fence.region) && sameRegion(before.untracked, fence.untracked);
  return {
    fence,
    isMoved: !isThere || !sameVertical(before.vertical, fence.vertical),
    isRetimed: before !== undefined && !sameTiming(before.timing, fence.timing),
  };
}

/** Deletes a fence with its memberships and timers, without events. Returns the objects that were its members. */
export function deleteFence(state: ShardState, index: FenceIndex, id: string): Tracked[] {
  const fence = state.fences.get(id);
  if (fence === undefined) return [];
  state.fences.delete(id);
  state.untracked.delete(id);
  state.crossing.gates.delete(id);
  if (isCrossed(state, fence)) state.crossing.fences--;
  state.slots[fence.slot] = undefined;
  state.freeSlots.push(fence.slot);
  index.delete(fence.slot);
  for (const object of fence.occupants) {
    object.members = object.members.filter((member) => member.fence !== fence);
    object.changes |= CHANGED_MEMBERS;
  }
  return [...fence.occupants];
}

/** Returns the fences that refer to one of the zones by id or foreign id. */
export function fencesIn(state: ShardState, zones: readonly (Zone | undefined)[]): StoredFence[] {
  const names = new Set<string>();
  for (const zone of zones) {
    if (zone === undefined) continue;
    names.add(zone.id.toLowerCase());
    if (zone.foreign_id != null) names.add(zone.foreign_id.toLowerCase());
  }
  const found: StoredFence[] = [];
  for (const { entity } of state.fences.values()) {
    // Ignores case: a false positive is harmless.
    if (entity.zone_id != null && names.has(entity.zone_id.toLowerCase())) found.push(entity);
  }
  return found;
}

/** Returns undefined for a fence without a plane: its zone never existed or never had one. */
function regionOf(zones: ZoneLookup, entity: StoredFence): Region | undefined {
  const crs = entity.crs ?? 'EPSG:4326';
  if (crs === 'EPSG:4326') return compileRegion(entity, undefined);
  const convert = planeOf(zones, entity, crs);
  return convert === undefined ? undefined : compileRegion(entity, convert);
}

/** Returns the height above the ellipsoid of the floor that the fence's heights are measured from. */
function levelOf(zones: ZoneLookup, { zone_id: zoneId, former_zone: former }: StoredFence): number | undefined {
  const zone = zoneId == null ? undefined : zones(zoneId);
  return (zone ?? former)?.wgs84_height ?? undefined;
}

function planeOf(zones: ZoneLookup, entity: StoredFence, crs: string): Convert | undefined {
  return converter(crs === 'local' ? localPlane(entity, zones) : projection(crs));
}

function converter(plane: { toWgs84: Convert } | undefined): Convert | undefined {
  return plane === undefined ? undefined : (x, y, out) => plane.toWgs84(x, y, out);
}
