import type { Fence } from '../../model/fence.ts';
import { KeptPolygon } from './kept_polygon.ts';

/** The floor and the heights that a fence covers. Bounds are infinite where it has none. */
export interface Vertical {
  readonly floor: number | undefined;
  readonly fromMetres: number;
  readonly toMetres: number;
  readonly elevationRef: string;
  /** Height of the floor of the fence's zone above the ellipsoid, where the zone says it. */
  readonly levelMetres: number | undefined;
}

/** Where a location is vertically. */
export interface Height {
  readonly floor: number;
  /** Height above `elevationRef`; undefined when unknown. */
  readonly z: number | undefined;
  readonly elevationRef: string;
  /** Height of the floor of the location's zone above the ellipsoid, where the zone says it. */
  readonly levelMetres: number | undefined;
}

/**
 * A fence without extrusion covers all heights. One with an extrusion starts at the z of its region, 0 for a region
 * without z; an extrusion of 0 is a plane. `levelMetres` is the wgs84_height of the zone that the fence names.
 */
export function verticalOf(fence: Fence, levelMetres: number | undefined): Vertical {
  const extrusion = fence.extrusion ?? undefined;
  const from = extrusion === undefined ? Number.NEGATIVE_INFINITY : baseOf(fence);
  return {
    floor: fence.floor ?? undefined,
    fromMetres: from,
    toMetres: extrusion === undefined ? Number.POSITIVE_INFINITY : from + extrusion,
    elevationRef: fence.elevation_ref ?? 'floor',
    levelMetres,
  };
}

export function sameVertical(a: Vertical, b: Vertical): boolean {
  if (a.floor !== b.floor || a.elevationRef !== b.elevationRef || a.levelMetres !== b.levelMetres) return false;
  return a.fromMetres === b.fromMetres && a.toMetres === b.toMetres;
}

/**
 * How far above or below the fence a location is, in metres: 0 within its heights, Infinity on another floor. Where the
 * height of the location is unknown, or measured from something else that the zones do not relate, it does not decide.
 */
// hot
export function verticalGapMetres(vertical: Vertical, at: Height): number {
  if (vertical.floor !== undefined && vertical.floor !== at.floor) return Number.POSITIVE_INFINITY;
  if (vertical.fromMetres === Number.NEGATIVE_INFINITY) return 0;
  const z = heightIn(vertical, at);
  if (z === undefined) return 0;
  return Math.max(vertical.fromMetres - z, z - vertical.toMetres, 0);
}

/** How far within the fence's heights a location is, in metres: Infinity where they do not decide. */
export function verticalDepthMetres(vertical: Vertical, at: Height): number {
  if (vertical.fromMetres === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const z = heightIn(vertical, at);
  if (z === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(z - vertical.fromMetres, vertical.toMetres - z);
}

/**
 * The height of a location in the fence's reference. The level of a floor is that of the zone whose floor it is: the
 * location's zone for a location above a floor, the fence's zone for a fence above a floor, else the other one.
 */
function heightIn(vertical: Vertical, { z, elevationRef, levelMetres }: Height): number | undefined {
  if (z === undefined || elevationRef === vertical.elevationRef) return z;
  if (vertical.elevationRef === 'wgs84') {
    const level = levelMetres ?? vertical.levelMetres;
    return level === undefined ? undefined : z + level;
  }
  const level = vertical.levelMetres ?? levelMetres;
  return level === undefined ? undefined : z - level;
}

function baseOf(fence: Fence): number {
  const { region } = fence;
  if (region.type === 'Point') return region.coordinates[2] ?? 0;
  if (region instanceof KeptPolygon) return region.base;
  let base = Number.POSITIVE_INFINITY;
  for (const position of region.coordinates[0] ?? []) base = Math.min(base, position[2] ?? 0);
  return Number.isFinite(base) ? base : 0;
}
