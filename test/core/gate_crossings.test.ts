import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { gateCrossings } from '../../src/core/fence/gate_crossings.ts';
import { segmentBetween } from '../../src/core/fence/segment.ts';

type LonLat = readonly [lon: number, lat: number];

const GATE: readonly LonLat[] = [
  [0, 0],
  [0, 2],
];
const BENT: readonly LonLat[] = [
  [0, 0],
  [2, 0],
  [2, 2],
];

const ROWS: readonly [name: string, line: readonly LonLat[], from: LonLat, to: LonLat, crossings: string][] = [
  ['crosses to the right', GATE, [-1, 1], [1, 1], 'right 0.5'],
  ['crosses to the left', GATE, [1, 1], [-3, 1], 'left 0.25'],
  ['passes beside the end', GATE, [-1, 3], [1, 3], ''],
  ['stops before it', GATE, [-2, 1], [-1, 1], ''],
  ['goes along it', GATE, [0, -1], [0, 3], ''],
  ['starts on it and leaves to the right', GATE, [0, 1], [1, 1], ''],
  ['starts on it and leaves to the left', GATE, [0, 1], [-1, 1], 'left 0'],
  ['ends on it, from the left', GATE, [-1, 1], [0, 1], 'right 1'],
  ['ends on it, from the right', GATE, [1, 1], [0, 1], ''],
  ['crosses the corner of a bent gate once', BENT, [1, 1], [3, -1], 'right 0.5'],
  ['touches the corner of a bent gate', BENT, [1, -1], [3, 1], ''],
  ['goes around the corner of a bent gate', BENT, [1, -1], [3, 0.5], ''],
  ['crosses in and out', BENT, [0.5, -1], [3, 1.5], 'left 0.4,right 0.6'],
  [
    'crosses at the antimeridian',
    [
      [180, -1],
      [180, 1],
    ],
    [179.5, 0],
    [-179.5, 0],
    'right 0.5',
  ],
  [
    'crosses a gate unwrapped beyond 180°',
    [
      [179, 0],
      [181, 0],
    ],
    [-179.5, -1],
    [-179.5, 1],
    'left 0.5',
  ],
  [
    'crosses a gate to the pole',
    [
      [0, 89.99],
      [0, 90],
    ],
    [-10, 89.999],
    [10, 89.999],
    'right 0.5',
  ],
  [
    'passes the pole opposite to a gate',
    [
      [0, 89.99],
      [0, 90],
    ],
    [170, 89.999],
    [-170, 89.999],
    '',
  ],
];

describe('gateCrossings', () => {
  for (const [name, line, from, to, expected] of ROWS) {
    it(`finds a way that ${name}`, () => assert.equal(textOf(crossings(line, from, to)), expected));
  }

  it('finds the crossings of a slightly shifted way by brute force, through corners and along edges', () => {
    const grid = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }));
    const positions = fc.array(grid, { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(positions, positions, (line, way) => {
        const plain = line.filter((position, i) => String(position) !== String(line[i - 1]));
        for (let i = 1; i < way.length; i++) {
          const [from, to] = [way[i - 1] as LonLat, way[i] as LonLat];
          const found = crossings(plain, from, to).map(({ direction }) => direction);
          assert.deepEqual(found, byBruteForce(plain, from, to), `${plain} | ${from} ${to}`);
        }
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  it('neither loses nor repeats a crossing between consecutive ways', () => {
    const grid = fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(fc.array(grid, { minLength: 2, maxLength: 12 }), (way) => {
        const straight: readonly LonLat[] = [
          [0, -9],
          [0, 9],
        ];
        let side = way[0]?.[0] ?? 0;
        for (let i = 1; i < way.length; i++) {
          for (const { direction } of crossings(straight, way[i - 1] as LonLat, way[i] as LonLat)) {
            // A position on the line counts as to the right of this line.
            assert.notEqual(direction, side < 0 ? 'left' : 'right');
            side = direction === 'left' ? -1 : 1;
          }
          assert.equal(side < 0, (way[i]?.[0] ?? 0) < 0);
        }
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});

function crossings(line: readonly LonLat[], [lon, lat]: LonLat, [toLon, toLat]: LonLat) {
  return gateCrossings(Float64Array.from(line.flat()), segmentBetween({ lon, lat }, { lon: toLon, lat: toLat }));
}

function textOf(found: ReturnType<typeof crossings>): string {
  return found.map(({ direction, fraction }) => `${direction} ${Number(fraction.toFixed(3))}`).join();
}

/** Shifts the way a little more east than north, and intersects it with each edge. */
function byBruteForce(line: readonly LonLat[], from: LonLat, to: LonLat): string[] {
  if (String(from) === String(to)) return [];
  const [px, py, qx, qy] = [from[0] + 1e-5, from[1] + 1e-9, to[0] + 1e-5, to[1] + 1e-9];
  const hits: { at: number; direction: string }[] = [];
  for (let i = 1; i < line.length; i++) {
    const [[ax, ay], [bx, by]] = [line[i - 1] as LonLat, line[i] as LonLat];
    const across = (qx - px) * (by - ay) - (qy - py) * (bx - ax);
    if (across === 0) continue;
    const at = ((ax - px) * (by - ay) - (ay - py) * (bx - ax)) / across;
    const along = ((ax - px) * (qy - py) - (ay - py) * (qx - px)) / across;
    if (at > 0 && at < 1 && along > 0 && along < 1) hits.push({ at, direction: across > 0 ? 'right' : 'left' });
  }
  hits.sort((a, b) => a.at - b.at);
  const left: typeof hits = [];
  for (const hit of hits) {
    const before = left.at(-1);
    if (before !== undefined && before.direction !== hit.direction && hit.at - before.at < 1e-3) left.pop();
    else left.push(hit);
  }
  return left.map(({ direction }) => direction);
}
