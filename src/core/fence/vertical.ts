import type { Fence } from '../../model/fence.ts';

/** The floor and the heights that a fence covers. Bounds are infinite where it has none. */
export interface Vertical {
  readonly floor: number | undefined;
  readonly fromMetres: number;
  readonly toMetres: number;
  readonly elevationRef: string;
}

/**
 * A fence without extrusion covers all heights. One with an extrusion starts at the z of its region, 0 for a region
 * without z; an extrusion of 0 is a plane.
 */
export function verticalOf(fence: Fence): Vertical {
  const extrusion = fence.extrusion ?? undefined;
  const from = extrusion === undefined ? Number.NEGATIVE_INFINITY : baseOf(fence);
  return {
    floor: fence.floor ?? undefined,
    fromMetres: from,
    toMetres: extrusion === undefined ? Number.POSITIVE_INFINITY : from + extrusion,
    elevationRef: fence.elevation_ref ?? 'floor',
  };
}

export function sameVertical(a: Vertical, b: Vertical): boolean {
  if (a.floor !== b.floor || a.elevationRef !== b.elevationRef) return false;
  return a.fromMetres === b.fromMetres && a.toMetres === b.toMetres;
}

/** Whether a location lies in the vertical extent. One without z, or measured from something else, fits any height. */
export function fitsVertically(
  vertical: Vertical,
  at: { readonly floor: number; readonly z: number | undefined; readonly elevationRef: string },
): boolean {
  if (vertical.floor !== undefined && vertical.floor !== at.floor) return false;
  if (at.z === undefined || at.elevationRef !== vertical.elevationRef) return true;
  return at.z >= vertical.fromMetres && at.z <= vertical.toMetres;
}

function baseOf(fence: Fence): number {
  const { region } = fence;
  if (region.type === 'Point') return region.coordinates[2] ?? 0;
  let base = Number.POSITIVE_INFINITY;
  for (const position of region.coordinates[0] ?? []) base = Math.min(base, position[2] ?? 0);
  return Number.isFinite(base) ? base : 0;
}
