import type { Footprint, Region } from '../../src/core/fence/fence_index.ts';
import { box, circle, corners, degrees, point, polygon, shaped, square } from './places.ts';

/** Expected relation of a footprint to a region. */
export interface Case {
  readonly name: string;
  readonly region: Region;
  readonly footprint: Footprint;
  /** Meters, to 1 mm; 0 means that they touch. */
  readonly distance: number;
  readonly depth?: number;
}

export const HERE = { lon: 8, lat: 50 };

/** A position some meters east and north of HERE, and a box in such meters. */
export function at(x: number, y: number): [number, number] {
  const [dx, dy] = degrees(x, y, HERE.lat);
  return [HERE.lon + dx, HERE.lat + dy];
}
/** A box between such positions. */
export function boxAt(west: number, south: number, east: number, north: number, slackMeters = 0): Region {
  return box(...at(west, south), ...at(east, north), slackMeters);
}

export const ten = boxAt(-5, -5, 5, 5);
const holed = polygon([corners(...at(-50, -50), ...at(50, 50)), corners(...at(-10, -10), ...at(10, 10)).reverse()]);
const narrow = 1e-7;

export const CASES: readonly Case[] = [
  { name: 'a point inside', region: ten, footprint: point(...at(0, 3)), distance: 0, depth: 2 },
  { name: 'a point outside', region: ten, footprint: point(...at(8, 0)), distance: 3, depth: -3 },
  { name: 'a point off a corner', region: ten, footprint: point(...at(8, 9)), distance: 5, depth: -5 },
  { name: 'a point on an edge', region: box(8, 50, 9, 51), footprint: point(8, 50.25), distance: 0, depth: 0 },
  { name: 'a point on a corner', region: box(8, 50, 9, 51), footprint: point(9, 51), distance: 0, depth: 0 },
  {
    name: 'a point within the slack',
    region: boxAt(-5, -5, 5, 5, 0.01),
    footprint: point(...at(5.009, 0)),
    distance: 0,
    depth: 0,
  },
  {
    name: 'a point beyond the slack',
    region: boxAt(-5, -5, 5, 5, 0.01),
    footprint: point(...at(5.02, 0)),
    distance: 0.02,
    depth: -0.02,
  },
  { name: 'a point in a hole', region: holed, footprint: point(...at(0, 4)), distance: 6, depth: -6 },
  { name: 'a point next to a hole', region: holed, footprint: point(...at(13, 0)), distance: 0, depth: 3 },
  {
    name: 'a point on the edge of a hole',
    region: polygon([corners(0, 0, 4, 4), corners(1, 1, 2, 2)]),
    footprint: point(1, 1.5),
    distance: 0,
    depth: 0,
  },
  { name: 'a circle that overlaps', region: ten, footprint: point(...at(8, 0), 4), distance: 0, depth: 1 },
  { name: 'a circle that does not reach', region: ten, footprint: point(...at(8, 0), 1), distance: 2, depth: -2 },
  { name: 'a circle around the fence', region: ten, footprint: point(...at(1, 0), 500), distance: 0, depth: 504 },
  { name: 'a circle in a hole', region: holed, footprint: point(...at(0, 0), 9), distance: 1, depth: -1 },
  { name: 'a square that overlaps', region: ten, footprint: square(...at(7, 0), 4), distance: 0, depth: 1 },
  { name: 'a square apart', region: ten, footprint: square(...at(10, 0), 3), distance: 2, depth: -2 },
  { name: 'a square off a corner', region: ten, footprint: square(...at(11, 12), 3), distance: 5, depth: -5 },
  { name: 'a square around the fence', region: ten, footprint: square(...at(0, 0), 40), distance: 0, depth: 5 },
  {
    name: 'a bar across the fence',
    region: ten,
    footprint: shaped(...at(20, 0), [
      [-40, -1],
      [40, -1],
      [40, 1],
      [-40, 1],
    ]),
    distance: 0,
    depth: 0,
  },
  { name: 'a square in a hole', region: holed, footprint: square(...at(0, 0), 8), distance: 2, depth: -2 },
  { name: 'a point in a circle', region: circle(8, 50, 30), footprint: point(...at(20, 0)), distance: 0, depth: 10 },
  {
    name: 'a point outside a circle',
    region: circle(8, 50, 30),
    footprint: point(...at(0, -42)),
    distance: 12,
    depth: -12,
  },
  {
    name: 'circles that touch',
    region: circle(8, 50, 30),
    footprint: point(...at(37, 0), 7.001),
    distance: 0,
    depth: 0.001,
  },
  { name: 'circles that do not', region: circle(8, 50, 30), footprint: point(...at(40, 0), 7), distance: 3, depth: -3 },
  {
    name: 'a square at a circle',
    region: circle(8, 50, 30),
    footprint: square(...at(36, 0), 4),
    distance: 2,
    depth: -2.249,
  },
  {
    name: 'a square around a circle',
    region: circle(8, 50, 3),
    footprint: square(...at(5, 0), 40),
    distance: 0,
    depth: 0,
  },
  {
    name: 'a region over 180°, from the east',
    region: box(179.9, 10, 180.1, 11),
    footprint: point(-179.95, 10.5),
    distance: 0,
  },
  {
    name: 'a region over 180°, from the west',
    region: box(179.9, 10, 180.1, 11),
    footprint: point(179.95, 10.5),
    distance: 0,
  },
  { name: 'a region over -180°', region: box(-180.1, 10, -179.9, 11), footprint: point(179.95, 10.5), distance: 0 },
  {
    name: 'a region that ends at 180°',
    region: box(179.9, 10, 180, 11),
    footprint: point(-180, 10.5),
    distance: 0,
    depth: 0,
  },
  {
    name: 'a position across 180°',
    region: box(179.9, -0.5, 180, 0.5),
    footprint: point(-179.999, 0),
    distance: 111.3195,
  },
  {
    name: 'a circle over 180°',
    region: circle(180, 0, 500),
    footprint: point(-179.999, 0),
    distance: 0,
    depth: 388.6805,
  },
  {
    name: 'a circle footprint over 180°',
    region: box(179.9, -0.5, 180, 0.5),
    footprint: point(-179.999, 0, 112),
    distance: 0,
    depth: 0.6805,
  },
  { name: 'a square over 180°', region: box(179.9, -0.5, 180, 0.5), footprint: square(-179.9999, 0, 20), distance: 0 },
  { name: 'the world', region: box(-180, -90, 180, 90), footprint: point(-180, 12), distance: 0 },
  { name: 'the world at a pole', region: box(-180, -90, 180, 90), footprint: point(77, 90), distance: 0, depth: 0 },
  {
    name: 'a region that laps over itself',
    region: polygon([
      [
        [-200, 0],
        [0, -40],
        [200, 0],
        [0, 40],
        [-200, 0],
      ],
    ]),
    footprint: point(170, 3),
    distance: 0,
  },
  { name: 'the world written from 0 to 360', region: box(0, -90, 360, 90), footprint: point(-90, 12), distance: 0 },
  { name: 'a polar cap at the pole', region: box(-180, 89, 180, 90), footprint: point(0, 90), distance: 0 },
  {
    name: 'a circle around the pole',
    region: circle(10, 89.999, 200),
    footprint: point(-170, 89.9995),
    distance: 0,
    depth: 200 - 167.541,
  },
  {
    name: 'a position beyond the pole',
    region: box(-10, 89.9, 10, 89.999),
    footprint: point(180, 89.999),
    distance: 222.538,
  },
  {
    name: 'a wedge at the pole, from elsewhere',
    region: box(0, 89, 10, 90),
    footprint: point(180, 89.999),
    distance: 111.694,
  },
  {
    name: 'a circle over the pole',
    region: box(-10, 89.9, 10, 89.9995),
    footprint: point(180, 89.9995, 120),
    distance: 0,
    depth: 120 - 111.269,
  },
  {
    name: 'a square within the slack',
    region: boxAt(-5, -5, 5, 5, 0.05),
    footprint: square(...at(8.02, 0), 3),
    distance: 0,
    depth: 0,
  },
  { name: 'the pole itself', region: box(0, 89, 10, 90), footprint: point(123, 90), distance: 0, depth: 0 },
  {
    name: 'a tiny fence',
    region: box(8, 50, 8 + narrow, 50 + narrow),
    footprint: point(8 + narrow / 2, 50 + narrow / 2),
    distance: 0,
  },
];
