import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EARTH, type MapPoint, type Plane, toMap } from '../../src/hub-ui/map/plane/plane.ts';
import { withCorner, withCornerAfter, withoutCorner } from '../../src/hub-ui/setup/fences/corners.ts';
import { carried, replacing } from '../../src/hub-ui/setup/fences/heights.ts';
import { readPosition } from '../../src/hub-ui/setup/map/read_position.ts';
import { pairsOf, pairsOfArea, residualsOf, residualText, rowsOf } from '../../src/hub-ui/setup/zones/pairs.ts';
import { permissionCheckOf } from '../../src/hub-ui/signin/permissions.ts';
import type { Zone } from '../../src/model/zone.ts';
import { uniform } from '../support/uniform.ts';
import { earth, HALL } from './ui_site.ts';

const METERS: Plane = { kind: 'zone', id: 'hall', zone: HALL as unknown as Zone };
const SQUARE = [
  [0, 0, 1],
  [10, 0, 2],
  [10, 10, 3],
  [0, 10, 4],
  [0, 0, 1],
];

function drawn(ring: readonly (readonly number[])[], plane = METERS): MapPoint[] {
  return ring.map((position) => toMap(plane, position));
}

test('carried leaves an unchanged ring as it is, to the last digit', () => {
  const position = fc.tuple(uniform(-180, 180), uniform(-80, 80), uniform(-5, 50));
  fc.assert(
    fc.property(fc.array(position, { minLength: 3, maxLength: 12 }), (ring) => {
      const apart = new Set(drawn(ring, EARTH).map(([x, y]) => `${Math.round(x)} ${Math.round(y)}`));
      fc.pre(apart.size === ring.length);
      assert.deepEqual(carried(ring, drawn(ring, EARTH), EARTH), ring);
    }),
    { seed: 7 },
  );
});

const CHANGES: readonly { name: string; ring: number[][]; heights: number[] }[] = [
  {
    name: 'a dragged corner keeps its height',
    ring: [
      [0, 0],
      [12, 1],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
    heights: [1, 2, 3, 4, 1],
  },
  {
    name: 'a corner dragged onto another keeps its own height',
    ring: [
      [0, 0],
      [10, 10],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
    heights: [1, 2, 3, 4, 1],
  },
  {
    name: 'both ends of a ring move together',
    ring: [
      [-1, -1],
      [10, 0],
      [10, 10],
      [0, 10],
      [-1, -1],
    ],
    heights: [1, 2, 3, 4, 1],
  },
  {
    name: 'a corner that is pulled out of an edge gets a height between its neighbours',
    ring: [
      [0, 0],
      [10, 0],
      [10, 5],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
    heights: [1, 2, 2.5, 3, 4, 1],
  },
  {
    name: 'removing a corner leaves the others unchanged',
    ring: [
      [0, 0],
      [10, 0],
      [0, 10],
      [0, 0],
    ],
    heights: [1, 2, 4, 1],
  },
  {
    name: 'the first corner can be removed',
    ring: [
      [10, 0],
      [10, 10],
      [0, 10],
      [10, 0],
    ],
    heights: [2, 3, 4, 2],
  },
];

for (const { name, ring, heights } of CHANGES) {
  test(`carried: ${name}`, () => {
    const found = carried(SQUARE, drawn(ring), METERS);
    assert.deepEqual(
      found,
      ring.map((position, i) => [...position, heights[i]]),
    );
  });
}

/** A way to change a drawn ring: [kind, which vertex, east, north]. */
const EDIT = fc.tuple(
  fc.constantFrom('move', 'insert', 'remove'),
  fc.nat(),
  fc.integer({ min: -30, max: 30 }),
  fc.integer({ min: -30, max: 30 }),
);

/** Result of Modify on a closed ring, whose ends are one vertex. */
function edited(ring: readonly MapPoint[], [kind, which, east, north]: [string, number, number, number]): MapPoint[] {
  const open = ring.slice(0, -1);
  const i = which % open.length;
  const [x, y] = open[i] ?? [0, 0];
  const to: MapPoint = [x + east + 0.5, y + north + 0.5];
  if (kind === 'move') open[i] = to;
  else if (kind === 'insert') open.splice(i + 1, 0, to);
  else if (open.length > 3) open.splice(i, 1);
  return [...open, ...open.slice(0, 1)];
}

test('No sequence of corner edits loses or invents a height', () => {
  const corner = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }), uniform(-20, 90));
  const corners = fc.uniqueArray(corner, { minLength: 3, maxLength: 9, selector: ([x, y]) => `${x} ${y}` });
  fc.assert(
    fc.property(corners, fc.array(EDIT, { maxLength: 12 }), fc.boolean(), (open, edits, onEarth) => {
      const plane = onEarth ? EARTH : METERS;
      const placed = open.map(([x, y, z]) => [...(onEarth ? earth(x, y) : [x, y]), z]);
      const heights = open.map(([, , z]) => z);
      let ring: number[][] = [...placed, ...placed.slice(0, 1)];
      for (const edit of edits) {
        const before = ring;
        const shape = edited(drawn(before, plane), edit);
        ring = carried(before, shape, plane);
        assert.deepEqual(ring.at(-1), ring[0], 'it stays closed');
        // Vertices that Modify did not change are identical, including their heights.
        const untouched = before.filter((position) => drawn([position], plane).every((at) => shape.some(same(at))));
        for (const position of untouched) {
          assert.ok(
            ring.some((found) => found[0] === position[0] && found[1] === position[1]),
            `${position}`,
          );
        }
      }
      const [least, most] = [Math.min(...heights), Math.max(...heights)];
      for (const [, , z] of ring) assert.ok(z !== undefined && z >= least - 0.001 && z <= most + 0.001, `${z}`);
    }),
    { seed: 11, numRuns: 300 },
  );
});

test('Corners changed in the table leave every other position unchanged, including heights', () => {
  const corner = fc.tuple(uniform(-50, 50), uniform(-50, 50), uniform(-20, 90));
  fc.assert(
    fc.property(fc.array(corner, { minLength: 4, maxLength: 9 }), fc.nat(), (open, which) => {
      const region = { type: 'Polygon' as const, coordinates: [SQUARE, [...open, ...open.slice(0, 1)]] };
      const i = which % open.length;
      const to = [1, 2, 3];
      const moved = withCorner(region, [1, i], to);
      const left = withoutCorner(region, [1, i]);
      assert.ok(moved.type === 'Polygon' && left.type === 'Polygon');
      assert.deepEqual([moved.coordinates[0], left.coordinates[0]], [SQUARE, SQUARE]);
      const wanted = open.with(i, to as [number, number, number]);
      assert.deepEqual(moved.coordinates[1], [...wanted, ...wanted.slice(0, 1)]);
      const more = withCornerAfter(region, [1, i]);
      assert.ok(more.type === 'Polygon');
      assert.deepEqual(more.coordinates[1]?.toSpliced(i + 1, 1), region.coordinates[1]);
      const [z0 = 0, z1 = 0] = [open[i]?.[2], open[(i + 1) % open.length]?.[2]];
      assert.ok(Math.abs((more.coordinates[1]?.[i + 1]?.[2] ?? Number.NaN) - (z0 + z1) / 2) < 1e-6);
      const rest = open.toSpliced(i, 1);
      assert.deepEqual(left.coordinates[1], [...rest, ...rest.slice(0, 1)]);
    }),
    { seed: 12 },
  );
});

function same([x, y]: MapPoint): (other: MapPoint) => boolean {
  return ([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < 1e-5;
}

test('carried adds no heights to a flat ring', () => {
  const flat = SQUARE.map(([x = 0, y = 0]) => [x, y]);
  assert.deepEqual(carried(flat, [[0, 0], [5, -1], ...drawn(flat).slice(1)], METERS)[1], [5, -1]);
});

test('replacing gives the corners of a new shape the heights of the nearest old ones', () => {
  assert.deepEqual(
    replacing(
      SQUARE,
      [
        [1, 1],
        [9, 9],
        [1, 20],
      ],
      METERS,
    ),
    [
      [1, 1, 1],
      [9, 9, 3],
      [1, 20, 4],
    ],
  );
  assert.deepEqual(replacing([], [[1, 1]], METERS), [[1, 1]]);
});

test('residualsOf is zero for points that fit, and reveals an outlier', () => {
  const pairs = pairsOf(HALL.ground_control_points);
  assert.deepEqual(rowsOf(pairs), HALL.ground_control_points);
  for (const meters of residualsOf(pairs) ?? assert.fail()) assert.ok(meters < 0.01, `${meters}`);
  const wrong = pairs.with(2, { earth: earth(104, 60), own: [100, 60] });
  // Four corners share an error of 4 m along one axis evenly.
  for (const meters of residualsOf(wrong) ?? assert.fail()) assert.ok(Math.abs(meters - 1) < 0.02, `${meters}`);
  assert.equal(residualsOf(pairs.slice(0, 1)), undefined);
});

test('pairsOfArea measures an area from its first corner along its first edge', () => {
  const corners = [earth(20, 20), earth(60, 20), earth(60, 40), earth(20, 40)].map((place) => toMap(EARTH, place));
  const own = pairsOfArea(corners).map(({ own }) => own);
  const wanted = [
    [0, 0],
    [40, 0],
    [40, 20],
    [0, 20],
  ];
  for (const [i, [x = 0, y = 0]] of own.entries()) {
    assert.ok(Math.hypot(x - (wanted[i]?.[0] ?? 0), y - (wanted[i]?.[1] ?? 0)) < 0.2, `${own[i]}`);
  }
  assert.deepEqual(own[0], [0, 0]);
  for (const meters of residualsOf(pairsOfArea(corners)) ?? assert.fail()) assert.ok(meters < 0.02, `${meters}`);
});

for (const [meters, text] of [
  [0, '0 mm'],
  [0.004, '0.4 cm'],
  [0.31, '31 cm'],
  [1.234, '1.23 m'],
  [31.7, '32 m'],
] as const) {
  test(`residualText returns ${text}`, () => assert.equal(residualText(meters), text));
}

const PERMITS = permissionCheckOf({
  permissions: [
    { operation: 'READ', path: '/v2/zones', reach: 'ANY' },
    { operation: 'UPDATE', path: '/v2/zones/:zone_id', reach: 'ANY' },
    { operation: 'UPDATE', path: '/v2/providers/:provider_id', reach: 'OWN' },
    { operation: 'CREATE', path: '/v2/fences', reach: 'OWN' },
  ],
  owned: { provider_id: ['tag/1', '0b680db2-b39b-45be-be77-40d7d2296cb4'] },
});

for (const [operation, path, is] of [
  ['READ', '/zones', true],
  ['CREATE', '/zones', false],
  ['UPDATE', '/zones/any', true],
  ['UPDATE', '/zones', false],
  ['UPDATE', '/providers/tag%2F1', true],
  ['UPDATE', '/providers/0B680DB2-b39b-45be-be77-40d7d2296cb4', true],
  ['UPDATE', '/providers/tag-2', false],
  ['CREATE', '/fences', true],
] as const) {
  test(`permitsOf ${is ? 'permits' : 'does not permit'} ${operation} ${path}`, () => {
    assert.equal(PERMITS(operation, path), is);
  });
}

for (const [text, expected] of [
  ['8.68, 50.11', [8.68, 50.11, true]],
  ['8.68 50.11', [8.68, 50.11, true]],
  ['8.68;50.11', [8.68, 50.11, true]],
  ['  −8.68°,  −50.11° ', [-8.68, -50.11, true]],
  ['8.6800000°, 50.1100000°', [8.68, 50.11, true]],
  ['8,68; 50,11', [8.68, 50.11, true]],
  ['8,68 50,11', [8.68, 50.11, true]],
  ['8,68, 50,11', [8.68, 50.11, true]],
  ['8,50', [8, 50, true]],
  // Only one order is possible.
  ['139.75, 35.68', [139.75, 35.68, false]],
  ['35.68, 139.75', [139.75, 35.68, false]],
  ['35,68; 139,75', [139.75, 35.68, false]],
  // Compass directions decide.
  ['50.11 N, 8.68 E', [8.68, 50.11, false]],
  ['8.68° E 50.11° N', [8.68, 50.11, false]],
  ['N50.11 W8.68', [-8.68, 50.11, false]],
  ['33.5S 70.6W', [-70.6, -33.5, false]],
  [`50°06'36.0"N 8°40'48.0"E`, [8.68, 50.11, false]],
  ['50° 6′ 36″ N, 8° 40′ 48″ E', [8.68, 50.11, false]],
  [`N 50° 06.600' E 008° 40.800'`, [8.68, 50.11, false]],
  ['50° 06,600′ n; 8° 40,800′ w', [-8.68, 50.11, false]],
  [`8°40'48" 50°06'36"`, [8.68, 50.11, true]],
  [`-8°40'48" -50°06'36"`, [-8.68, -50.11, true]],
  // Strings that are not a position may be names.
  ['Hall 1', undefined],
  ['50.11 N, 8.68 N', undefined],
  [`50°66'00"N 8°40'48"E`, undefined],
  ['N 50.11 S, 8.68 E', undefined],
  // Numbers that are not a position.
  ['8.68', 'This is one number.'],
  ['1, 2, 3', 'These are 3 numbers.'],
  ['8,68,50,11', 'These are 4 numbers.'],
  ['500, 100', 'The longitude must be from −180 to 180; it is 500.'],
  ['88, 89', 'The latitude must be from −85 to 85; it is 89.'],
  ['', 'Enter a longitude and a latitude'],
] as const) {
  test(`readPosition() reads "${text}" as ${expected}`, () => {
    const read = readPosition(text);
    if (read === undefined || typeof read === 'string') {
      assert.ok(read === expected || (typeof expected === 'string' && read?.startsWith(expected)), String(read));
      return;
    }
    const [longitude, latitude, canSwap] = expected as readonly [number, number, boolean];
    assert.ok(
      Math.abs(read.longitude - longitude) < 1e-9 && Math.abs(read.latitude - latitude) < 1e-9,
      JSON.stringify(read),
    );
    assert.equal(read.canSwap, canSwap);
  });
}

test('readPosition() rejects long text quickly', () => {
  const startMs = performance.now();
  for (const start of ['', '1', '1°', 'N1', '1°1°', "1°1'1"]) {
    for (const unit of ['1', ' ', '1 ', "1'", '1,', '\u00a0']) {
      assert.equal(readPosition(`${start}${unit.repeat(100_000)}x`), undefined);
    }
  }
  assert.ok(performance.now() - startMs < 2_000);
});
