import type { Polygon } from '../../model/geojson.ts';
import type { Footprint } from '../fence/fence_index.ts';
import { MEAN_RADIUS } from '../geo/ellipsoid.ts';
import { reachOf, turnedRing } from './shape.ts';

/** What a trackable says of its extent. */
export interface Extent {
  readonly radius?: number | null;
  readonly geometry?: Polygon | null;
}

/**
 * The extent of an object at a place in EPSG:4326: a circle where it has a radius, else its polygon turned by the
 * course (north when it has none), else a point.
 */
export function footprintOf(shape: Extent, lon: number, lat: number, courseDegrees: number | undefined): Footprint {
  // hot
  const radiusMetres = shape.radius ?? 0;
  if (radiusMetres > 0) return { lon, lat, radiusMetres, ring: undefined, reachMetres: radiusMetres };
  if (shape.geometry == null) return { lon, lat, radiusMetres: 0, ring: undefined, reachMetres: 0 };
  const ring = turnedRing(shape.geometry, lon, lat, courseDegrees ?? 0);
  return { lon, lat, radiusMetres: 0, ring, reachMetres: reachOnEarth(reachOf(shape.geometry), lat) };
}

/**
 * Never less than the true reach: edges straight in longitude and latitude bulge away from the straight line by up to
 * length² · tan(latitude) / 8 earth radii, and vertices are placed to 2e-5.
 */
function reachOnEarth(metres: number, lat: number): number {
  const bulge = (metres * metres * Math.abs(Math.tan((lat * Math.PI) / 180))) / (2 * MEAN_RADIUS);
  return metres * 1.0001 + bulge;
}
