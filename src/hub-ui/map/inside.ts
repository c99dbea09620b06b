import type Polygon from 'ol/geom/Polygon.js';
import type { MovingObjects } from './moving_objects.ts';
import type { Position } from './plane.ts';

/** An area on the map; without a floor it is on all of them. */
export interface Area {
  readonly extent: readonly number[];
  readonly rings: readonly (readonly Position[])[];
  readonly floor: number | undefined;
}

export function areaOf(polygon: Polygon, floor: number | null | undefined): Area {
  return { extent: polygon.getExtent(), rings: polygon.getCoordinates(), floor: floor ?? undefined };
}

/**
 * Finds out which objects are in one of the areas, by where they are now: which names go first need not wait for the timers of
 * the hub. hot: once a second, for all objects
 */
export function markInside(objects: MovingObjects, areas: readonly Area[]): void {
  const { count, x, y, floor, inside } = objects;
  inside.fill(0, 0, count);
  for (const area of areas) {
    const [left = 0, bottom = 0, right = 0, top = 0] = area.extent;
    for (let i = 0; i < count; i++) {
      if (inside[i] === 1 || x[i]! < left || x[i]! > right || y[i]! < bottom || y[i]! > top) continue;
      if (area.floor !== undefined && !Number.isNaN(floor[i]!) && floor[i] !== area.floor) continue;
      if (isInRings(area.rings, x[i]!, y[i]!)) inside[i] = 1;
    }
  }
}

/** Whether a line from a point to the right crosses an odd number of edges. */
function isInRings(rings: Area['rings'], x: number, y: number): boolean {
  let isIn = false;
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [x0 = 0, y0 = 0] = ring[j]!;
      const [x1 = 0, y1 = 0] = ring[i]!;
      if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) isIn = !isIn;
    }
  }
  return isIn;
}
