import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { normalizeFence } from '../../src/core/fence/region_normal.ts';
import type { Fence } from '../../src/model/fence.ts';

function fenceOf(coordinates: number[][][], crs?: string): Fence {
  const fence: Fence = { id: 'f', name: 'Dock', region: { type: 'Polygon', coordinates } };
  return crs === undefined ? fence : { ...fence, crs };
}

function normal(fence: Fence): number[][][] {
  const { region } = normalizeFence(fence);
  assert.ok(region.type === 'Polygon');
  return region.coordinates;
}

describe('normalizeFence', () => {
  const rows: readonly [name: string, given: number[][][], normal: number[][][]][] = [
    [
      'closes a ring',
      [
        [
          [0, 0],
          [1, 0],
          [1, 1],
        ],
      ],
      [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    ],
    [
      'turns an exterior counter-clockwise',
      [
        [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 0],
        ],
      ],
      [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    ],
    [
      'turns a hole clockwise',
      [
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 0],
        ],
        [
          [2, 1],
          [3, 1],
          [3, 2],
          [2, 1],
        ],
      ],
      [
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 0],
        ],
        [
          [2, 1],
          [3, 2],
          [3, 1],
          [2, 1],
        ],
      ],
    ],
    [
      'drops duplicates and preserves z with its point',
      [
        [
          [0, 0, 5],
          [1, 1, 6],
          [1, 1, 7],
          [1, 0, 8],
          [0, 0, 5],
        ],
      ],
      [
        [
          [0, 0, 5],
          [1, 0, 8],
          [1, 1, 6],
          [0, 0, 5],
        ],
      ],
    ],
    [
      'understands edges over the antimeridian',
      [
        [
          [179, 0],
          [179, 1],
          [-179, 1],
          [-179, 0],
        ],
      ],
      [
        [
          [179, 0],
          [-179, 0],
          [-179, 1],
          [179, 1],
          [179, 0],
        ],
      ],
    ],
    [
      'does not fail on an invalid polygon',
      [
        [
          [1, 1],
          [1, 1],
          [1, 1],
        ],
      ],
      [[[1, 1]]],
    ],
  ];
  for (const [name, given, expected] of rows) it(name, () => assert.deepEqual(normal(fenceOf(given)), expected));

  it('leaves coordinates of other systems unchanged', () => {
    const wide = [
      [
        [0, 0],
        [500, 0],
        [500, 500],
        [0, 500],
        [0, 0],
      ],
    ];
    for (const crs of ['local', 'EPSG:32632']) {
      const fence = fenceOf(wide, crs);
      assert.equal(normalizeFence(fence), fence);
    }
  });

  it('returns a normalized fence, and a circular one, unchanged', () => {
    const fences: Fence[] = [
      fenceOf([
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 0],
        ],
        [
          [2, 1],
          [3, 2],
          [3, 1],
          [2, 1],
        ],
      ]),
      { id: 'f', region: { type: 'Point', coordinates: [8, 50] }, radius: 2 },
    ];
    for (const fence of fences) assert.equal(normalizeFence(fence), fence);
  });

  it('is idempotent, and does not modify its argument', () => {
    const position = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 3 }));
    const rings = fc.array(fc.array(position, { minLength: 3, maxLength: 8 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(rings, (coordinates) => {
        const fence = fenceOf(coordinates);
        const before = structuredClone(fence);
        const once = normalizeFence(fence);
        assert.equal(normalizeFence(once), once);
        assert.deepEqual(fence, before);
      }),
      { seed: 65 },
    );
  });
});
