import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeLocal } from '../../src/core/geo/geodesic.ts';
import { zoneOutline } from '../../src/core/zone/outline.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL } from '../support/hall.ts';

/** A zone whose points lie at these coordinates, a thousandth of a degree apart. */
function zoneAt(...places: readonly (readonly [number, number])[]): Zone {
  const rows = places.flatMap(([x, y]) => [
    [8 + x / 1000, 50 + y / 1000],
    [x, y],
  ]);
  return { id: 'z', type: 'uwb', ground_control_points: rows };
}

const units = (ring: readonly (readonly number[])[] | undefined) =>
  ring?.map(([lon = 0, lat = 0]) => [Math.round((lon - 8) * 1e5) / 100, Math.round((lat - 50) * 1e5) / 100]);

const CORNERS = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 4],
] as const;

describe('zoneOutline', () => {
  const inOrders: readonly (readonly [string, readonly (readonly [number, number])[]])[] = [
    ['the corners in their order', CORNERS],
    ['the corners clockwise', CORNERS.toReversed()],
    [
      'edges that cross',
      [
        [0, 0],
        [4, 4],
        [4, 0],
        [0, 4],
      ],
    ],
    ['a point within, named last', [...CORNERS, [2, 1]]],
    ['a point within, named first', [[2, 3], ...CORNERS]],
    [
      'a point within, between two corners',
      [
        [0, 0],
        [1, 2],
        [4, 0],
        [4, 4],
        [0, 4],
      ],
    ],
    [
      'many points within',
      [
        [1, 1],
        [4, 4],
        [3, 1],
        [0, 4],
        [2, 2],
        [4, 0],
        [1, 3],
        [0, 0],
        [3, 3],
      ],
    ],
    [
      'points on the edges',
      [
        [0, 0],
        [2, 0],
        [4, 0],
        [4, 3],
        [4, 4],
        [1, 4],
        [0, 4],
        [0, 2],
      ],
    ],
    [
      'points on one line within',
      [
        [1, 1],
        [2, 2],
        [3, 3],
        [0, 0],
        [4, 4],
        [4, 0],
        [0, 4],
      ],
    ],
    ['points that are there twice', [...CORNERS, ...CORNERS, [2, 2], [2, 2]]],
  ];
  for (const [what, places] of inOrders) {
    test(`is the convex hull of ${what}`, () => {
      assert.deepEqual(units(zoneOutline(zoneAt(...places))), CORNERS);
    });
  }

  test('is the same ring for every order of the points', () => {
    const places = [...CORNERS, [2, 1], [3, 2]] as const;
    for (const order of permutations([...places])) {
      assert.deepEqual(units(zoneOutline(zoneAt(...order))), CORNERS, JSON.stringify(order));
    }
  });

  test('does not prefer a direction in which points on a skew edge become corners', () => {
    const skew = [0, 1, 2, 3, 4, 5, 6].map((i) => [i * 0.7, i * 0.3] as const);
    const ring = zoneOutline(zoneAt(...skew, [0, 4])) ?? [];
    assert.equal(ring.length, 3, JSON.stringify(ring));
  });

  test('is a rectangle for two corners, along the axes of the zone', () => {
    const turned: Zone = {
      ...HALL,
      ground_control_points: [
        [9, 50],
        [0, 0],
        [9, 50.000898919],
        [100, 100],
      ],
    };
    const ring = zoneOutline(turned) ?? [];
    assert.equal(ring.length, 4);
    const [, [east = 0, south = 0] = []] = ring;
    // The diagonal points north, so the corner at 100, 0 is half as far to the east and half as far to the north.
    assert.ok(Math.abs(south - 50.00044946) < 1e-7 && Math.abs(east - 9.00069739) < 1e-6, JSON.stringify(ring));
  });

  test('crosses the antimeridian', () => {
    const rows = (
      [
        [179.999, 0],
        [-179.9995, 0.001],
        [180, 0.0005],
        [-179.999, 0],
        [179.999, 0.001],
        [-179.999, 0.001],
      ] as const
    ).flatMap((place, i) => [[...place], [i, i * i]]);
    assert.deepEqual(zoneOutline({ id: 'z', type: 'uwb', ground_control_points: rows }), [
      [179.999, 0],
      [-179.999, 0],
      [-179.999, 0.001],
      [179.999, 0.001],
    ]);
  });

  test('goes around a pole', () => {
    const rows = [
      [0, 89.99],
      [0, 89.999],
      [180, 89.99],
      [90, 89.99],
      [-90, 89.99],
    ].flatMap((place, i) => [
      place,
      [
        [0, -1000],
        [0, -100],
        [0, 1000],
        [1000, 0],
        [-1000, 0],
      ][i] as number[],
    ]);
    const ring = zoneOutline({ id: 'z', type: 'uwb', ground_control_points: rows }) ?? [];
    assert.deepEqual(
      ring.map(([lon]) => lon).toSorted((a = 0, b = 0) => a - b),
      [-90, 0, 90, 180],
    );
    assert.ok(ring.every(([, lat]) => lat === 89.99));
  });

  test('is undefined for a zone without a plane, or with points on one line', () => {
    assert.equal(zoneOutline({ id: 'z', type: 'uwb', incomplete_configuration: true }), undefined);
    assert.equal(zoneOutline({ id: 'z', type: 'rfid', position: { type: 'Point', coordinates: [8, 50] } }), undefined);
    assert.equal(zoneOutline(zoneAt([0, 0], [1, 1], [3, 3], [2, 2])), undefined);
  });
});

function* permutations<T>(list: readonly T[]): Generator<T[]> {
  if (list.length < 2) yield [...list];
  for (const [i, first] of list.entries()) {
    if (list.length > 1) for (const rest of permutations(list.toSpliced(i, 1))) yield [first, ...rest];
  }
}

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
    test(`georeferences ${what}`, () => {
      const found = placeLocal(position, { ...REFERENCE, ...more });
      assert.equal(found.length, expected.length);
      for (const [i, value] of found.entries()) assert.ok(Math.abs(value - (expected[i] ?? 0)) < 1e-6, String(found));
    });
  }
});
