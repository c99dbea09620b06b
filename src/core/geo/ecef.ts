import {
  ECCENTRICITY_SQUARED,
  LEAST_RADIUS,
  MEAN_RADIUS,
  metersPerLatitude,
  primeVerticalRadius,
  RADIANS,
} from './ellipsoid.ts';
import { wrapLongitude } from './longitude.ts';

/**
 * Positions as points in space: x, y, z in meters from the earth's center (ECEF), on the WGS 84 ellipsoid. Poles and
 * antimeridian are not special cases, and within a few hundred meters the chord between two positions equals their
 * distance on the ground to 1 µm (it is shorter by the fraction d²/24R²).
 */

// Copied into this module: the engine folds a module's own constants into hot code, but reads imported ones each time.
const DEGREE = RADIANS;
const E2 = ECCENTRICITY_SQUARED;

/** Writes x, y, z of a longitude and latitude to `out` from `index`. */
// hot
export function toEcef(lon: number, lat: number, out: Float64Array, index: number): void {
  const sinLat = Math.sin(lat * DEGREE);
  const cosLat = Math.cos(lat * DEGREE);
  const radius = primeVerticalRadius(sinLat);
  out[index] = radius * cosLat * Math.cos(lon * DEGREE);
  out[index + 1] = radius * cosLat * Math.sin(lon * DEGREE);
  out[index + 2] = radius * (1 - E2) * sinLat;
}

/**
 * A point on the ellipsoid, with the values that distance computations need: its position in space and meters per
 * degree. Mutable, so that the hot path allocates nothing. Before `resolve`, only longitude and latitude are valid.
 */
export class SurfacePoint {
  lon = Number.NaN;
  lat = Number.NaN;
  x = 0;
  y = 0;
  z = 0;
  cosLat = 1;
  metersPerLon = 0;
  metersPerLat = 0;
  #resolved = false;

  /** Sets the point. Longitudes beyond ±180 are wrapped. */
  // hot
  set(longitude: number, lat: number): void {
    const lon = wrapLongitude(longitude);
    if (lon === this.lon && lat === this.lat) return;
    this.lon = lon;
    this.lat = lat;
    this.#resolved = false;
  }

  // hot
  resolve(): void {
    if (this.#resolved) return;
    this.#resolved = true;
    const { lon, lat } = this;
    const sin = Math.sin(lat * DEGREE);
    const cos = Math.cos(lat * DEGREE);
    const radius = primeVerticalRadius(sin);
    this.x = radius * cos * Math.cos(lon * DEGREE);
    this.y = radius * cos * Math.sin(lon * DEGREE);
    this.z = radius * (1 - E2) * sin;
    this.cosLat = cos;
    this.metersPerLon = radius * cos * DEGREE;
    this.metersPerLat = metersPerLatitude(lat);
  }
}

/** Returns the length in meters of the chord between two points. */
// hot
export function chordMeters(a: SurfacePoint, b: SurfacePoint): number {
  a.resolve();
  b.resolve();
  const dx = a.x - b.x;
  const dy = a.y - b.y;
  const dz = a.z - b.z;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/**
 * Returns an upper bound of the geodesic over a chord. Its curvature nowhere exceeds that of a circle of the least
 * radius, so by Schur's comparison theorem its chord is at least as long as that of an equally long arc of the circle.
 * The chord itself is the lower bound; at 1 km the two differ by 1 µm.
 */
// hot
export function longestArcMeters(chord: number): number {
  const half = chord / (2 * LEAST_RADIUS);
  return half >= 1 ? Math.PI * LEAST_RADIUS * 1.01 : 2 * LEAST_RADIUS * Math.asin(half);
}

/**
 * Returns the distance along the surface over a chord, in meters: off by less than 0.1 µm at 1 km, 2 m at 500 km, 1 %
 * anywhere.
 */
// hot
export function arcMeters(chord: number): number {
  const half = chord / (2 * MEAN_RADIUS);
  return half >= 1 ? Math.PI * MEAN_RADIUS : 2 * MEAN_RADIUS * Math.asin(half);
}

/** Like arcMeters, but returns the chord itself below 1 km, where they differ by 1 µm. */
// hot
export function groundMeters(chord: number): number {
  return chord < 1000 ? chord : arcMeters(chord);
}

/**
 * Returns the distance along the surface from a point to a longitude and latitude, in meters, as exact as arcMeters.
 */
// hot
export function metersTo(point: SurfacePoint, lon: number, lat: number): number {
  const sin = Math.sin(lat * DEGREE);
  const cos = Math.cos(lat * DEGREE);
  const radius = primeVerticalRadius(sin);
  const dx = radius * cos * Math.cos(lon * DEGREE) - point.x;
  const dy = radius * cos * Math.sin(lon * DEGREE) - point.y;
  const dz = radius * (1 - E2) * sin - point.z;
  return arcMeters(Math.sqrt(dx * dx + dy * dy + dz * dz));
}
