import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeLocal } from '../../src/core/zone/from_local.ts';
import { zoneOutlines } from '../../src/core/zone/outline.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL } from '../support/hall.ts';

/** A zone whose points lie at these places, a thousandth of a degree apart. */
function zoneAt(...places: readonly (readonly [number, number])[]): Zone {
  const rows = places.flatMap(([x, y]) => [
    [8 + x / 1000, 50 + y / 1000],
    [x, y],
  ]);
  return { id: 'z', type: 'uwb', ground_control_points: rows };
}

const units = (ring: readonly (readonly number[])[] | undefined) =>
  ring?.map(([lon = 0, lat = 0]) => [Math.round((lon - 8) * 1e5) / 100, Math.round((lat - 50) * 1e5) / 100]);

describe('zoneOutlines', () => {
  test('has the points in their order first, then their hull', () => {
    const [ordered, hull] = zoneOutlines(zoneAt([0, 0], [4, 4], [4, 0], [0, 4], [2, 1]));
    assert.deepEqual(units(ordered), [
      [0, 0],
      [4, 4],
      [4, 0],
      [0, 4],
      [2, 1],
    ]);
    assert.deepEqual(units(hull), [
      [0, 0],
      [4, 0],
      [4, 4],
      [0, 4],
    ]);
  });

  test('leaves points on an edge out of the hull', () => {
    const [, hull] = zoneOutlines(zoneAt([0, 0], [2, 0], [4, 0], [4, 4], [0, 4], [0, 2]));
    assert.equal(hull?.length, 4);
  });

  test('draws a rectangle from two corners, along the axes of the zone', () => {
    const turned: Zone = {
      ...HALL,
      ground_control_points: [
        [9, 50],
        [0, 0],
        [9, 50.000898919],
        [100, 100],
      ],
    };
    const [ring = []] = zoneOutlines(turned);
    assert.equal(ring.length, 4);
    const [, [east = 0, south = 0] = []] = ring;
    // The diagonal points north, so the corner at 100, 0 lies half as far to the east and half as far to the north.
    assert.ok(Math.abs(south - 50.00044946) < 1e-7 && Math.abs(east - 9.00069739) < 1e-6, JSON.stringify(ring));
  });

  test('crosses the antimeridian', () => {
    const rows = [179.999, -179.999, 180, -179.9995].flatMap((lon, i) => [
      [lon, i % 2 === 0 ? 0 : 0.001 * i],
      [i, i * i],
    ]);
    const [, hull = []] = zoneOutlines({ id: 'z', type: 'uwb', ground_control_points: rows });
    assert.ok(hull.length >= 3 && hull.every(([lon = 0]) => Math.abs(lon) >= 179.999), JSON.stringify(hull));
  });

  test('is empty for a zone that is not placed', () => {
    assert.deepEqual(zoneOutlines({ id: 'z', type: 'uwb', incomplete_configuration: true }), []);
    assert.deepEqual(zoneOutlines({ id: 'z', type: 'rfid', position: { type: 'Point', coordinates: [8, 50] } }), []);
  });
});

const REFERENCE = { global: [9, 50], local: [0, 0], clockwiseDegrees: 0 };

describe('placeLocal', () => {
  const rows = [
    ['the reference itself', [0, 0], {}, [9, 50]],
    ['100 m to the north', [0, 100], {}, [9, 50.000899]],
    ['100 m to the east', [100, 0], {}, [9.001395, 50]],
    ['away from another reference', [10, 110], { local: [10, 10] }, [9, 50.000899]],
    ['turned by a quarter: y is east', [0, 100], { clockwiseDegrees: 90 }, [9.001395, 50]],
    ['turned backwards: x is north', [100, 0], { clockwiseDegrees: -90 }, [9, 50.000899]],
    ['with its z', [0, 0, 7], {}, [9, 50, 7]],
  ] as const;
  for (const [what, position, more, expected] of rows) {
    test(`places ${what}`, () => {
      const found = placeLocal(position, { ...REFERENCE, ...more });
      assert.equal(found.length, expected.length);
      for (const [i, value] of found.entries()) assert.ok(Math.abs(value - (expected[i] ?? 0)) < 1e-6, String(found));
    });
  }
});
