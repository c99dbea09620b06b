// hot: runs for each filtered location
import { ECCENTRICITY_SQUARED, MEAN_RADIUS, primeVerticalRadius, RADIANS } from '../geo/ellipsoid.ts';
import { shorterTurn } from '../geo/longitude.ts';
import { type TangentPlane, writeFromPlane } from '../geo/tangent_plane.ts';

// Copied into this module: the engine folds a module's own constants into hot code, but reads imported ones each time.
const DEGREE = RADIANS;
const E2 = ECCENTRICITY_SQUARED;

/**
 * Tangent plane that moves with an object, so that poles and antimeridian are not special cases. Mutable: it allocates
 * nothing.
 */
export class MovingPlane implements TangentPlane {
  x = 0;
  y = 0;
  z = 0;
  sinLon = 0;
  cosLon = 1;
  sinLat = 0;
  cosLat = 1;
  /** Last measured position, in meters: east and north in the plane, and above the ground below the plane. */
  east = 0;
  north = 0;
  above = 0;
  /** Last position on the earth. */
  readonly position: [lon: number, lat: number] = [0, 0];
  #lon = 0;
  #lat = 0;

  /** Moves the plane to a position, from which it measures. */
  touch(lon: number, lat: number): void {
    this.#lon = lon;
    this.#lat = lat;
    this.sinLon = Math.sin(lon * DEGREE);
    this.cosLon = Math.cos(lon * DEGREE);
    this.sinLat = Math.sin(lat * DEGREE);
    this.cosLat = Math.cos(lat * DEGREE);
    const radius = primeVerticalRadius(this.sinLat);
    this.x = radius * this.cosLat * this.cosLon;
    this.y = radius * this.cosLat * this.sinLon;
    this.z = radius * (1 - E2) * this.sinLat;
  }

  /** Measures a position: see `east`, `north` and `above`. */
  measure(lon: number, lat: number): void {
    const { sinLon, cosLon, sinLat, cosLat } = this;
    const sin = Math.sin(lat * DEGREE);
    const cos = Math.cos(lat * DEGREE);
    const radius = primeVerticalRadius(sin);
    const dx = radius * cos * Math.cos(lon * DEGREE) - this.x;
    const dy = radius * cos * Math.sin(lon * DEGREE) - this.y;
    const dz = radius * (1 - E2) * sin - this.z;
    const outwards = cosLon * dx + sinLon * dy;
    this.east = cosLon * dy - sinLon * dx;
    this.north = cosLat * dz - sinLat * outwards;
    const up = cosLat * outwards + sinLat * dz;
    this.above = up + (this.east * this.east + this.north * this.north) / (2 * MEAN_RADIUS);
  }

  /** Converts a point of the plane to a `position` on the earth. */
  toEarth(east: number, north: number): void {
    writeFromPlane(this, east, north, this.position);
  }

  /**
   * Returns by how much directions turn from the plane to the plane at `position`, in radians, clockwise: meridians
   * converge.
   */
  turn(): number {
    const [lon, lat] = this.position;
    return shorterTurn(lon - this.#lon) * DEGREE * Math.sin(((lat + this.#lat) / 2) * DEGREE);
  }
}
