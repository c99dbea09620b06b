import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Body } from '../../src/core/collision/body.ts';
import { gapMeters, overlap } from '../../src/core/collision/shapes.ts';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { bodyOf, moved, ORIGIN, placeAt, ringAt } from './collision_motions.ts';

type Vertices = readonly (readonly [number, number])[];
const ORIGINS = [
  ORIGIN,
  { lon: 179.99999, lat: -17 },
  { lon: -120, lat: 89.9995 },
  { lon: 30, lat: -89.99999 },
  { lon: 0, lat: 0 },
];
const SQUARE: Vertices = [
  [-5, -5],
  [5, -5],
  [5, 5],
  [-5, 5],
];

function circle(east: number, north: number, radiusMeters: number, origin = ORIGIN): Body {
  return bodyOf(moved('circle', 0, { ...placeAt(east, north, origin), radiusMeters }));
}

function polygon(vertices: Vertices, [east, north] = [0, 0], origin = ORIGIN): Body {
  const shifted = vertices.map(([x, y]) => [x + east, y + north] as const);
  return bodyOf(moved('polygon', 0, { ...placeAt(east, north, origin), ring: ringAt(shifted, origin) }));
}

function near(found: number, expected: number, tolerance = 1e-3): void {
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} is not ${expected}`);
}

suite('gapMeters', () => {
  for (const origin of ORIGINS) {
    const CASES: readonly (readonly [name: string, a: Body, b: Body, gap: number])[] = [
      ['circles apart', circle(0, 0, 3, origin), circle(30, 40, 7, origin), 40],
      ['circles that touch', circle(0, 0, 1, origin), circle(0, 2, 1, origin), 0],
      ['circles that overlap', circle(0, 0, 1, origin), circle(1, 1, 1, origin), 0],
      ['a circle in another', circle(0, 0, 10, origin), circle(1, 1, 1, origin), 0],
      ['a point and a circle', circle(0, 0, 0, origin), circle(100, 0, 99.5, origin), 0.5],
      ['a circle next to a square', circle(8, 0, 1, origin), polygon(SQUARE, [0, 0], origin), 2],
      ['a circle at the corner of a square', circle(8, 9, 1, origin), polygon(SQUARE, [0, 0], origin), 4],
      ['a circle in a square', circle(1, 1, 1, origin), polygon(SQUARE, [0, 0], origin), 0],
      ['a square in a circle', circle(1, 1, 30, origin), polygon(SQUARE, [0, 0], origin), 0],
      ['a point in a square', circle(4, 4, 0, origin), polygon(SQUARE, [0, 0], origin), 0],
      ['squares apart', polygon(SQUARE, [0, 0], origin), polygon(SQUARE, [13, 14], origin), 5],
      ['squares that share an edge', polygon(SQUARE, [0, 0], origin), polygon(SQUARE, [10, 0], origin), 0],
      ['squares that overlap', polygon(SQUARE, [0, 0], origin), polygon(SQUARE, [5, 0], origin), 0],
      ['the same square twice', polygon(SQUARE, [0, 0], origin), polygon(SQUARE, [0, 0], origin), 0],
      ['squares 300 m apart', polygon(SQUARE, [0, 0], origin), polygon(SQUARE, [0, 310], origin), 300],
    ];
    for (const [name, a, b, gap] of CASES) {
      test(`${name}: ${gap} m at ${origin.lon} ${origin.lat}`, () => {
        near(gapMeters(a, b, 1000), gap);
        near(gapMeters(b, a, 1000), gap);
        if (gap === 0 && !name.includes('share an edge')) assert.equal(gapMeters(a, b, 0), 0);
      });
    }
  }

  test('of a ring away from its position counts only the ring', () => {
    const ring = ringAt([
      [20, 0],
      [24, 0],
      [24, 4],
    ]);
    const trailer = bodyOf(moved('trailer', 0, { ring }));
    near(gapMeters(trailer, circle(0, 0, 5), 100), 15);
    assert.equal(gapMeters(trailer, circle(23, 1, 0.5), 0), 0);
  });

  test('of distant circles is measured on the ellipsoid', () => {
    const far = { lon: ORIGIN.lon + 3, lat: ORIGIN.lat + 2 };
    const ground = geodesicMeters(ORIGIN.lon, ORIGIN.lat, far.lon, far.lat);
    const a = bodyOf(moved('a', 0, { radiusMeters: 1000 }));
    const b = bodyOf(moved('b', 0, { ...far, radiusMeters: 500 }));
    near(gapMeters(a, b, 1e6) / (ground - 1500), 1, 5e-3);
  });

  test('is Infinity beyond the limit', () => {
    assert.equal(gapMeters(circle(0, 0, 1), circle(10, 0, 1), 7.9), Number.POSITIVE_INFINITY);
    near(gapMeters(circle(0, 0, 1), circle(10, 0, 1), 8.1), 8);
  });

  test('is zero for polygons if and only if sampled points of one are in or on the other', () => {
    const vertex = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 }));
    const triangle = fc
      .tuple(vertex, vertex, vertex)
      .filter(([a, b, c]) => Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) > 1);
    let touching = 0;
    fc.assert(
      fc.property(triangle, triangle, (one, other) => {
        const gap = gapMeters(polygon(one), polygon(other), 1000);
        const sampled = sampledGap(one, other);
        if (gap === 0) touching++;
        // Samples are at most 0.3 m apart, so the sampled distance is larger by at most that.
        assert.ok(gap <= sampled + 1e-3 && sampled <= gap + 0.3, `${gap} against ${sampled}`);
      }),
      { seed: 3, numRuns: 150 },
    );
    assert.ok(touching > 20 && touching < 130, `${touching} touch`);
  });
});

/** Sampled distance between triangles: 0 if a sample of one is inside the other. */
function sampledGap(one: Vertices, other: Vertices): number {
  const first = samples(one);
  const second = samples(other);
  if (first.some((p) => inTriangle(p, other)) || second.some((p) => inTriangle(p, one))) return 0;
  let best = Number.POSITIVE_INFINITY;
  for (const [x, y] of first) for (const [u, v] of second) best = Math.min(best, Math.hypot(x - u, y - v));
  return best;
}

function samples(vertices: Vertices): [number, number][] {
  return vertices.flatMap(([x, y], i) => {
    const [u, v] = vertices[(i + 1) % vertices.length] as readonly [number, number];
    const count = Math.ceil(Math.hypot(u - x, v - y) / 0.25);
    return Array.from({ length: count }, (_, k): [number, number] => [
      x + ((u - x) * k) / count,
      y + ((v - y) * k) / count,
    ]);
  });
}

function inTriangle([x, y]: readonly [number, number], vertices: Vertices): boolean {
  const sides = vertices.map(([u, v], i) => {
    const [s, t] = vertices[(i + 1) % 3] as readonly [number, number];
    return (s - u) * (y - v) - (t - v) * (x - u);
  });
  return sides.every((side) => side >= 0) || sides.every((side) => side <= 0);
}

suite('overlap', () => {
  /** Meters east and north of the origin, by exact distances, in any order. */
  function assertPlaces(
    found: readonly (readonly [number, number])[],
    expected: Vertices,
    origin = ORIGIN,
    tolerance = 1e-3,
  ): void {
    assert.equal(found.length, expected.length);
    const wanted = expected.map(([east, north]) => placeAt(east, north, origin));
    for (const { lon, lat } of wanted) {
      const nearest = Math.min(...found.map(([x, y]) => geodesicMeters(lon, lat, x, y)));
      assert.ok(nearest <= tolerance, `${nearest} m from ${lon} ${lat}`);
    }
  }

  for (const origin of ORIGINS) {
    test(`of circles at ${origin.lon} ${origin.lat} is the line between their intersections`, () => {
      const places = overlap(circle(0, 0, 5, origin), circle(8, 0, 5, origin));
      const crossings = [
        [4, 3],
        [4, -3],
      ] as const;
      assertPlaces(places, crossings, origin);
      assert.ok(places.every(([lon]) => Math.abs(lon) <= 180));
    });
  }

  test('of circles that touch is a point', () => {
    assertPlaces(overlap(circle(0, 0, 2), circle(0, 5, 3)), [[0, 2]]);
  });

  test('of a circle in a circle is a diameter of the inner one', () => {
    const inner = [
      [1, 0],
      [5, 0],
    ] as const;
    assertPlaces(overlap(circle(0, 0, 10), circle(3, 0, 2)), inner);
    assertPlaces(overlap(circle(3, 0, 2), circle(0, 0, 10)), inner);
    assert.equal(overlap(circle(0, 0, 2), circle(0, 0, 2)).length, 2);
  });

  test('with a point is that point', () => {
    assertPlaces(overlap(circle(0, 0, 10), circle(3, 1, 0)), [[3, 1]]);
    assertPlaces(overlap(circle(3, 1, 0), polygon(SQUARE)), [[3, 1]]);
  });

  test('of squares is the line between the intersections of their edges', () => {
    assertPlaces(overlap(polygon(SQUARE), polygon(SQUARE, [6, 4])), [
      [5, -1],
      [1, 5],
    ]);
  });

  test('of a square and a circle is the line between the intersections of their edges', () => {
    const places = overlap(polygon(SQUARE), circle(6, 0, 3));
    assertPlaces(
      places,
      [
        [5, Math.sqrt(8)],
        [5, -Math.sqrt(8)],
      ],
      ORIGIN,
      0.01,
    );
  });

  test('of a square in a circle is a diagonal of the square', () => {
    const places = overlap(circle(1, 0, 30), polygon(SQUARE));
    assert.equal(places.length, 2);
    const [[x, y], [u, v]] = places as [[number, number], [number, number]];
    near(geodesicMeters(x, y, u, v), Math.sqrt(200));
  });

  test('of a corner that touches an edge is a point', () => {
    const diamond: Vertices = [
      [5, 0],
      [9, -4],
      [13, 0],
      [9, 4],
    ];
    assertPlaces(overlap(polygon(SQUARE), polygon(diamond)), [[5, 0]]);
  });
});
