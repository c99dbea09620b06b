// hot: runs for each pair of neighbors, see bench/kernel/collisions.bench.ts
import { ECCENTRICITY_SQUARED, MEAN_RADIUS, RADIANS } from './ellipsoid.ts';

/**
 * Tangent planes, in which shapes are compared: the plane touches the earth at one of them. A position at distance d
 * from the tangent point is too close by the fraction d²/6R²: 1 µm at 500 m, 4 mm at 10 km.
 */

// Copied into this module: the engine folds a module's own constants into hot code, but reads imported ones each time.
const DEGREE = RADIANS;
const E2 = ECCENTRICITY_SQUARED;

/** Plane tangent to the earth at a position: x east and y north of it, in meters. */
export interface TangentPlane {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly sinLon: number;
  readonly cosLon: number;
  readonly sinLat: number;
  readonly cosLat: number;
}

export function tangentPlaneAt(
  lon: number,
  lat: number,
  at: { readonly x: number; readonly y: number; readonly z: number },
): TangentPlane {
  return {
    x: at.x,
    y: at.y,
    z: at.z,
    sinLon: Math.sin(lon * DEGREE),
    cosLon: Math.cos(lon * DEGREE),
    sinLat: Math.sin(lat * DEGREE),
    cosLat: Math.cos(lat * DEGREE),
  };
}

/** Projects points of space (x, y, z, x …) perpendicularly onto the plane: x, y, x … */
export function ontoPlane(plane: TangentPlane, space: Float64Array): Float64Array {
  const { x, y, z, sinLon, cosLon, sinLat, cosLat } = plane;
  const points = space.length / 3;
  const out = new Float64Array(2 * points);
  for (let i = 0; i < points; i++) {
    const dx = space[3 * i]! - x;
    const dy = space[3 * i + 1]! - y;
    const dz = space[3 * i + 2]! - z;
    out[2 * i] = -sinLon * dx + cosLon * dy;
    out[2 * i + 1] = -sinLat * (cosLon * dx + sinLon * dy) + cosLat * dz;
  }
  return out;
}

/** Returns longitude (within ±180) and latitude of a point of the plane. */
export function fromPlane(plane: TangentPlane, east: number, north: number): [lon: number, lat: number] {
  const out: [number, number] = [0, 0];
  writeFromPlane(plane, east, north, out);
  return out;
}

/** Writes longitude (within ±180) and latitude of a point of the plane. */
export function writeFromPlane(plane: TangentPlane, east: number, north: number, out: [number, number]): void {
  const { sinLon, cosLon, sinLat, cosLat } = plane;
  // The ground falls away from the plane: without this correction the latitude would be slightly off.
  const up = -(east * east + north * north) / (2 * MEAN_RADIUS);
  const outwards = cosLat * up - sinLat * north;
  const x = plane.x + cosLon * outwards - sinLon * east;
  const y = plane.y + sinLon * outwards + cosLon * east;
  const z = plane.z + sinLat * up + cosLat * north;
  const lat = Math.atan2(z, (1 - E2) * Math.hypot(x, y));
  out[0] = Math.atan2(y, x) / DEGREE;
  out[1] = lat / DEGREE;
}
