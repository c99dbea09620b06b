import type { Polygon } from '../../model/geojson.ts';
import { distanceAndBearing } from '../geo/geodesic.ts';
import { LEAST_RADIUS, RADIANS } from '../geo/ellipsoid.ts';
import { shorterTurn } from '../geo/longitude.ts';
import { flatRing } from '../geo/rings.ts';

/** A rectangle in scaled longitude and latitude, as in the tree. */
interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/** Returns at most the distance in meters from a position to a rectangle of the tree. */
export type DistanceBound = (rectangle: Rectangle) => number;

const BOUND_FACTOR = 1 - 1e-6;

/**
 * Returns the lower bound of distances from a position. A path into a rectangle crosses its nearer parallel, unless the
 * position is between its parallels; and one of its two meridians, unless the position is between these.
 */
export function distanceBound(lon: number, lat: number): DistanceBound {
  const cosine = Math.cos(lat * RADIANS);
  const toMeridian = (degrees: number): number => Math.asin(Math.abs(Math.sin(degrees * RADIANS)) * cosine);
  return ({ x, y, size }) => {
    const [west, south] = [x * 360 - 180, y * 180 - 90];
    const [east, north] = [west + size * 360, south + size * 180];
    const alongMeridian = Math.max(0, south - lat, lat - north) * RADIANS;
    const isBetween = Math.abs(shorterTurn(lon - (west + east) / 2)) <= (east - west) / 2;
    const acrossMeridian = isBetween ? 0 : Math.min(toMeridian(west - lon), toMeridian(east - lon));
    // By the least radius of curvature, less what the series for short distances may err.
    return Math.max(alongMeridian, acrossMeridian) * LEAST_RADIUS * BOUND_FACTOR;
  };
}

const measured: [number, number] = [0, 0];

/** Returns the distance in meters. */
export function metersBetween(lon1: number, lat1: number, lon2: number, lat2: number): number {
  distanceAndBearing(lon1, lat1, lon2, lat2, measured);
  return measured[0];
}

/** A region of a search. */
export interface SearchRegion {
  contains(lon: number, lat: number): boolean;
  /** Whether the region may intersect a rectangle of the tree. */
  mayTouch(rectangle: Rectangle): boolean;
  /** Bounds in degrees; the longitudes may extend beyond ±180. */
  readonly box: readonly [west: number, south: number, east: number, north: number];
}

/** Compiles a polygon in EPSG:4326, whose edges are straight in longitude and latitude. */
export function compileSearchRegion({ coordinates }: Polygon): SearchRegion {
  const rings = coordinates.map((ring) => flatRing(ring, true));
  const box = boxOf(rings[0] as Float64Array);
  const [west, south, east, north] = box;
  const turns = [-360, 0, 360];
  return {
    box,
    contains: (lon, lat) => {
      if (lat < south || lat > north) return false;
      return turns.some((turn) => {
        const x = lon + turn;
        if (x < west || x > east) return false;
        // Rings are unwrapped independently, so a hole may be a turn away from the exterior.
        return rings.every((ring, i) =>
          i === 0 ? isInRing(ring, x, lat) : !turns.some((another) => isInRing(ring, x + another, lat)),
        );
      });
    },
    mayTouch: ({ x, y, size }) => {
      const [left, bottom] = [x * 360 - 180, y * 180 - 90];
      if (bottom > north || bottom + size * 180 < south) return false;
      return turns.some((turn) => left + turn <= east && left + turn + size * 360 >= west);
    },
  };
}

function boxOf(ring: Float64Array): [number, number, number, number] {
  const { POSITIVE_INFINITY: most, NEGATIVE_INFINITY: least } = Number;
  const box: [number, number, number, number] = [most, most, least, least];
  for (let i = 0; i < ring.length; i += 2) {
    const [lon, lat] = [ring[i] as number, ring[i + 1] as number];
    box[0] = Math.min(box[0], lon);
    box[1] = Math.min(box[1], lat);
    box[2] = Math.max(box[2], lon);
    box[3] = Math.max(box[3], lat);
  }
  return box;
}

/** Whether a closed flat ring encloses a position, by the parity of crossed edges. */
function isInRing(ring: Float64Array, x: number, y: number): boolean {
  let isInside = false;
  for (let i = 2; i < ring.length; i += 2) {
    const [x1, y1, x2, y2] = [ring[i - 2], ring[i - 1], ring[i], ring[i + 1]] as [number, number, number, number];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside;
  }
  return isInside;
}
