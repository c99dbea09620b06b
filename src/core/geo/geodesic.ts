import geographic from 'geographiclib-geodesic';
import { ECCENTRICITY_SQUARED, EQUATOR_RADIUS, RADIANS } from './ellipsoid.ts';
import { wrapLongitude } from './longitude.ts';
import { roundDegrees } from './rounding.ts';

/**
 * Distances and directions on the WGS 84 ellipsoid. The exact ones are Karney's (geographiclib, about 0.8 µs). Nearby
 * they are replaced by series about the ellipsoid's two radii of curvature, which cost a tenth of that: M along the
 * meridian and N across it.
 */

// Of this module itself: the engine folds its own constants into hot code, and reads imported ones each time.
const DEGREE = RADIANS;
const EQUATOR = EQUATOR_RADIUS;
const E2 = ECCENTRICITY_SQUARED;

const { WGS84, DISTANCE, AZIMUTH, LATITUDE, LONGITUDE } = geographic.Geodesic;

/**
 * Reach of the series in metres. Their relative error grows with the square of distance · tan(latitude), so that is
 * what is held below this.
 */
const NEAR_METRES = 10_000;
/** The same for displacements, which need less: 2e-5 of the distance. */
const DISPLACED_METRES = 20_000;

/** Shortest distance in metres. */
export function geodesicMetres(lon1: number, lat1: number, lon2: number, lat2: number): number {
  return WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE).s12 as number;
}

/** Direction in which the shortest way starts, in degrees clockwise from true north: 0 to below 360. */
export function initialBearing(lon1: number, lat1: number, lon2: number, lat2: number): number {
  return clockwise(WGS84.Inverse(lat1, lon1, lat2, lon2, AZIMUTH).azi1 as number);
}

/** Writes longitude and latitude of the place at a distance in a direction. */
export function destination(
  lon: number,
  lat: number,
  bearingDegrees: number,
  metres: number,
  out: [number, number],
): void {
  const found = WGS84.Direct(lat, lon, bearingDegrees, metres, LATITUDE | LONGITUDE);
  out[0] = found.lon2 as number;
  out[1] = found.lat2 as number;
}

/**
 * Writes distance in metres and initial bearing in degrees: the distance to 2e-7 of itself, the bearing to 1e-5
 * degrees. Nearby by the method of Gauss: distance and bearing at the middle latitude, the bearing then turned back by
 * half the convergence of the meridians.
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
  const metres = Math.sqrt(east * east + north * north);
  if (metres <= NEAR_METRES * cosine) {
    out[0] = metres;
    out[1] = clockwise(Math.atan2(east, north) / DEGREE - (turn * sine) / 2 / DEGREE);
    return;
  }
  const found = WGS84.Inverse(lat1, lon1, lat2, lon2, DISTANCE | AZIMUTH);
  out[0] = found.s12 as number;
  out[1] = clockwise(found.azi1 as number);
}

/** How local coordinates lie on the earth without a zone. */
export interface Reference {
  /** Longitude and latitude of the local reference. */
  readonly global: readonly number[];
  readonly local: readonly number[];
  /** Degrees by which the local y axis points clockwise from true north. */
  readonly clockwiseDegrees: number;
}

/**
 * Puts a local position on the earth: as far from the reference as it is in metres, in the direction in which it is.
 * Returns longitude and latitude, with the position's z if it has one.
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

/** Area in square metres (Karney's) that a ring of places encloses, in either direction. */
export function ringSquareMetres(ring: readonly { readonly lon: number; readonly lat: number }[]): number {
  const polygon = WGS84.Polygon(false);
  for (const { lon, lat } of ring) polygon.AddPoint(lat, lon);
  return Math.abs(polygon.Compute(false, true).area ?? 0);
}

/** Writes longitude and latitude of the place some metres to the east and north of another. */
export type Displace = (eastMetres: number, northMetres: number, out: [number, number]) => void;

/**
 * Displaces from a place by up to `reachMetres`, to within 2e-5 of the length. Longitudes are
 * unwrapped around that of the place: they may go beyond ±180.
 */
export function displacer(lon: number, lat: number, reachMetres: number): Displace {
  const sine = Math.sin(lat * DEGREE);
  const cosine = Math.cos(lat * DEGREE);
  if (!(reachMetres <= DISPLACED_METRES * cosine))
    return (east, north, out) => displaceExactly(lon, lat, east, north, out);
  const w = Math.sqrt(1 - E2 * sine * sine);
  const acrossRadius = EQUATOR / w;
  const alongRadius = (EQUATOR * (1 - E2)) / (w * w * w);
  const tangent = sine / cosine;
  const lonPerMetre = 1 / (acrossRadius * cosine * DEGREE);
  const latPerMetre = 1 / (alongRadius * DEGREE);
  // Second order: meridians converge on the way north, and the way east bends towards the equator.
  const convergence = tangent / acrossRadius;
  const bend = (latPerMetre * tangent) / (2 * acrossRadius);
  return (east, north, out) => {
    out[0] = lon + east * lonPerMetre * (1 + north * convergence);
    out[1] = lat + north * latPerMetre - east * east * bend;
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
