import geographic from 'geographiclib-geodesic';
import type { Zone } from '../../model/zone.ts';
import { wrapLongitude } from './longitude.ts';
import { isProximityZone, transformationType } from './zone_type.ts';

type Place = readonly [lon: number, lat: number];

/** Zones are replaced, never changed in place, so an area lives as long as its zone. */
const areas = new WeakMap<Zone, number>();

/**
 * Area of a zone in square metres on the ellipsoid (Karney's, by geographiclib): of the polygon of its ground control
 * points in their order, of the circle of a proximity zone, and 0 where neither is known. It is negative where that
 * polygon crosses itself: then it is the area of the points' convex hull.
 */
export function zoneSquareMetres(zone: Zone): number {
  const known = areas.get(zone);
  if (known !== undefined) return known;
  const area = squareMetres(zone);
  areas.set(zone, area);
  return area;
}

function squareMetres(zone: Zone): number {
  if (isProximityZone(zone)) return Math.PI * (zone.radius ?? 0) ** 2;
  if (transformationType(zone) !== 'gcp') return 0;
  const corners = cornersOf(zone);
  if (corners.length < 3) return 0;
  return isSimple(corners) ? ringArea(corners) : -ringArea(hull(corners));
}

/** The geographic points, their longitudes unwrapped around the first. */
function cornersOf({ ground_control_points: rows }: Zone): Place[] {
  const places = (rows ?? []).filter((_, index) => index % 2 === 0);
  const [firstLon = 0] = places[0] ?? [];
  return places.map(([lon = 0, lat = 0]): Place => [firstLon + wrapLongitude(lon - firstLon), lat]);
}

function ringArea(corners: readonly Place[]): number {
  const polygon = geographic.Geodesic.WGS84.Polygon(false);
  for (const [lon, lat] of corners) polygon.AddPoint(lat, lon);
  return Math.abs(polygon.Compute(false, true).area ?? 0);
}

/** Whether no two edges cross. Edges that follow each other share a point and are left out. */
function isSimple(corners: readonly Place[]): boolean {
  const { length } = corners;
  const corner = (index: number): Place => corners[index % length] as Place;
  for (let i = 0; i < length; i++) {
    for (let j = i + 2; j < length; j++) {
      if (i === 0 && j === length - 1) continue;
      if (cross(corner(i), corner(i + 1), corner(j), corner(j + 1))) return false;
    }
  }
  return true;
}

/** Whether the two edges have a point within both in common. */
function cross(a: Place, b: Place, c: Place, d: Place): boolean {
  return turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
}

/** 1 where c lies to the left of the way from a to b, -1 to the right, 0 on it. */
function turn(a: Place, b: Place, c: Place): number {
  return Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

/** Convex hull by Andrew's monotone chain: the lower border from west to east, then the upper one back. */
function hull(places: readonly Place[]): Place[] {
  const sorted = places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [...border(sorted), ...border(sorted.toReversed())];
}

/** One border, without its last point, with which the other begins. */
function border(places: readonly Place[]): Place[] {
  const chain: Place[] = [];
  for (const place of places) {
    while (chain.length > 1 && turn(chain.at(-2) as Place, chain.at(-1) as Place, place) <= 0) chain.pop();
    chain.push(place);
  }
  return chain.slice(0, -1);
}
