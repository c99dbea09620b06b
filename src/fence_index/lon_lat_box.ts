import type { Footprint, Region } from '../core/fence/fence_index.ts';
import { DEGREES_PER_METER, RADIANS } from '../core/geo/ellipsoid.ts';
import { wrapLongitude } from '../core/geo/longitude.ts';

/**
 * A box in longitude and latitude. Its longitudes are given as middle and half width, so the antimeridian is not a
 * special case. The half width of a box with all longitudes is Infinity.
 */
export interface LonLatBox {
  /** Within ±180. */
  lon: number;
  halfWidth: number;
  south: number;
  north: number;
}

/** Minimum slack in meters: a point closer than this to an edge counts as on the edge. */
export const LEAST_SLACK_METERS = 1e-6;

/** Rounding of coordinates in degrees: about 100 nanometers. */
const ROUNDING_DEGREES = 1e-12;

/** Returns the box around a region and its slack. */
export function boxOfRegion(region: Region): LonLatBox {
  if (region.kind === 'circle') {
    const { lon, lat } = region;
    return widened({ lon, halfWidth: 0, south: lat, north: lat }, region.radiusMeters + LEAST_SLACK_METERS);
  }
  if (region.kind === 'line') return widened(boxOfRings([region.positions]), LEAST_SLACK_METERS);
  return widened(boxOfRings(region.rings), Math.max(region.slackMeters, LEAST_SLACK_METERS));
}

/** Returns the box around a footprint. */
export function boxOfFootprint({ lon, lat, radiusMeters, ring }: Footprint): LonLatBox {
  const box =
    ring === undefined ? { lon: wrapLongitude(lon), halfWidth: 0, south: lat, north: lat } : boxOfRings([ring]);
  return widened(box, radiusMeters);
}

/** Returns the smallest box around rings of lon, lat, lon, lat …, with any unwrapped longitudes. */
export function boxOfRings(rings: readonly Float64Array[]): LonLatBox {
  const { west, east, south, north } = extremesOfRings(rings);
  return { lon: wrapLongitude((west + east) / 2), halfWidth: (east - west) / 2, south, north };
}

/** Sides of the smallest box around rings, in degrees; its longitudes are unwrapped, like those of the rings. */
export function extremesOfRings(rings: readonly Float64Array[]) {
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      west = Math.min(west, ring[i]!);
      east = Math.max(east, ring[i]!);
      south = Math.min(south, ring[i + 1]!);
      north = Math.max(north, ring[i + 1]!);
    }
  }
  return { west, east, south, north };
}

/**
 * Returns a box that contains all points within `meters` of the box. A path of that length changes the latitude by at
 * most `meters * DEGREES_PER_METER`, and the longitude by that divided by the cosine of the latitude farthest from the
 * equator. A box that touches a pole has all longitudes, like the pole.
 */
export function widened(box: LonLatBox, meters: number): LonLatBox {
  const margin = meters * DEGREES_PER_METER + ROUNDING_DEGREES;
  const south = box.south - margin;
  const north = box.north + margin;
  const furthest = Math.max(-south, north);
  const halfWidth = furthest >= 90 ? Infinity : box.halfWidth + margin / Math.cos(furthest * RADIANS);
  return { lon: box.lon, halfWidth: halfWidth >= 180 ? Infinity : halfWidth, south, north };
}

/** Whether two boxes share a point. */
export function overlap(a: LonLatBox, b: LonLatBox): boolean {
  if (a.south > b.north || b.south > a.north) return false;
  const apart = Math.abs(a.lon - b.lon);
  return Math.min(apart, 360 - apart) <= a.halfWidth + b.halfWidth;
}

/** Whether a position, its longitude within ±180, is in the box. */
export function contains(box: LonLatBox, { lon, lat }: { readonly lon: number; readonly lat: number }): boolean {
  if (lat < box.south || lat > box.north) return false;
  const apart = Math.abs(lon - box.lon);
  return Math.min(apart, 360 - apart) <= box.halfWidth;
}

/**
 * A ball in space around a box, with the earth as the unit sphere: center and radius. Latitudes are used as angles at
 * the center of the earth; only consistency matters.
 */
export interface Ball {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly radius: number;
}

/**
 * Returns the ball around a box. For a box wider than half the earth, that is the ball around its polar cap or around
 * the whole earth.
 */
export function ballOfBox(box: LonLatBox): Ball {
  const south = Math.max(-90, box.south);
  const north = Math.min(90, box.north);
  if (box.halfWidth > 90) {
    const pole = north + south >= 0 ? 1 : -1;
    return { x: 0, y: 0, z: pole, radius: chord(pole > 0 ? 90 - south : 90 + north) };
  }
  const lat = ((south + north) / 2) * RADIANS;
  const lon = box.lon * RADIANS;
  // Within one half of the earth, the corners are farthest from the middle.
  const radius = Math.max(corner(lat, south * RADIANS, box.halfWidth), corner(lat, north * RADIANS, box.halfWidth));
  return { x: Math.cos(lat) * Math.cos(lon), y: Math.cos(lat) * Math.sin(lon), z: Math.sin(lat), radius };
}

function corner(lat: number, otherLat: number, degrees: number): number {
  const square = 2 - 2 * (Math.sin(lat) * Math.sin(otherLat) + Math.cos(lat) * Math.cos(otherLat) * cosine(degrees));
  return Math.sqrt(Math.max(0, square)) + 1e-7;
}

function chord(degrees: number): number {
  return 2 * Math.sin((degrees * RADIANS) / 2) + 1e-7;
}

function cosine(degrees: number): number {
  return Math.cos(degrees * RADIANS);
}
