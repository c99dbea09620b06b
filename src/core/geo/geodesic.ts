import geographic from 'geographiclib-geodesic';
import { ECCENTRICITY_SQUARED, EQUATOR_RADIUS, RADIANS } from './ellipsoid.ts';
import { wrapLongitude } from './longitude.ts';
import { roundDegrees } from './rounding.ts';

/**
 * Distances and bearings on the WGS 84 ellipsoid. The exact ones are Karney's (geographiclib, about 0.8 µs). At short
 * distances, series in the two radii of curvature, M along the meridian and N across it, take a tenth of that.
 */

// Copied into this module: the engine folds a module's own constants into hot code, but reads imported ones each time.
const DEGREE = RADIANS;
const EQUATOR = EQUATOR_RADIUS;
const E2 = ECCENTRICITY_SQUARED;

const { WGS84, DISTANCE, AZIMUTH, LATITUDE, LONGITUDE } = geographic.Geodesic;

/**
 * Reach of the series in meters. Their relative error grows with the square of distance · tan(latitude), so that
 * product is bounded.
 */
const NEAR_METERS = 10_000;
/** Reach for displacements, which need less accuracy: 2e-5 of the distance. */
const DISPLACED_METERS = 20_000;

/** Returns the shortest distance in meters. */
export function geodesicMeters(lon1: number, lat1: number, lon2: number, lat2: number): number {
  return WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE).s12 as number;
}

/** Returns the initial bearing of the shortest path, in degrees clockwise from true north: from 0 to below 360. */
export function initialBearing(lon1: number, lat1: number, lon2: number, lat2: number): number {
  return clockwise(WGS84.Inverse(lat1, lon1, lat2, lon2, AZIMUTH).azi1 as number);
}

/** Writes longitude and latitude of the position at a distance and bearing. */
export function destination(
  lon: number,
  lat: number,
  bearingDegrees: number,
  meters: number,
  out: [number, number],
): void {
  const found = WGS84.Direct(lat, lon, bearingDegrees, meters, LATITUDE | LONGITUDE);
  out[0] = found.lon2 as number;
  out[1] = found.lat2 as number;
}

/**
 * Writes distance in meters (to 2e-7 of itself) and initial bearing in degrees (to 1e-5). At short distances it uses
 * the method of Gauss: distance and bearing at the middle latitude, with the bearing then turned back by half the
 * convergence of the meridians.
 */
export function distanceAndBearing(
  lon1: number,
  lat1: number,
  lon2: number,
  lat2: number,
  out: [number, number],
): void {
  // hot
  const middle = ((lat1 + lat2) / 2) * DEGREE;
  const turn = wrapLongitude(lon2 - lon1) * DEGREE;
  const sine = Math.sin(middle);
  const cosine = Math.cos(middle);
  const w = Math.sqrt(1 - E2 * sine * sine);
  const east = ((turn * EQUATOR) / w) * cosine;
  const north = ((lat2 - lat1) * DEGREE * EQUATOR * (1 - E2)) / (w * w * w);
  const meters = Math.sqrt(east * east + north * north);
  if (meters <= NEAR_METERS * cosine) {
    out[0] = meters;
    out[1] = clockwise(Math.atan2(east, north) / DEGREE - (turn * sine) / 2 / DEGREE);
    return;
  }
  const found = WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE | AZIMUTH);
  out[0] = found.s12 as number;
  out[1] = clockwise(found.azi1 as number);
}

/** Reference of local coordinates that have no zone. */
export interface Reference {
  /** Longitude and latitude of the local reference. */
  readonly global: readonly number[];
  readonly local: readonly number[];
  /** Angle from true north to the local y axis, clockwise in degrees. */
  readonly clockwiseDegrees: number;
}

/**
 * Converts a local position to longitude and latitude, by its distance and bearing from the reference. Keeps z if there
 * is one.
 */
export function placeLocal(position: readonly number[], { global, local, clockwiseDegrees }: Reference): number[] {
  const [x = 0, y = 0, z] = position;
  const east = x - (local[0] ?? 0);
  const north = y - (local[1] ?? 0);
  const bearing = (Math.atan2(east, north) * 180) / Math.PI + clockwiseDegrees;
  const out: [number, number] = [0, 0];
  destination(global[0] ?? 0, global[1] ?? 0, bearing, Math.hypot(east, north), out);
  const placed = [roundDegrees(out[0]), roundDegrees(out[1])];
  return z === undefined ? placed : [...placed, z];
}

/** Returns the area in square meters (Karney's) that a ring encloses, in either direction. */
export function ringSquareMeters(ring: readonly { readonly lon: number; readonly lat: number }[]): number {
  const polygon = WGS84.Polygon(false);
  for (const { lon, lat } of ring) polygon.AddPoint(lat, lon);
  return Math.abs(polygon.Compute(false, true).area ?? 0);
}

/** Writes longitude and latitude of the position displaced by some meters east and north. */
export type Displace = (eastMeters: number, northMeters: number, out: [number, number]) => void;

/**
 * Returns a function that displaces a position by up to `reachMeters`, to within 2e-5 of the length. Longitudes are
 * unwrapped around the position: they may exceed ±180.
 */
export function displacer(lon: number, lat: number, reachMeters: number): Displace {
  const sine = Math.sin(lat * DEGREE);
  const cosine = Math.cos(lat * DEGREE);
  if (!(reachMeters <= DISPLACED_METERS * cosine))
    return (east, north, out) => displaceExactly(lon, lat, east, north, out);
  const w = Math.sqrt(1 - E2 * sine * sine);
  const acrossRadius = EQUATOR / w;
  const alongRadius = (EQUATOR * (1 - E2)) / (w * w * w);
  const tangent = sine / cosine;
  const lonPerMeter = 1 / (acrossRadius * cosine * DEGREE);
  const latPerMeter = 1 / (alongRadius * DEGREE);
  // Second order: meridians converge towards the north, and an eastward path bends towards the equator.
  const convergence = tangent / acrossRadius;
  const bend = (latPerMeter * tangent) / (2 * acrossRadius);
  return (east, north, out) => {
    out[0] = lon + east * lonPerMeter * (1 + north * convergence);
    out[1] = lat + north * latPerMeter - east * east * bend;
  };
}

function displaceExactly(lon: number, lat: number, east: number, north: number, out: [number, number]): void {
  destination(lon, lat, Math.atan2(east, north) / DEGREE, Math.hypot(east, north), out);
  out[0] = lon + wrapLongitude(out[0] - lon);
}

function clockwise(degrees: number): number {
  const turned = degrees < 0 ? degrees + 360 : degrees;
  // The sum of 360 and a tiny negative angle is 360; adding 0 turns -0 into 0.
  return turned >= 360 ? 0 : turned + 0;
}
