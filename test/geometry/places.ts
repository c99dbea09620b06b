import fc from 'fast-check';
import type { Footprint, Region } from '../../src/core/fence/fence_index.ts';
import { metersPerLatitude, metersPerLongitude } from '../../src/core/geo/ellipsoid.ts';

/** Regions, footprints and generators of both for the tests of the fence index. */

export function point(lon: number, lat: number, radiusMeters = 0): Footprint {
  return { lon, lat, radiusMeters, ring: undefined, reachMeters: radiusMeters };
}

/** A footprint with a ring around its position. Corners are in meters east and north. */
export function shaped(lon: number, lat: number, corners: readonly (readonly [number, number])[]): Footprint {
  const ring = [...corners, corners[0] as readonly [number, number]].flatMap(([x, y]) => {
    const [dx, dy] = degrees(x, y, lat);
    return [lon + dx, lat + dy];
  });
  const reachMeters = Math.max(...corners.map(([x, y]) => Math.hypot(x, y))) * 1.01;
  return { lon, lat, radiusMeters: 0, ring: Float64Array.from(ring), reachMeters };
}

export function square(lon: number, lat: number, halfMeters: number): Footprint {
  const h = halfMeters;
  return shaped(lon, lat, [
    [-h, -h],
    [h, -h],
    [h, h],
    [-h, h],
  ]);
}

export function circle(lon: number, lat: number, radiusMeters: number): Region {
  return { kind: 'circle', lon, lat, radiusMeters };
}

export function polygon(rings: readonly (readonly (readonly [number, number])[])[], slackMeters = 0): Region {
  return { kind: 'polygon', rings: rings.map((ring) => Float64Array.from(ring.flat())), slackMeters };
}

export function box(west: number, south: number, east: number, north: number, slackMeters = 0): Region {
  return polygon([corners(west, south, east, north)], slackMeters);
}

/** A closed ring, counter-clockwise. */
export function corners(west: number, south: number, east: number, north: number): [number, number][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** Converts meters east and north to degrees. Near the poles, longitudes get no wider than at 89.4°. */
export function degrees(x: number, y: number, lat: number): [number, number] {
  return [x / metersPerLongitude(Math.min(89.4, Math.abs(lat))), y / metersPerLatitude(lat)];
}

/** Half a meter to thousands of kilometers, logarithmically distributed. */
export const anySize = fc.double({ min: -0.3, max: 6.5, noNaN: true }).map((exponent) => 10 ** exponent);

const somewhere = fc.record({
  lon: fc.oneof(
    { weight: 3, arbitrary: fc.double({ min: -180, max: 180, noNaN: true }) },
    fc.constantFrom(-180, 180, 179.999, -179.9999, 0),
  ),
  lat: fc.oneof(
    { weight: 3, arbitrary: fc.double({ min: -85, max: 85, noNaN: true }) },
    fc.constantFrom(-90, 90, 89.9999, -89.99, 0),
  ),
});

/** A position and a matching size, around which everything in a test happens. */
export interface Spot {
  readonly lon: number;
  readonly lat: number;
  readonly size: number;
}

export const anySpot: fc.Arbitrary<Spot> = fc
  .tuple(somewhere, anySize)
  .map(([{ lon, lat }, size]) => ({ lon, lat, size }));

const share = fc.double({ min: -1, max: 1, noNaN: true });

/** A region of about the size of the spot, around it or close by. */
export function regionAt(spot: Spot): fc.Arbitrary<Region> {
  const center = fc.tuple(share, share).map(([x, y]) => moved(spot, x, y));
  const round = fc
    .tuple(center, fc.double({ min: 0.05, max: 1, noNaN: true }))
    .map(([{ lon, lat }, scale]) => circle(wrapped(lon), lat, Math.max(0.5, spot.size * scale)));
  const star = fc
    .tuple(center, fc.array(fc.double({ min: 0.3, max: 1, noNaN: true }), { minLength: 3, maxLength: 9 }))
    .map(([{ lon, lat }, radii]) => polygon([starRing(lon, lat, { radii, size: spot.size })]));
  const rectangle = fc.tuple(center, fc.double({ min: 0.05, max: 1, noNaN: true })).map(([{ lon, lat }, scale]) => {
    const [dx, dy] = degrees(spot.size * scale, spot.size, lat);
    const half = Math.min(180, dx);
    return box(lon - half, clampLat(lat - dy), lon + half, clampLat(lat + dy));
  });
  return fc.oneof(round, star, rectangle).filter(hasArea);
}

/** A point, a circle or a polygon near the spot, usually in reach of its regions. */
export function footprintAt(spot: Spot, far = 2): fc.Arbitrary<Footprint> {
  const at = fc.tuple(share, share).map(([x, y]) => {
    const { lon, lat } = moved(spot, x * far, y * far);
    return { lon: wrapped(lon), lat };
  });
  const dot = at.map(({ lon, lat }) => point(lon, lat));
  const round = fc
    .tuple(at, fc.double({ min: 0.001, max: 0.5, noNaN: true }))
    .map(([{ lon, lat }, scale]) => point(lon, lat, Math.min(50_000, spot.size * scale)));
  // Near the poles, a ring of longitudes and latitudes does not describe a square.
  const ring = fc
    .tuple(at, fc.double({ min: 0.01, max: 0.5, noNaN: true }))
    .map(([{ lon, lat }, scale]) =>
      Math.abs(lat) < 84 ? square(lon, lat, Math.min(5_000, spot.size * scale)) : point(lon, lat),
    );
  return fc.oneof({ weight: 2, arbitrary: dot }, round, ring);
}

function moved({ lon, lat, size }: Spot, x: number, y: number): { lon: number; lat: number } {
  const [dx, dy] = degrees(x * size, y * size, lat);
  return { lon: lon + Math.max(-170, Math.min(170, dx)), lat: clampLat(lat + dy) };
}

function starRing(
  lon: number,
  lat: number,
  { radii, size }: { radii: readonly number[]; size: number },
): [number, number][] {
  const ring = radii.map((radius, i): [number, number] => {
    const angle = (i / radii.length) * 2 * Math.PI;
    const [dx, dy] = degrees(radius * size * Math.cos(angle), radius * size * Math.sin(angle), lat);
    return [lon + Math.max(-170, Math.min(170, dx)), clampLat(lat + dy)];
  });
  return [...ring, ring[0] as [number, number]];
}

function hasArea(region: Region): boolean {
  if (region.kind !== 'polygon') return region.kind === 'circle';
  const [ring = new Float64Array()] = region.rings;
  let twice = 0;
  for (let i = 0; i + 3 < ring.length; i += 2) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = ring.subarray(i, i + 4);
    twice += (ax - (ring[0] ?? 0)) * (by - (ring[1] ?? 0)) - (bx - (ring[0] ?? 0)) * (ay - (ring[1] ?? 0));
  }
  return twice > 1e-13;
}

function clampLat(lat: number): number {
  return Math.max(-90, Math.min(90, lat));
}

function wrapped(lon: number): number {
  return lon - 360 * Math.round(lon / 360);
}
