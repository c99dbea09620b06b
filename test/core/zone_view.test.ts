import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PlaneTransform, projection, displayProjection, WGS84 } from '../../src/core/geo/crs.ts';
import { pointInPlane, polygonInPlane, viewTransform } from '../../src/core/zone/view.ts';
import { zoneTransform } from '../../src/core/zone/zone_transform.ts';
import { isProximityZone, transformationType } from '../../src/core/zone/zone_type.ts';
import type { Zone } from '../../src/model/zone.ts';

const rows = [
  [8, 50],
  [0, 0],
  [8.001, 50],
  [71, 0],
  [8.001, 50.001],
  [71, 111],
  [8, 50.001],
  [0, 111],
];
const hall: Zone = { id: 'hall', type: 'uwb', ground_control_points: rows };
const yard: Zone = { id: 'yard', type: 'wifi', ground_control_points: rows };
const gate: Zone = { id: 'gate', type: 'rfid', position: { type: 'Point', coordinates: [8, 50] } };
const zones = (id: string): Zone | undefined => [hall, yard, gate].find((zone) => zone.id === id);

describe('transformationType', () => {
  const types: [zone: Omit<Zone, 'id'>, expected: string][] = [
    [{ type: 'rfid' }, 'proximity'],
    [{ type: 'ibeacon', transformation_type: null }, 'proximity'],
    [{ type: 'rfid', transformation_type: 'gcp' }, 'gcp'],
    [{ type: 'uwb', transformation_type: 'proximity' }, 'proximity'],
    [{ type: 'generic', surface_projection: 'EPSG:32632' }, 'benchmark'],
    [{ type: 'generic', ground_control_points: rows }, 'gcp'],
    [{ type: 'uwb', surface_projection: 'EPSG:32632' }, 'gcp'],
    [{ type: 'uwb' }, 'gcp'],
    [{ type: 'none' }, 'none'],
    [{ type: 'none', ground_control_points: [] }, 'none'],
    [{ type: 'none', ground_control_points: rows }, 'gcp'],
  ];
  for (const [zone, expected] of types) {
    const { type, transformation_type: says, surface_projection: surface } = zone;
    const reported = JSON.stringify({ type, says, surface, pairs: (zone.ground_control_points ?? []).length / 2 });
    it(`of ${reported} is ${expected}`, () => {
      assert.equal(transformationType({ id: 'z', ...zone }), expected);
      assert.equal(isProximityZone({ id: 'z', ...zone }), expected === 'proximity');
    });
  }
});

describe('viewTransform', () => {
  it('returns EPSG:4326 unchanged', () => {
    assert.equal(viewTransform({ crs: 'EPSG:4326' }, hall, zones), 'wgs84');
    assert.equal(viewTransform({ crs: 'EPSG:4326', zoneId: 'no such zone' }, undefined, zones), 'wgs84');
  });

  it("returns local in the named zone, else in the location's own", () => {
    assert.equal(viewTransform({ crs: 'local' }, hall, zones), zoneTransform(hall));
    assert.equal(viewTransform({ crs: 'local', zoneId: 'yard' }, hall, zones), zoneTransform(yard));
    assert.notEqual(zoneTransform(yard), zoneTransform(hall));
  });

  it('has no local without a zone that has a plane', () => {
    assert.equal(viewTransform({ crs: 'local' }, undefined, zones), undefined);
    assert.equal(viewTransform({ crs: 'local', zoneId: 'no such zone' }, hall, zones), undefined);
    assert.equal(viewTransform({ crs: 'local' }, gate, zones), undefined);
  });

  it('returns a projection regardless of the zone', () => {
    assert.equal(viewTransform({ crs: 'EPSG:32632' }, undefined, zones), displayProjection('EPSG:32632'));
    assert.equal(viewTransform({ crs: 'EPSG:3857' }, hall, zones), undefined);
  });
});

describe('pointInPlane and polygonInPlane', () => {
  const utm = projection('EPSG:32632') as PlaneTransform;

  it('move positions in rounded meters and preserve z', () => {
    assert.deepEqual(pointInPlane({ type: 'Point', coordinates: [9, 0, 7.125] }, utm), {
      type: 'Point',
      coordinates: [500000, 0, 7.125],
    });
    const ring = [
      [9, 0],
      [9.001, 0, 2],
      [9, 0.001],
    ];
    const moved = polygonInPlane({ type: 'Polygon', coordinates: [ring, ring] }, utm);
    assert.equal(moved?.coordinates.length, 2);
    assert.deepEqual(moved?.coordinates[0]?.[0], [500000, 0]);
    assert.equal(moved?.coordinates[1]?.[1]?.[2], 2);
    for (const value of moved?.coordinates.flat(2) ?? []) assert.equal(value, Math.round(value * 1e4) / 1e4);
  });

  it('do not round degrees', () => {
    const point = { type: 'Point' as const, coordinates: [8.123456789012, 50.123456789012] };
    assert.deepEqual(pointInPlane(point, WGS84), point);
  });

  it('accept a function for the transform', () => {
    const back = pointInPlane({ type: 'Point', coordinates: [500000, 0, 1] }, (x, y, out) => utm.toWgs84(x, y, out));
    assert.deepEqual(back, { type: 'Point', coordinates: [9, 0, 1] });
  });

  it('are undefined if the plane does not reach', () => {
    assert.equal(pointInPlane({ type: 'Point', coordinates: [99, 0] }, utm), undefined);
    assert.equal(
      polygonInPlane(
        {
          type: 'Polygon',
          coordinates: [
            [
              [9, 0],
              [99, 0],
              [9, 1],
            ],
          ],
        },
        utm,
      ),
      undefined,
    );
  });
});
