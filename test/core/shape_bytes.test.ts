import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { projection } from '../../src/core/geo/crs.ts';
import { circlePolygon, ringPolygon } from '../../src/core/motion/shape.ts';
import {
  CIRCLE_BYTES_MAX,
  OUT_OF_PLANE,
  type OutputPlane,
  POINT_BYTES_MAX,
  polygonBytesMax,
  putCircle,
  putPoint,
  putPolygon,
} from '../../src/core/motion/shape_bytes.ts';
import { pointInPlane, polygonInPlane } from '../../src/core/zone/view.ts';
import type { Point, Polygon } from '../../src/model/geojson.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';

suite('geometries as bytes', () => {
  const AT = 3;
  const buffer = newRecordBuffer(1 << 15);
  const planes: readonly OutputPlane[] = ['wgs84', 'wgs84', projection('EPSG:32632') as OutputPlane];
  const plane = fc.constantFrom(...planes);
  const rounded = (most: number) => fc.integer({ min: -most * 1e9, max: most * 1e9 }).map((units) => units / 1e9);
  const lon = fc.oneof(rounded(180), fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, -0, 180));
  const lat = fc.oneof(rounded(89), fc.double({ min: -89, max: 89, noNaN: true }), fc.constantFrom(-0, 1e-9, 89));
  const z = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: undefined });

  function shown<T extends Point | Polygon>(end: number, most: number, expected: T | undefined): void {
    assert.ok(end <= AT + most);
    const text = end === OUT_OF_PLANE ? undefined : buffer.bytes.toString('utf8', AT, end);
    assert.equal(text, expected && JSON.stringify(expected));
  }

  test('equal JSON.stringify for points', () => {
    fc.assert(
      fc.property(lon, lat, z, plane, (lon, lat, z, plane) => {
        const point: Point = { type: 'Point', coordinates: z === undefined ? [lon, lat] : [lon, lat, z] };
        const expected = plane === 'wgs84' ? point : pointInPlane(point, plane);
        shown(putPoint(buffer, AT, { lon, lat, z }, plane), POINT_BYTES_MAX, expected);
      }),
      { seed: 1, numRuns: 5000 },
    );
  });

  test('equal JSON.stringify for circles', () => {
    const radius = fc.oneof(fc.double({ min: 1e-6, max: 100, noNaN: true }), fc.constantFrom(0.3, 1, 50_000));
    fc.assert(
      fc.property(lon, lat, radius, plane, (lon, lat, radiusMeters, plane) => {
        const circle = circlePolygon(lon, lat, radiusMeters);
        const expected = plane === 'wgs84' ? circle : polygonInPlane(circle, plane);
        shown(putCircle(buffer, AT, { lon, lat, radiusMeters }, plane), CIRCLE_BYTES_MAX, expected);
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  test('equal JSON.stringify for rings, also across the antimeridian', () => {
    const vertex = fc.tuple(fc.double({ min: -200, max: 200, noNaN: true }), lat);
    fc.assert(
      fc.property(fc.array(vertex, { minLength: 1, maxLength: 12 }), plane, (vertices, plane) => {
        const ring = Float64Array.from([...vertices, vertices[0] as [number, number]].flat());
        const polygon = ringPolygon(ring);
        const expected = plane === 'wgs84' ? polygon : polygonInPlane(polygon, plane);
        shown(putPolygon(buffer, AT, ring, plane), polygonBytesMax(ring.length), expected);
      }),
      { seed: 1, numRuns: 3000 },
    );
  });

  test('are undefined out of reach of the plane', () => {
    const nowhere: OutputPlane = {
      ...(projection('EPSG:32632') as Exclude<OutputPlane, 'wgs84'>),
      fromWgs84: (_x, _y, out) => out.fill(Number.NaN),
    };
    assert.equal(putPoint(buffer, AT, { lon: 9, lat: 50 }, nowhere), OUT_OF_PLANE);
    assert.equal(putCircle(buffer, AT, { lon: 9, lat: 50, radiusMeters: 1 }, nowhere), OUT_OF_PLANE);
  });
});
