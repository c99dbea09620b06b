// hot: run for each motion, see bench/kernel/collisions.bench.ts
/**
 * Places as points in space: x, y, z in metres from the earth's centre, on the WGS 84 ellipsoid. There neither poles
 * nor the antimeridian are special, and the straight distance of two places is their distance on the ground to 1 µm
 * within a few hundred metres (it is shorter by the fraction d²/24R²).
 *
 * Shapes are compared in the plane that touches the earth at one of them. A place at distance d from the point of
 * contact lies there too close by the fraction d²/6R²: 1 µm at 500 m, 4 mm at 10 km.
 */
const EQUATOR_RADIUS = 6378137;
const FLATTENING = 1 / 298.257223563;
const ECCENTRICITY_SQUARED = FLATTENING * (2 - FLATTENING);
const MEAN_RADIUS = 6371008.8;
const RADIANS = Math.PI / 180;

/** Writes the place as x, y, z from `index` on. */
export function toSpace(lon: number, lat: number, out: Float64Array, index: number): void {
  const sinLat = Math.sin(lat * RADIANS);
  const cosLat = Math.cos(lat * RADIANS);
  const normal = EQUATOR_RADIUS / Math.sqrt(1 - ECCENTRICITY_SQUARED * sinLat * sinLat);
  out[index] = normal * cosLat * Math.cos(lon * RADIANS);
  out[index + 1] = normal * cosLat * Math.sin(lon * RADIANS);
  out[index + 2] = normal * (1 - ECCENTRICITY_SQUARED) * sinLat;
}

/** Distance on the ground of two places whose straight distance is given. */
export function groundMetres(straightMetres: number): number {
  if (straightMetres < 1000) return straightMetres;
  return 2 * MEAN_RADIUS * Math.asin(Math.min(1, straightMetres / (2 * MEAN_RADIUS)));
}

/** The plane that touches the earth at a place: x east, y north, in metres from there. */
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
    sinLon: Math.sin(lon * RADIANS),
    cosLon: Math.cos(lon * RADIANS),
    sinLat: Math.sin(lat * RADIANS),
    cosLat: Math.cos(lat * RADIANS),
  };
}

/** Projects points of space (x, y, z, x …) straight onto the plane: x, y, x … */
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

/** Longitude (within ±180) and latitude of a point of the plane. */
export function fromPlane(plane: TangentPlane, east: number, north: number): [lon: number, lat: number] {
  const { sinLon, cosLon, sinLat, cosLat } = plane;
  // The ground falls away from the plane: without going down to it the latitude would be slightly off.
  const up = -(east * east + north * north) / (2 * MEAN_RADIUS);
  const outwards = cosLat * up - sinLat * north;
  const x = plane.x + cosLon * outwards - sinLon * east;
  const y = plane.y + sinLon * outwards + cosLon * east;
  const z = plane.z + sinLat * up + cosLat * north;
  const lat = Math.atan2(z, (1 - ECCENTRICITY_SQUARED) * Math.hypot(x, y));
  return [Math.atan2(y, x) / RADIANS, lat / RADIANS];
}
