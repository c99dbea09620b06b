import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openShapeChecks } from '../../src/fence_index/shape_checks.ts';

const { polygonProblem } = await openShapeChecks();

/** Returns the problem of the polygon with this ring, given as `x y` separated by commas. */
function check(ring: string): string | undefined {
  const positions = ring.split(',').map((position) => position.trim().split(' ').map(Number));
  return polygonProblem({ type: 'Polygon', coordinates: [positions] }, 'geometry')?.toString();
}

const INVALID = 'geometry: must be a valid polygon, found';

describe('the check of a polygon in a plane', () => {
  for (const [what, ring, problem] of [
    ['two points', '0 0, 9 0, 0 0', 'geometry.coordinates[0]: must have at least 3 different points, found 2'],
    ['a line', '0 0, 1 1, 2 2', 'geometry.coordinates[0]: must enclose an area, found [[0,0],[1,1],[2,2]]'],
    ['a bow tie', '0 0, 400 400, 400 0, 0 400', `${INVALID} Self-intersection at [200, 200]`],
    ['a ring that touches itself', '0 0, 4 0, 4 4, 2 0, 0 4', `${INVALID} Ring Self-intersection at [2, 0]`],
  ] as const) {
    it(`rejects ${what}`, () => assert.equal(check(ring), problem));
  }

  for (const [what, ring] of [
    ['meters beyond any longitude', '0 0, 900 0, 900 900'],
    ['a ring in the other direction', '900 900, 900 0, 0 0'],
    ['a dent', '0 0, 4 0, 2 1, 4 4, 0 4, 0 0'],
  ] as const) {
    it(`accepts ${what}`, () => assert.equal(check(ring), undefined));
  }
});
