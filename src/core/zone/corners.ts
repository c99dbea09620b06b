import type { Zone } from '../../model/zone.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { zoneTransform } from './zone_transform.ts';

/** A ground control point: where it is, and the same on a flat map on which zones are compared with straight edges. */
export interface Corner {
  readonly lon: number;
  readonly lat: number;
  readonly x: number;
  readonly y: number;
}

/** A point less than this beside an edge is on it: a hundredth of a millimetre in degrees, far above rounding errors. */
const ON_EDGE = 1e-10;

/**
 * The geographic points of a zone in their order. The map is that of longitude and latitude, in which regions have their
 * straight edges, unwrapped around the first point. Around a pole it is the zone's own plane.
 */
export function cornersOf(zone: Zone): Corner[] {
  const places = (zone.ground_control_points ?? []).filter((_, row) => row % 2 === 0);
  const [firstLon = 0] = places[0] ?? [];
  const corners = places.map(([lon = 0, lat = 0]) => ({
    lon,
    lat,
    x: firstLon + wrapLongitude(lon - firstLon),
    y: lat,
  }));
  const west = corners.reduce((least, { x }) => Math.min(least, x), Number.POSITIVE_INFINITY);
  const east = corners.reduce((most, { x }) => Math.max(most, x), Number.NEGATIVE_INFINITY);
  const plane = east - west < 180 ? undefined : zoneTransform(zone);
  if (plane === undefined) return corners;
  return corners.map(({ lon, lat }) => {
    const out: [number, number] = [0, 0];
    plane.fromWgs84(lon, lat, out);
    return { lon, lat, x: out[0], y: out[1] };
  });
}

/**
 * The corners of the convex hull, counter-clockwise on the map, without those on an edge: by Andrew's monotone chain, the
 * lower border from west to east, then the upper one back. Fewer than three where all points are on one line.
 */
export function convexHull(corners: readonly Corner[]): Corner[] {
  const sorted = corners.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const hull = [...border(sorted), ...border(sorted.toReversed())];
  return hull.length < 3 ? [] : hull;
}

/** One border, without its last point, with which the other begins. */
function border(corners: readonly Corner[]): Corner[] {
  const chain: Corner[] = [];
  for (const corner of corners) {
    while (chain.length > 1 && !turnsLeft(chain.at(-2) as Corner, chain.at(-1) as Corner, corner)) chain.pop();
    chain.push(corner);
  }
  return chain.slice(0, -1);
}

/** Whether the way from a to c over b turns left. */
function turnsLeft(a: Corner, b: Corner, c: Corner): boolean {
  return cross(a, b, c) > ON_EDGE * Math.hypot(c.x - a.x, c.y - a.y);
}

/** Whether the ring of the corners in their order neither crosses nor touches itself. */
export function isSimple(corners: readonly Corner[]): boolean {
  const { length } = corners;
  const corner = (index: number): Corner => corners[index % length] as Corner;
  for (let i = 0; i < length; i++) {
    if (turnsBack(corner(i), corner(i + 1), corner(i + 2))) return false;
    for (let j = i + 2; j < length; j++) {
      // The last edge shares its end with the first.
      if (i === 0 && j === length - 1) continue;
      if (meet(corner(i), corner(i + 1), corner(j), corner(j + 1))) return false;
    }
  }
  return true;
}

/** Whether the edge from b to c lies on the one from a to b. */
function turnsBack(a: Corner, b: Corner, c: Corner): boolean {
  return turn(a, b, c) === 0 && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) <= 0;
}

/** Whether the two edges have a point in common. */
function meet(a: Corner, b: Corner, c: Corner, d: Corner): boolean {
  const [abc, abd, cda, cdb] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
  if (abc * abd < 0 && cda * cdb < 0) return true;
  return (
    (abc === 0 && isBetween(a, b, c)) ||
    (abd === 0 && isBetween(a, b, d)) ||
    (cda === 0 && isBetween(c, d, a)) ||
    (cdb === 0 && isBetween(c, d, b))
  );
}

/** Whether a point on the line through a and b lies between them. */
function isBetween(a: Corner, b: Corner, point: Corner): boolean {
  return (point.x - a.x) * (point.x - b.x) + (point.y - a.y) * (point.y - b.y) <= 0;
}

/** 1 where c lies to the left of the way from a to b, -1 to the right, 0 on it. */
function turn(a: Corner, b: Corner, c: Corner): number {
  const twice = cross(a, b, c);
  return Math.abs(twice) <= ON_EDGE * Math.hypot(b.x - a.x, b.y - a.y) ? 0 : Math.sign(twice);
}

function cross(a: Corner, b: Corner, c: Corner): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
