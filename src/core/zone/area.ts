import type { Zone } from '../../model/zone.ts';
import { ringSquareMetres } from '../geo/geodesic.ts';
import { convexHull, cornersOf, isSimple } from './corners.ts';
import { isProximityZone, transformationType } from './zone_type.ts';

/** Zones are replaced, never changed in place, so an area lives as long as its zone. */
const areas = new WeakMap<Zone, number>();

/**
 * Area of a zone in square metres on the ellipsoid (Karney's, by geographiclib): of the polygon of its ground control
 * points in their order, of the circle of a proximity zone, and 0 where neither is known. It is negative where that
 * polygon crosses or touches itself: then it is the area of the points' convex hull.
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
  const hull = convexHull(corners);
  if (hull.length === 0) return 0;
  return isSimple(corners) ? ringSquareMetres(corners) : -ringSquareMetres(hull);
}
