// hot: run for each event of a collision, see bench/kernel/collisions.bench.ts

import type { PlaneTransform } from '../geo/crs.ts';
import { asciiBytes, NUMBER_BYTES_MAX, put, putNumber } from '../json_bytes.ts';
import type { RecordBuffer } from '../location/record.ts';
import { writeInPlane } from '../zone/view.ts';
import { CIRCLE_RING_LENGTH, circleRing, shownLatitude, shownLongitude } from './shape.ts';

/** GeoJSON geometries as bytes, the same that JSON.stringify makes of the values. */

/** A plane to show positions in, or EPSG:4326. */
export type Plane = PlaneTransform | 'wgs84';

/** What is returned instead of an end where the plane does not reach a position. */
export const NOT_SHOWN = -1;

const POINT = asciiBytes('{"type":"Point","coordinates":');
const POLYGON = asciiBytes('{"type":"Polygon","coordinates":[[');
const [COMMA, OPEN, CLOSE, CLOSING_BRACE] = [0x2c, 0x5b, 0x5d, 0x7d] as const;

/** How many bytes putPoint takes at most. */
export const POINT_BYTES_MAX = POINT.length + 3 * (NUMBER_BYTES_MAX + 1) + 2;
const POSITION_BYTES_MAX = 2 * (NUMBER_BYTES_MAX + 1) + 2;

const OUT: [number, number] = [0, 0];
const CIRCLE = new Float64Array(CIRCLE_RING_LENGTH);

/** How many bytes putCircle takes at most. */
export const CIRCLE_BYTES_MAX = polygonBytesMax(CIRCLE_RING_LENGTH);

/** How many bytes putPolygon takes at most for a ring of so many numbers. */
export function polygonBytesMax(length: number): number {
  return POLYGON.length + (length / 2) * POSITION_BYTES_MAX + 3;
}

/** Writes the Point at a place in EPSG:4326, and returns where it ends, or NOT_SHOWN. */
export function putPoint(
  to: RecordBuffer,
  start: number,
  { lon, lat, z }: { readonly lon: number; readonly lat: number; readonly z?: number | undefined },
  plane: Plane,
): number {
  const { bytes } = to;
  let at = putPosition(to, put(bytes, start, POINT), lon, lat, plane);
  if (at < 0) return NOT_SHOWN;
  if (z !== undefined) {
    // In the place of the bracket.
    bytes[at - 1] = COMMA;
    at = putNumber(to, at, z);
    bytes[at++] = CLOSE;
  }
  bytes[at++] = CLOSING_BRACE;
  return at;
}

/** Writes a circle as a Polygon: see circlePolygon. Returns where it ends, or NOT_SHOWN. */
export function putCircle(
  to: RecordBuffer,
  start: number,
  { lon, lat, radiusMetres }: { readonly lon: number; readonly lat: number; readonly radiusMetres: number },
  plane: Plane,
): number {
  circleRing(lon, lat, radiusMetres, CIRCLE);
  return putPolygon(to, start, CIRCLE, plane);
}

/** Writes a closed ring of lon, lat, lon, lat … as a Polygon: see ringPolygon. Returns where it ends, or NOT_SHOWN. */
export function putPolygon(to: RecordBuffer, start: number, ring: Float64Array, plane: Plane): number {
  const { bytes } = to;
  let at = put(bytes, start, POLYGON);
  for (let i = 0; i + 1 < ring.length; i += 2) {
    if (i > 0) bytes[at++] = COMMA;
    at = putPosition(to, at, shownLongitude(ring[i]!), shownLatitude(ring[i + 1]!), plane);
    if (at < 0) return NOT_SHOWN;
  }
  bytes[at++] = CLOSE;
  bytes[at++] = CLOSE;
  bytes[at++] = CLOSING_BRACE;
  return at;
}

/** Writes a position in brackets, in the coordinates of the plane, and returns where it ends, or NOT_SHOWN. */
export function putPosition(to: RecordBuffer, start: number, lon: number, lat: number, plane: Plane): number {
  const { bytes } = to;
  let at = start;
  bytes[at++] = OPEN;
  if (plane === 'wgs84') {
    at = putNumber(to, at, lon);
    bytes[at++] = COMMA;
    at = putNumber(to, at, lat);
  } else {
    if (!writeInPlane(lon, lat, plane, OUT)) return NOT_SHOWN;
    at = putNumber(to, at, OUT[0]);
    bytes[at++] = COMMA;
    at = putNumber(to, at, OUT[1]);
  }
  bytes[at++] = CLOSE;
  return at;
}
