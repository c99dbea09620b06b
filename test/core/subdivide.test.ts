import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DEGREES, METERS, subdivideRings } from '../../src/core/fence/subdivide.ts';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';

type Ring = number[][];

const CASES: readonly (readonly [what: string, frame: typeof METERS, ring: Ring, expected: Ring])[] = [
  [
    'leaves edges of 10 m',
    METERS,
    [
      [0, 0],
      [10, 0],
      [10, 10],
    ],
    [
      [0, 0],
      [10, 0],
      [10, 10],
    ],
  ],
  [
    'divides an edge into equal parts',
    METERS,
    [
      [0, 0],
      [24, 0],
    ],
    [
      [0, 0],
      [8, 0],
      [16, 0],
      [24, 0],
    ],
  ],
  [
    'interpolates z',
    METERS,
    [
      [0, 0, 5],
      [0, 20, 9],
    ],
    [
      [0, 0, 5],
      [0, 10, 7],
      [0, 20, 9],
    ],
  ],
  [
    'omits z if one end has none',
    METERS,
    [
      [0, 0, 5],
      [0, 20],
    ],
    [
      [0, 0, 5],
      [0, 10],
      [0, 20],
    ],
  ],
  [
    'crosses the antimeridian the short way',
    DEGREES,
    [
      [179.9999, 0],
      [-179.9999, 0],
    ],
    [
      [179.9999, 0],
      [179.99996666666667, 0],
      [-179.99996666666667, 0],
      [-179.9999, 0],
    ],
  ],
  ['accepts a ring without positions', METERS, [], []],
];

describe('subdivideRings', () => {
  for (const [what, frame, ring, expected] of CASES) {
    test(what, () => {
      const [found = []] = subdivideRings([ring], frame);
      assert.equal(found.length, expected.length, JSON.stringify(found));
      for (const [i, position] of found.entries()) {
        for (const [axis, value] of position.entries()) {
          assert.ok(Math.abs(value - (expected[i]?.[axis] ?? Number.NaN)) < 1e-9, JSON.stringify(found));
        }
      }
    });
  }

  test('goes around the world if the ring does', () => {
    const [found = []] = subdivideRings(
      [
        [
          [-180, 0],
          [180, 0],
        ],
      ],
      DEGREES,
    );
    assert.ok(found.every(([lon = 0], i) => i === 0 || lon > (found[i - 1]?.[0] ?? 0)));
  });

  test('preserves all given positions in order, at most 10 m apart on the earth', () => {
    const position = fc.tuple(
      fc.double({ min: 8, max: 8.01, noNaN: true }),
      fc.double({ min: -0.005, max: 0.005, noNaN: true }),
      fc.constantFrom(0, 40, -60, 85),
    );
    fc.assert(
      fc.property(fc.array(position, { minLength: 2, maxLength: 6 }), (drawn) => {
        const base = drawn[0]?.[2] ?? 0;
        const ring = drawn.map(([lon, lat]) => [lon, base + lat]);
        const [dense = []] = subdivideRings([ring], DEGREES);
        let next = 0;
        for (const [i, [lon = 0, lat = 0]] of dense.entries()) {
          if (lon === ring[next]?.[0] && lat === ring[next]?.[1]) next++;
          if (i === 0) continue;
          const [lon0 = 0, lat0 = 0] = dense[i - 1] ?? [];
          assert.ok(geodesicMeters(lon0, lat0, lon, lat) <= 10.001);
        }
        assert.equal(next, ring.length);
      }),
      { numRuns: 100, seed: 3 },
    );
  });

  test('creates little more than 10,000 positions', () => {
    const dense = subdivideRings(
      [
        [
          [0, 0],
          [90, 0],
          [90, 45],
          [0, 0],
        ],
      ],
      DEGREES,
    );
    assert.ok((dense[0]?.length ?? 0) > 9000 && (dense[0]?.length ?? 0) < 10_010, String(dense[0]?.length));
  });
});
