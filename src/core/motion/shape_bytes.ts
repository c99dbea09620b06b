// hot: runs for each collision event, see bench/kernel/collisions.bench.ts

import type { PlaneTransform } from '../geo/crs.ts';
import { asciiBytes, NUMBER_BYTES_MAX, put, putNumber } from '../json_bytes.ts';
import type { RecordBuffer } from '../location/record.ts';
import { writeInPlane } from '../zone/view.ts';
import { CIRCLE_RING_LENGTH, circleRing, outputLatitude, outputLongitude } from './shape.ts';

/** GeoJSON geometries as bytes, identical to JSON.stringify of the values. */

/** Target plane of positions, or EPSG:4326. */
export type OutputPlane = PlaneTransform | 'wgs84';

/** Returned instead of an offset if the plane does not reach a position. */
export const OUT_OF_PLANE = -1;

const POINT = asciiBytes('{"type":"Point","coordinates":');
const POLYGON = asciiBytes('{"type":"Polygon","coordinates":[[');
const [COMMA, OPEN, CLOSE, CLOSING_BRACE] = [0x2c, 0x5b, 0x5d, 0x7d] as const;

/** Maximum number of bytes that putPoint writes. */
export const POINT_BYTES_MAX = POINT.length + 3 * (NUMBER_BYTES_MAX + 1) + 2;
const POSITION_BYTES_MAX = 2 * (NUMBER_BYTES_MAX + 1) + 2;

const OUT: [number, number] = [0, 0];
const CIRCLE = new Float64Array(CIRCLE_RING_LENGTH);

/** Maximum number of bytes that putCircle writes. */
export const CIRCLE_BYTES_MAX = polygonBytesMax(CIRCLE_RING_LENGTH);

/** Returns the maximum number of bytes that putPolygon writes for a ring of `length` numbers. */
export function polygonBytesMax(length: number): number {
  return POLYGON.length + (length / 2) * POSITION_BYTES_MAX + 3;
}

/** Writes the Point at a position in EPSG:4326 and returns the offset after it, or OUT_OF_PLANE. */
export function putPoint(
  to: RecordBuffer,
  start: number,
  { lon, lat, z }: { readonly lon: number; readonly lat: number; readonly z?: number | undefined },
  plane: OutputPlane,
): number {
  const { bytes } = to;
  let at = putPosition(to, put(bytes, start, POINT), lon, lat, plane);
  if (at < 0) return OUT_OF_PLANE;
  if (z !== undefined) {
    // Overwrites the closing bracket.
    bytes[at - 1] = COMMA;
    at = putNumber(to, at, z);
    bytes[at++] = CLOSE;
  }
  bytes[at++] = CLOSING_BRACE;
  return at;
}

/** Writes a circle as a Polygon: see circlePolygon. Returns the offset after it, or OUT_OF_PLANE. */
export function putCircle(
  to: RecordBuffer,
  start: number,
  { lon, lat, radiusMeters }: { readonly lon: number; readonly lat: number; readonly radiusMeters: number },
  plane: OutputPlane,
): number {
  circleRing(lon, lat, radiusMeters, CIRCLE);
  return putPolygon(to, start, CIRCLE, plane);
}

/**
 * Writes a closed ring of lon, lat, lon, lat … as a Polygon: see ringPolygon. Returns the offset after it, or
 * OUT_OF_PLANE.
 */
export function putPolygon(to: RecordBuffer, start: number, ring: Float64Array, plane: OutputPlane): number {
  const { bytes } = to;
  let at = put(bytes, start, POLYGON);
  for (let i = 0; i + 1 < ring.length; i += 2) {
    if (i > 0) bytes[at++] = COMMA;
    at = putPosition(to, at, outputLongitude(ring[i]!), outputLatitude(ring[i + 1]!), plane);
    if (at < 0) return OUT_OF_PLANE;
  }
  bytes[at++] = CLOSE;
  bytes[at++] = CLOSE;
  bytes[at++] = CLOSING_BRACE;
  return at;
}

/** Writes a position in brackets, in the coordinates of the plane. Returns the offset after it, or OUT_OF_PLANE. */
export function putPosition(to: RecordBuffer, start: number, lon: number, lat: number, plane: OutputPlane): number {
  const { bytes } = to;
  let at = start;
  bytes[at++] = OPEN;
  if (plane === 'wgs84') {
    at = putNumber(to, at, lon);
    bytes[at++] = COMMA;
    at = putNumber(to, at, lat);
  } else {
    if (!writeInPlane(lon, lat, plane, OUT)) return OUT_OF_PLANE;
    at = putNumber(to, at, OUT[0]);
    bytes[at++] = COMMA;
    at = putNumber(to, at, OUT[1]);
  }
  bytes[at++] = CLOSE;
  return at;
}
