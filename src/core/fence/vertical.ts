import type { Fence } from '../../model/fence.ts';
import { positionLists } from '../../model/position_lists.ts';
import { CompactPolygon } from './compact_polygon.ts';

/** Floor and height range that a fence covers. Missing bounds are infinite. */
export interface Vertical {
  readonly floor: number | undefined;
  readonly fromMeters: number;
  readonly toMeters: number;
  readonly elevationRef: string;
  /** Height of the floor of the fence's zone above the ellipsoid, if the zone defines it. */
  readonly levelMeters: number | undefined;
}

/** Floor and height of a location. */
export interface Height {
  readonly floor: number;
  /** Height above `elevationRef`; undefined if unknown. */
  readonly z: number | undefined;
  readonly elevationRef: string;
  /** Height of the floor of the location's zone above the ellipsoid, if the zone defines it. */
  readonly levelMeters: number | undefined;
}

/**
 * Returns the vertical extent of a fence. Without extrusion it covers all heights. With one it starts at the z of its
 * region, 0 for a region without z; an extrusion of 0 is a plane. `levelMeters` is the wgs84_height of the zone that
 * the fence names.
 */
export function verticalOf(fence: Fence, levelMeters: number | undefined): Vertical {
  const extrusion = fence.extrusion ?? undefined;
  const from = extrusion === undefined ? Number.NEGATIVE_INFINITY : baseOf(fence);
  return {
    floor: fence.floor ?? undefined,
    fromMeters: from,
    toMeters: extrusion === undefined ? Number.POSITIVE_INFINITY : from + extrusion,
    elevationRef: fence.elevation_ref ?? 'floor',
    levelMeters,
  };
}

export function sameVertical(a: Vertical, b: Vertical): boolean {
  if (a.floor !== b.floor || a.elevationRef !== b.elevationRef || a.levelMeters !== b.levelMeters) return false;
  return a.fromMeters === b.fromMeters && a.toMeters === b.toMeters;
}

/**
 * Returns the vertical distance of a location from the fence in meters: 0 within its heights, Infinity on another
 * floor. The height is ignored if it is unknown, or if the zones do not relate its reference to the fence's.
 */
// hot
export function verticalGapMeters(vertical: Vertical, at: Height): number {
  if (vertical.floor !== undefined && vertical.floor !== at.floor) return Number.POSITIVE_INFINITY;
  if (vertical.fromMeters === Number.NEGATIVE_INFINITY) return 0;
  const z = heightIn(vertical, at);
  if (z === undefined) return 0;
  return Math.max(vertical.fromMeters - z, z - vertical.toMeters, 0);
}

/** Returns the depth of a location within the fence's heights, in meters; Infinity if heights do not apply. */
export function verticalDepthMeters(vertical: Vertical, at: Height): number {
  if (vertical.fromMeters === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const z = heightIn(vertical, at);
  if (z === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(z - vertical.fromMeters, vertical.toMeters - z);
}

/**
 * Returns the height of a location in the fence's reference. A location above a floor uses the floor level of its own
 * zone, a fence above a floor that of its zone. If the level is missing, the other zone's level applies.
 */
export function heightIn(
  vertical: Vertical,
  { z, elevationRef, levelMeters }: Omit<Height, 'floor'>,
): number | undefined {
  if (z === undefined || elevationRef === vertical.elevationRef) return z;
  if (vertical.elevationRef === 'wgs84') {
    const level = levelMeters ?? vertical.levelMeters;
    return level === undefined ? undefined : z + level;
  }
  const level = vertical.levelMeters ?? levelMeters;
  return level === undefined ? undefined : z - level;
}

function baseOf(fence: Fence): number {
  const { region } = fence;
  if (region.type === 'Point') return region.coordinates[2] ?? 0;
  if (region instanceof CompactPolygon) return region.base;
  let base = Number.POSITIVE_INFINITY;
  for (const position of positionLists(region)[0] ?? []) base = Math.min(base, position[2] ?? 0);
  return Number.isFinite(base) ? base : 0;
}
