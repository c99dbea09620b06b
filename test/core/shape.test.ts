import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { geodesicMeters, initialBearing } from '../../src/core/geo/geodesic.ts';
import { circlePolygon, footprintOf, ringPolygon, rotatedRing } from '../../src/core/motion/shape.ts';
import type { Polygon } from '../../src/model/geojson.ts';
import { uniform } from '../support/uniform.ts';

const SEED = { seed: 64, numRuns: 300 };
const longitude = uniform(-180, 180);
const latitude = fc.oneof(uniform(-90, 90), fc.constantFrom(-90, -89.99999, 0, 84, 89.99999, 90));
const course = uniform(0, 360);
/** From 10 cm to 100 km. */
const meters = uniform(-1, 5).map((exponent) => 10 ** exponent);

/** Front 4 m ahead, rear 2 m behind, 1 m to the right and 3 m to the left; clockwise and open. */
const ARROW: Polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 4],
      [1, 0],
      [0, -2],
      [-3, 0],
    ],
  ],
};

const angleBetween = (a: number, b: number): number => Math.abs(((a - b + 540) % 360) - 180);

/** Twice the area in longitude and latitude. */
function area(ring: readonly (readonly number[])[]): number {
  let sum = 0;
  for (let i = 1; i < ring.length; i++) {
    const [x0 = 0, y0 = 0] = ring[i - 1] ?? [];
    const [x1 = 0, y1 = 0] = ring[i] ?? [];
    sum += x0 * y1 - x1 * y0;
  }
  return sum;
}

function pairs(ring: Float64Array): number[][] {
  return Array.from({ length: ring.length / 2 }, (_, i) => [ring[2 * i] as number, ring[2 * i + 1] as number]);
}

describe('circlePolygon', () => {
  it('has 64 closed segments on the circle to 1 cm per 100 m, anywhere on the earth', () => {
    const property = fc.property(longitude, latitude, meters, (lon, lat, radius) => {
      const [ring = []] = circlePolygon(lon, lat, radius).coordinates;
      assert.equal(ring.length, 65);
      assert.deepEqual(ring[64], ring[0]);
      assert.equal(new Set(ring.map(String)).size, 64);
      for (const [x = Number.NaN, y = Number.NaN] of ring) {
        assert.ok(Math.abs(x) <= 180 && Math.abs(y) <= 90, `${x} ${y}`);
        const found = geodesicMeters(lon, lat, x, y);
        assert.ok(Math.abs(found - radius) <= radius * 1e-4, `${found} m, not ${radius} m`);
      }
    });
    fc.assert(property, SEED);
  });

  it('is counter-clockwise, with vertices at equal angles', () => {
    const property = fc.property(longitude, latitude, uniform(1, 1000), (lon, lat, radius) => {
      // At a pole, bearings are meaningless in the coordinates of rounded vertices.
      if (Math.abs(lat) > 89.9) return;
      const [ring = []] = circlePolygon(lon, lat, radius).coordinates;
      for (let i = 0; i < 64; i++) {
        const [x = 0, y = 0] = ring[i] ?? [];
        const bearing = initialBearing(lon, lat, x, y);
        assert.ok(angleBetween(bearing, 90 - (i * 360) / 64) < 0.01, `${bearing} at ${i}`);
      }
    });
    fc.assert(property, SEED);
  });

  it('limits its longitudes to 180 across the antimeridian', () => {
    const [ring = []] = circlePolygon(179.9999, 10, 100).coordinates;
    assert.ok(ring.some(([x = 0]) => x < -179.9) && ring.some(([x = 0]) => x > 179.9));
  });
});

describe('rotatedRing', () => {
  const ring = (degrees: number): number[][] => pairs(rotatedRing(ARROW, 9, 50, degrees));
  const has = (degrees: number, bearing: number, distance: number): boolean =>
    ring(degrees).some(([lon = 0, lat = 0]) => {
      if (Math.abs(geodesicMeters(9, 50, lon, lat) - distance) > 1e-3) return false;
      return angleBetween(initialBearing(9, 50, lon, lat), bearing) < 0.01;
    });

  it('points north at course 0, with x to the east', () => {
    assert.ok(has(0, 0, 4) && has(0, 90, 1) && has(0, 180, 2) && has(0, 270, 3));
  });

  it('is rotated clockwise by the course', () => {
    assert.ok(has(90, 90, 4) && has(90, 180, 1) && has(90, 270, 2) && has(90, 0, 3));
    assert.ok(has(225, 225, 4) && has(-135, 225, 4));
  });

  it('is closed and counter-clockwise for any given polygon', () => {
    const [vertices = []] = ARROW.coordinates;
    const closed: Polygon = { type: 'Polygon', coordinates: [[...vertices, [0, 4]]] };
    const reversed: Polygon = { type: 'Polygon', coordinates: [[...vertices].reverse()] };
    for (const polygon of [ARROW, closed, reversed]) {
      const found = pairs(rotatedRing(polygon, 9, 50, 30));
      assert.equal(found.length, 5);
      assert.deepEqual(found[4], found[0]);
      assert.ok(area(found) > 0);
    }
  });

  it('preserves the form of the polygon anywhere on the earth, unwrapped around its position', () => {
    const property = fc.property(longitude, latitude, course, (lon, lat, degrees) => {
      const found = pairs(rotatedRing(ARROW, lon, lat, degrees));
      const lengths = found.map(([x = 0, y = 0]) => geodesicMeters(lon, lat, x, y)).sort((a, b) => a - b);
      const expected = [1, 2, 3, 4, 4].sort((a, b) => a - b);
      // The closing vertex repeats the first one, whichever that is.
      const distinct = lengths.filter((length, i) => i === 0 || length - (lengths[i - 1] as number) > 0.5);
      assert.equal(lengths.length, expected.length);
      assert.deepEqual(distinct.map(Math.round), [1, 2, 3, 4]);
      for (const length of lengths) assert.ok(Math.abs(length - Math.round(length)) < 1e-4, `${lengths}`);
      for (const [x = 0] of found) assert.ok(Math.abs(x - lon) <= 180);
    });
    fc.assert(property, SEED);
  });

  it('extends beyond 180 degrees, which ringPolygon wraps', () => {
    const across = rotatedRing(ARROW, 179.99999, 10, 90);
    assert.ok(pairs(across).some(([lon = 0]) => lon > 180));
    const [wrapped = []] = ringPolygon(across).coordinates;
    assert.equal(wrapped.length, 5);
    for (const [lon = 0] of wrapped) assert.ok(Math.abs(lon) <= 180);
    assert.ok(wrapped.some(([lon = 0]) => lon < -179));
  });
});

describe('footprintOf', () => {
  it('is a point without radius and polygon, and with radius 0', () => {
    const point = { lon: 9, lat: 50, radiusMeters: 0, ring: undefined, reachMeters: 0 };
    assert.deepEqual(footprintOf({}, 9, 50, 30), point);
    assert.deepEqual(footprintOf({ radius: 0, geometry: null }, 9, 50, undefined), point);
  });

  it('is a circle with a radius, regardless of the polygon', () => {
    const circle = { lon: 9, lat: 50, radiusMeters: 1.5, ring: undefined, reachMeters: 1.5 };
    assert.deepEqual(footprintOf({ radius: 1.5, geometry: ARROW }, 9, 50, 30), circle);
  });

  it('is the rotated polygon with radius 0, pointing north without a course', () => {
    assert.deepEqual(footprintOf({ radius: 0, geometry: ARROW }, 9, 50, 30).ring, rotatedRing(ARROW, 9, 50, 30));
    assert.deepEqual(footprintOf({ geometry: ARROW }, 9, 50, undefined).ring, rotatedRing(ARROW, 9, 50, 0));
  });

  it('reaches every position on the edges of its ring', () => {
    const property = fc.property(
      longitude,
      uniform(-85, 85),
      course,
      uniform(0.1, 500),
      uniform(0, 1),
      (lon, lat, degrees, scale, along) => {
        const [vertices = []] = ARROW.coordinates;
        const geometry: Polygon = { type: 'Polygon', coordinates: [vertices.map((v) => v.map((x) => x * scale))] };
        const { ring, reachMeters } = footprintOf({ geometry }, lon, lat, degrees);
        assert.ok(ring !== undefined && reachMeters < 4.1 * scale);
        const found = pairs(ring);
        for (let i = 1; i < found.length; i++) {
          const [x0 = 0, y0 = 0] = found[i - 1] ?? [];
          const [x1 = 0, y1 = 0] = found[i] ?? [];
          const x = x0 + (x1 - x0) * along;
          const y = y0 + (y1 - y0) * along;
          assert.ok(geodesicMeters(lon, lat, x, y) <= reachMeters);
        }
      },
    );
    fc.assert(property, SEED);
  });
});
