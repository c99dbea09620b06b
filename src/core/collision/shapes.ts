// hot: runs for each pair of neighbors, see bench/kernel/collisions.bench.ts

import { groundMeters } from '../geo/ecef.ts';
import { fromPlane, ontoPlane, type TangentPlane, tangentPlaneAt } from '../geo/tangent_plane.ts';
import type { Body } from './body.ts';
import { TOUCH_METERS } from './grid.ts';
import { contains, crossings, edgeMeters, ringGapMeters, vertexMeters, widest } from './rings.ts';

/**
 * Returns the distance in meters between the shapes of two bodies, 0 if they touch or overlap. Exact to a millimeter
 * within a few hundred meters. Returns Infinity for bodies that are certainly farther apart than `limitMeters`.
 */
export function gapMeters(a: Body, b: Body, limitMeters: number): number {
  const straight = straightMeters(a, b);
  if (straight - a.reachMeters - b.reachMeters > limitMeters + TOUCH_METERS) return Number.POSITIVE_INFINITY;
  const gap = a.ring === undefined && b.ring === undefined ? discGap(a, b, straight) : ringedGap(a, b);
  return gap <= TOUCH_METERS ? 0 : gap;
}

/**
 * Returns the overlap of two touching bodies as longitudes and latitudes: the two points where their edges cross, or
 * the two farthest apart if there are more. If one body lies within the other, returns two opposite points of the inner
 * one. If they only touch, or one is a point, returns one point.
 */
export function overlap(a: Body, b: Body): readonly (readonly [lon: number, lat: number])[] {
  if (a.reachMeters <= 0) return [[a.motion.lon, a.motion.lat]];
  if (b.reachMeters <= 0) return [[b.motion.lon, b.motion.lat]];
  const plane = planeOf(a);
  const line = a.ring === undefined && b.ring === undefined ? discOverlap(a, b, plane) : ringOverlap(a, b, plane);
  const places = [fromPlane(plane, line[0]!, line[1]!)];
  const lengthMeters = Math.hypot(line[2]! - line[0]!, line[3]! - line[1]!);
  if (lengthMeters > TOUCH_METERS) places.push(fromPlane(plane, line[2]!, line[3]!));
  return places;
}

/** x, y, x, y of the ends of a line. */
type Line = readonly [number, number, number, number];

function straightMeters(a: Body, b: Body): number {
  const dx = a.x - b.x;
  const dy = a.y - b.y;
  const dz = a.z - b.z;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

function planeOf(body: Body): TangentPlane {
  return tangentPlaneAt(body.motion.lon, body.motion.lat, body);
}

function discGap(a: Body, b: Body, straight: number): number {
  return groundMeters(straight) - a.reachMeters - b.reachMeters;
}

function ringedGap(a: Body, b: Body): number {
  const plane = planeOf(a);
  if (a.ring !== undefined && b.ring !== undefined) {
    return ringGapMeters(ontoPlane(plane, a.ring), ontoPlane(plane, b.ring));
  }
  const [disc, ringed] = a.ring === undefined ? [a, b] : [b, a];
  const ring = ontoPlane(plane, ringed.ring!);
  const [x, y] = centerOn(plane, disc);
  return contains(ring, x, y) ? 0 : edgeMeters(ring, x, y) - disc.reachMeters;
}

function centerOn(plane: TangentPlane, body: Body): [number, number] {
  const point = ontoPlane(plane, Float64Array.of(body.x, body.y, body.z));
  return [point[0]!, point[1]!];
}

/** Returns the overlap of two circles, in the plane at the first one's center. */
function discOverlap(a: Body, b: Body, plane: TangentPlane): Line {
  const [x, y] = centerOn(plane, b);
  const distance = Math.hypot(x, y);
  const [towardsX, towardsY] = distance > 0 ? [x / distance, y / distance] : [1, 0];
  const ra = a.reachMeters;
  const rb = b.reachMeters;
  if (distance <= Math.abs(ra - rb)) {
    const [centerX, centerY, r] = ra < rb ? [0, 0, ra] : [x, y, rb];
    return [centerX - r * towardsX, centerY - r * towardsY, centerX + r * towardsX, centerY + r * towardsY];
  }
  const along = Math.min(ra, (distance * distance + ra * ra - rb * rb) / (2 * distance));
  // Circles that touch within tolerance have a chord of up to a millimeter, which is ignored.
  const half = ra + rb - distance <= TOUCH_METERS ? 0 : Math.sqrt(Math.max(0, ra * ra - along * along));
  const middleX = along * towardsX;
  const middleY = along * towardsY;
  return [middleX + half * towardsY, middleY - half * towardsX, middleX - half * towardsY, middleY + half * towardsX];
}

/**
 * Returns the overlap of two shapes, at least one of them a polygon. A circle is treated as the polygon that is
 * published for it.
 */
function ringOverlap(a: Body, b: Body, plane: TangentPlane): Line {
  const one = outline(a, plane);
  const other = outline(b, plane);
  const crossed = crossings(one, other);
  if (crossed.length > 0) return widest(crossed);
  if (contains(other, one[0]!, one[1]!)) return widest(one);
  if (contains(one, other[0]!, other[1]!)) return widest(other);
  const point: [number, number] = [0, 0];
  const back: [number, number] = [0, 0];
  const [x, y] = vertexMeters(one, other, point) <= vertexMeters(other, one, back) ? point : back;
  return [x, y, x, y];
}

const CIRCLE_SEGMENTS = 64;

function outline(body: Body, plane: TangentPlane): Float64Array {
  if (body.ring !== undefined) return ontoPlane(plane, body.ring);
  const [x, y] = centerOn(plane, body);
  const ring = new Float64Array(2 * CIRCLE_SEGMENTS + 2);
  for (let i = 0; i <= CIRCLE_SEGMENTS; i++) {
    const angle = (2 * Math.PI * (i % CIRCLE_SEGMENTS)) / CIRCLE_SEGMENTS;
    ring[2 * i] = x + body.reachMeters * Math.cos(angle);
    ring[2 * i + 1] = y + body.reachMeters * Math.sin(angle);
  }
  return ring;
}
