import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openShapeChecks } from '../../src/fence_index/shape_checks.ts';
import type { Fence } from '../../src/model/fence.ts';

const { regionProblem: check } = await openShapeChecks();

type More = Partial<Fence>;

function round(coordinates: number[], more: More = {}): Fence {
  return { id: 'f', region: { type: 'Point', coordinates }, ...more };
}

function polygonal(coordinates: number[][][], more: More = {}): Fence {
  return { id: 'f', region: { type: 'Polygon', coordinates }, ...more };
}

const shell = [
  [0, 0],
  [9, 0],
  [9, 9],
  [0, 9],
  [0, 0],
];
const hole = [
  [2, 2],
  [3, 2],
  [3, 3],
  [2, 2],
];
const bowtie = [
  [8, 50],
  [8.2, 50.4],
  [8.2, 50],
  [8, 50.4],
  [8, 50],
];

describe('the region check', () => {
  const refused: readonly [name: string, fence: Fence, reason: string][] = [
    [
      'a point without radius',
      round([8, 50]),
      'radius: must be greater than 0 for a region of type Point, found nothing',
    ],
    [
      'a radius of null',
      round([8, 50], { radius: null }),
      'radius: must be greater than 0 for a region of type Point, found nothing',
    ],
    [
      'a radius of 0',
      round([8, 50], { radius: 0 }),
      'radius: must be greater than 0 for a region of type Point, found 0',
    ],
    [
      'a wrong latitude',
      round([8, 95], { radius: 1 }),
      'region.coordinates[1]: must be a latitude from -90 to 90, found 95',
    ],
    [
      'a wrong longitude',
      polygonal([
        [
          [0, 0],
          [361, 0],
          [1, 1],
        ],
      ]),
      'region.coordinates[0][1][0]: must be a longitude from -360 to 360, found 361',
    ],
    [
      'an infinite number',
      polygonal(
        [
          [
            [0, 0],
            [1, 0],
            [1, Infinity],
          ],
        ],
        { crs: 'local' },
      ),
      'region.coordinates[0][2][1]: must be a finite number, found Infinity',
    ],
    [
      'an infinite height',
      round([8, 50, Infinity], { radius: 1 }),
      'region.coordinates[2]: must be a finite number, found Infinity',
    ],
    [
      'two points',
      polygonal([
        [
          [0, 0],
          [1, 0],
          [0, 0],
          [1, 0],
        ],
      ]),
      'region.coordinates[0]: must have at least 3 different points, found 2',
    ],
    [
      'one point',
      polygonal([
        shell,
        [
          [1, 1],
          [1, 1],
          [1, 1],
        ],
      ]),
      'region.coordinates[1]: must have at least 3 different points, found 1',
    ],
    [
      'a line',
      polygonal([
        [
          [0, 0],
          [1, 1],
          [3, 3],
        ],
      ]),
      'region.coordinates[0]: must enclose an area, found [[0,0],[1,1],[3,3],[0,0]]',
    ],
    ['a bow tie', polygonal([bowtie]), 'region: must be a valid polygon, found Self-intersection at [8.1, 50.2]'],
    [
      'a bow tie in a plane',
      polygonal(
        [
          [
            [0, 0],
            [400, 400],
            [400, 0],
            [0, 400],
          ],
        ],
        { crs: 'local' },
      ),
      'region: must be a valid polygon, found Self-intersection at [200, 200]',
    ],
    [
      'a hole outside',
      polygonal([
        shell,
        [
          [12, 2],
          [13, 2],
          [13, 3],
        ],
      ]),
      'region: must be a valid polygon, found Hole lies outside shell at [12, 2]',
    ],
    [
      'nested holes',
      polygonal([
        shell,
        [
          [1, 1],
          [8, 1],
          [8, 8],
        ],
        [
          [5, 2],
          [6, 2],
          [6, 3],
        ],
      ]),
      'region: must be a valid polygon, found Holes are nested at [5, 2]',
    ],
    [
      'holes with an exit tolerance',
      polygonal([shell, hole], { exit_tolerance: 2 }),
      'exit_tolerance: must not be set for a region with holes, found 2',
    ],
    [
      'holes with an entry tolerance',
      polygonal([shell, hole], { entry_tolerance: 0.5 }),
      'entry_tolerance: must not be set for a region with holes, found 0.5',
    ],
  ];
  for (const [name, fence, reason] of refused) it(`rejects ${name}`, () => assert.equal(String(check(fence)), reason));

  const accepted: readonly [name: string, fence: Fence][] = [
    ['a circle', round([8, 50, 3], { radius: 0.1 })],
    ['a circle at a longitude up to 360', round([-355, 50], { radius: 1 })],
    ['a circle far from the origin of a plane', round([500_000, 5_500_000], { radius: 1, crs: 'EPSG:32632' })],
    ['a polygon, closed', polygonal([shell])],
    ['a polygon that is not closed, with a radius to ignore', polygonal([shell.slice(0, 4)], { radius: 0 })],
    [
      'a polygon with duplicate points',
      polygonal([
        [
          [0, 0],
          [0, 0],
          [1, 0],
          [1, 1],
          [1, 1],
        ],
      ]),
    ],
    [
      'a polygon over the antimeridian',
      polygonal([
        [
          [179, 0],
          [-179, 0],
          [-179, 1],
          [179, 1],
        ],
      ]),
    ],
    [
      'a polygon over the antimeridian beyond 180',
      polygonal([
        [
          [179, 0],
          [181, 0],
          [181, 1],
          [179, 1],
        ],
      ]),
    ],
    [
      'a hole over the antimeridian',
      polygonal([
        [
          [170, 0],
          [-170, 0],
          [-170, 9],
          [170, 9],
        ],
        [
          [-175, 1],
          [-174, 2],
          [-174, 1],
        ],
      ]),
    ],
    [
      'the world',
      polygonal([
        [
          [-180, -90],
          [180, -90],
          [180, 90],
          [-180, 90],
          [-180, -90],
        ],
      ]),
    ],
    [
      'a ring around the pole',
      polygonal([
        [
          [0, 80],
          [90, 80],
          [180, 80],
          [-90, 80],
          [0, 80],
        ],
      ]),
    ],
    ['holes without tolerances', polygonal([shell, hole], { exit_tolerance: null, entry_tolerance: 0 })],
    ['tolerances without holes', polygonal([shell], { exit_tolerance: 1, entry_tolerance: 1 })],
    [
      'a wide polygon in a plane',
      polygonal(
        [
          [
            [0, 0],
            [900, 0],
            [900, 900],
          ],
        ],
        { crs: 'local' },
      ),
    ],
    [
      'half a meter',
      polygonal([
        [
          [8, 50],
          [8.000007, 50],
          [8.000007, 50.0000045],
        ],
      ]),
    ],
  ];
  for (const [name, fence] of accepted) it(`accepts ${name}`, () => assert.equal(check(fence), undefined));
});
