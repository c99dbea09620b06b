import type { Zone } from '../../model/zone.ts';
import { ringSquareMeters } from '../geo/geodesic.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { roundDegrees } from '../geo/rounding.ts';
import { zoneTransform } from './zone_transform.ts';
import { isProximityZone, transformationType } from './zone_type.ts';

type Ring = number[][];

/**
 * Returns a ring in longitude and latitude around a zone with control points: their convex hull, in any order. Two
 * points are opposite corners of a rectangle in the zone's plane. Undefined for a zone without control points, and if
 * they are collinear.
 */
export function zoneOutline(zone: Zone): Ring | undefined {
  const rows = zone.ground_control_points ?? [];
  if (transformationType(zone) !== 'gcp' || zoneTransform(zone) === undefined) return undefined;
  if (rows.length === 4) return rectangle(zone, rows);
  const hull = convexHull(cornersOf(zone)).map(({ lon, lat }) => [lon, lat]);
  return hull.length === 0 ? undefined : hull;
}

function rectangle(zone: Zone, rows: readonly (readonly number[])[]): Ring {
  const [, [x1 = 0, y1 = 0] = [], , [x2 = 0, y2 = 0] = []] = rows;
  const out: [number, number] = [0, 0];
  const corners = [[x1, y1] as const, [x2, y1] as const, [x2, y2] as const, [x1, y2] as const];
  return corners.map(([x, y]) => {
    zoneTransform(zone)?.toWgs84(x, y, out);
    return [roundDegrees(out[0]), roundDegrees(out[1])];
  });
}

/**
 * A ground control point: its longitude and latitude, and its coordinates on a flat map on which edges are straight.
 */
interface Corner {
  readonly lon: number;
  readonly lat: number;
  readonly x: number;
  readonly y: number;
}

/**
 * Points within this distance of an edge count as on it: a hundredth of a millimeter in degrees, far above rounding
 * errors.
 */
const ON_EDGE = 1e-10;

/**
 * Returns the geographic points of a zone in order. The map is longitude and latitude, in which edges of regions are
 * straight, unwrapped around the first point. Around a pole it is the zone's own plane.
 */
function cornersOf(zone: Zone): Corner[] {
  const positions = (zone.ground_control_points ?? []).filter((_, row) => row % 2 === 0);
  const [firstLon = 0] = positions[0] ?? [];
  const corners = positions.map(([lon = 0, lat = 0]) => ({
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
 * Returns the corners of the convex hull, counter-clockwise on the map, without those on an edge. Andrew's monotone
 * chain: the lower border from west to east, then the upper one back. Returns fewer than three if all points are
 * collinear.
 */
function convexHull(corners: readonly Corner[]): Corner[] {
  const sorted = corners.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const hull = [...border(sorted), ...border(sorted.toReversed())];
  return hull.length < 3 ? [] : hull;
}

/** Returns one border without its last point, with which the other begins. */
function border(corners: readonly Corner[]): Corner[] {
  const chain: Corner[] = [];
  for (const corner of corners) {
    while (chain.length > 1 && !turnsLeft(chain.at(-2) as Corner, chain.at(-1) as Corner, corner)) chain.pop();
    chain.push(corner);
  }
  return chain.slice(0, -1);
}

/** Whether the path from a over b to c turns left. */
function turnsLeft(a: Corner, b: Corner, c: Corner): boolean {
  return cross(a, b, c) > ON_EDGE * Math.hypot(c.x - a.x, c.y - a.y);
}

/** Whether the ring of the corners in order neither crosses nor touches itself. */
function isSimple(corners: readonly Corner[]): boolean {
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

/** Returns 1 if c lies left of the line from a to b, -1 if right, 0 if on it. */
function turn(a: Corner, b: Corner, c: Corner): number {
  const twice = cross(a, b, c);
  return Math.abs(twice) <= ON_EDGE * Math.hypot(b.x - a.x, b.y - a.y) ? 0 : Math.sign(twice);
}

function cross(a: Corner, b: Corner, c: Corner): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** Zones are replaced, never mutated, so an area is valid as long as its zone. */
const areas = new WeakMap<Zone, number>();

/**
 * Returns the area of a zone in square meters on the ellipsoid (Karney's, by geographiclib): of the polygon of its
 * ground control points in order, or of the circle of a proximity zone; 0 if neither exists. If the polygon crosses or
 * touches itself, returns the negative area of the points' convex hull.
 */
export function zoneSquareMeters(zone: Zone): number {
  const cached = areas.get(zone);
  if (cached !== undefined) return cached;
  const area = squareMeters(zone);
  areas.set(zone, area);
  return area;
}

function squareMeters(zone: Zone): number {
  if (isProximityZone(zone)) return Math.PI * (zone.radius ?? 0) ** 2;
  if (transformationType(zone) !== 'gcp') return 0;
  const corners = cornersOf(zone);
  const hull = convexHull(corners);
  if (hull.length === 0) return 0;
  return isSimple(corners) ? ringSquareMeters(corners) : -ringSquareMeters(hull);
}
