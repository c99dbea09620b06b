import type { Polygon } from '../../model/geojson.ts';
import type { Footprint } from '../fence/fence_index.ts';
import { MEAN_RADIUS } from '../geo/ellipsoid.ts';
import { displacer } from '../geo/geodesic.ts';
import { wrapLongitude } from '../geo/longitude.ts';

/** Members of a trackable that define its extent. */
export interface TrackableExtent {
  readonly radius?: number | null;
  readonly geometry?: Polygon | null;
}

/**
 * Returns the extent of an object at a position in EPSG:4326: a circle if it has a radius, otherwise its polygon
 * rotated by the course (north if unknown), otherwise a point.
 */
export function footprintOf(
  shape: TrackableExtent,
  lon: number,
  lat: number,
  courseDegrees: number | undefined,
): Footprint {
  // hot
  const radiusMeters = shape.radius ?? 0;
  if (radiusMeters > 0) return { lon, lat, radiusMeters, ring: undefined, reachMeters: radiusMeters };
  if (shape.geometry == null) return { lon, lat, radiusMeters: 0, ring: undefined, reachMeters: 0 };
  const ring = rotatedRing(shape.geometry, lon, lat, courseDegrees ?? 0);
  return { lon, lat, radiusMeters: 0, ring, reachMeters: reachOnEarth(reachOf(shape.geometry), lat) };
}

/**
 * Returns an upper bound of the reach on the earth. Edges straight in longitude and latitude bulge away from the
 * straight line by up to length² · tan(latitude) / 8 earth radii, and vertices are exact to 2e-5.
 */
function reachOnEarth(meters: number, lat: number): number {
  const bulge = (meters * meters * Math.abs(Math.tan((lat * Math.PI) / 180))) / (2 * MEAN_RADIUS);
  return meters * 1.0001 + bulge;
}

/** Shapes of trackables on the earth: a circle, or a polygon rotated by the course. */

const SEGMENTS = 64;
const COSINES = Float64Array.from({ length: SEGMENTS }, (_, i) => Math.cos((2 * Math.PI * i) / SEGMENTS));
const SINES = Float64Array.from({ length: SEGMENTS }, (_, i) => Math.sin((2 * Math.PI * i) / SEGMENTS));

/** Number of values that circleRing writes. */
export const CIRCLE_RING_LENGTH = 2 * (SEGMENTS + 1);

/**
 * Writes a circle as a closed, counter-clockwise ring of 64 segments in EPSG:4326: lon, lat, lon, lat … Its vertices
 * lie on the circle to 1e-4 of the radius. Longitudes are unwrapped around `lon`.
 */
export function circleRing(lon: number, lat: number, radiusMeters: number, ring: Float64Array): void {
  // hot
  const displace = displacer(lon, lat, radiusMeters);
  const out: [number, number] = [0, 0];
  for (let i = 0; i < SEGMENTS; i++) {
    displace(radiusMeters * COSINES[i]!, radiusMeters * SINES[i]!, out);
    ring[2 * i] = out[0];
    ring[2 * i + 1] = out[1];
  }
  ring[2 * SEGMENTS] = ring[0]!;
  ring[2 * SEGMENTS + 1] = ring[1]!;
}

/** Returns a circle as a polygon for output: see circleRing and ringPolygon. */
export function circlePolygon(lon: number, lat: number, radiusMeters: number): Polygon {
  const ring = new Float64Array(CIRCLE_RING_LENGTH);
  circleRing(lon, lat, radiusMeters, ring);
  return ringPolygon(ring);
}

/**
 * Returns the exterior of a trackable's polygon around a position: vertices in meters, x east and y north at course 0,
 * rotated clockwise by the course. The result is a closed, counter-clockwise ring of lon, lat, lon, lat … in EPSG:4326,
 * unwrapped around `lon`: longitudes exceed ±180 across the antimeridian.
 */
export function rotatedRing(polygon: Polygon, lon: number, lat: number, courseDegrees: number): Float64Array {
  // hot
  const vertices = polygon.coordinates[0] ?? [];
  const count = openCount(vertices);
  const displace = displacer(lon, lat, reachOf(polygon));
  const angle = (courseDegrees * Math.PI) / 180;
  const cosine = Math.cos(angle);
  const sine = Math.sin(angle);
  const ring = new Float64Array(2 * (count + 1));
  const clockwise = signedArea(vertices, count) < 0;
  const out: [number, number] = [0, 0];
  for (let i = 0; i <= count; i++) {
    const vertex = vertices[(clockwise ? count - i : i) % count]!;
    const x = vertex[0]!;
    const y = vertex[1]!;
    displace(x * cosine + y * sine, y * cosine - x * sine, out);
    ring[2 * i] = out[0];
    ring[2 * i + 1] = out[1];
  }
  return ring;
}

/** Returns the maximum distance of the polygon's exterior from its origin, in meters. */
export function reachOf(polygon: Polygon): number {
  let reachSquared = 0;
  for (const vertex of polygon.coordinates[0] ?? []) {
    reachSquared = Math.max(reachSquared, vertex[0]! ** 2 + vertex[1]! ** 2);
  }
  return Math.sqrt(reachSquared);
}

/** Returns a ring of lon, lat, lon, lat … as a polygon for output: longitudes wrapped to ±180. */
export function ringPolygon(ring: Float64Array): Polygon {
  const vertices: number[][] = [];
  for (let i = 0; i + 1 < ring.length; i += 2) {
    vertices.push([outputLongitude(ring[i]!), outputLatitude(ring[i + 1]!)]);
  }
  return { type: 'Polygon', coordinates: [vertices] };
}

/** Returns the number of vertices without a last one that repeats the first. */
function openCount(vertices: readonly (readonly number[])[]): number {
  const count = vertices.length;
  const first = vertices[0];
  const last = vertices[count - 1];
  const closed = count > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
  return closed ? count - 1 : count;
}

/** Returns twice the area of the first `count` vertices, positive if counter-clockwise. */
function signedArea(vertices: readonly (readonly number[])[], count: number): number {
  let area = 0;
  let before = vertices[count - 1]!;
  for (let i = 0; i < count; i++) {
    const vertex = vertices[i]!;
    area += before[0]! * vertex[1]! - vertex[0]! * before[1]!;
    before = vertex;
  }
  return area;
}

/** Returns the longitude of a vertex for output: wrapped to ±180 and rounded. */
export function outputLongitude(degrees: number): number {
  return roundVertex(wrapLongitude(degrees));
}

/** Returns the latitude of a vertex for output. */
export function outputLatitude(degrees: number): number {
  return roundVertex(degrees);
}

/** Rounds to 0.01 mm, a tenth of the rounding of positions, so that small shapes keep their form. */
function roundVertex(degrees: number): number {
  return Math.round(degrees * 1e10) / 1e10 + 0;
}
