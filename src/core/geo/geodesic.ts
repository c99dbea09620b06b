import geographic from 'geographiclib-geodesic';
import { wrapLongitude } from './longitude.ts';

/**
 * Distances and directions on the WGS 84 ellipsoid. The exact ones are Karney's (geographiclib, about 0.8 µs). Nearby
 * they are replaced by series about the ellipsoid's two radii of curvature, which cost a tenth of that: M along the
 * meridian and N across it.
 */

const DEGREE = Math.PI / 180;
const EQUATOR_RADIUS = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const ECCENTRICITY_SQUARED = FLATTENING * (2 - FLATTENING);
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
 * Distance in metres by the radii of curvature at the middle latitude. Up to 10 km and between the latitudes ±80 it is
 * within 5e-6 of the distance; it is no bound beyond that.
 */
export function approximateMetres(lon1: number, lat1: number, lon2: number, lat2: number): number {
  // hot
  const middle = ((lat1 + lat2) / 2) * DEGREE;
  const sine = Math.sin(middle);
  const w = Math.sqrt(1 - ECCENTRICITY_SQUARED * sine * sine);
  const east = ((wrapLongitude(lon2 - lon1) * DEGREE * EQUATOR_RADIUS) / w) * Math.cos(middle);
  const north = ((lat2 - lat1) * DEGREE * EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * w * w);
  return Math.sqrt(east * east + north * north);
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
  const w = Math.sqrt(1 - ECCENTRICITY_SQUARED * sine * sine);
  const east = ((turn * EQUATOR_RADIUS) / w) * cosine;
  const north = ((lat2 - lat1) * DEGREE * EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * w * w);
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

/** How many metres a degree is at a latitude: to the east along the parallel, and to the north. */
export function metresPerDegree(lat: number): { readonly east: number; readonly north: number } {
  const sine = Math.sin(lat * DEGREE);
  const w = Math.sqrt(1 - ECCENTRICITY_SQUARED * sine * sine);
  return {
    east: ((DEGREE * EQUATOR_RADIUS) / w) * Math.cos(lat * DEGREE),
    north: (DEGREE * EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * w * w),
  };
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
  const w = Math.sqrt(1 - ECCENTRICITY_SQUARED * sine * sine);
  const acrossRadius = EQUATOR_RADIUS / w;
  const alongRadius = (EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * w * w);
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
