import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Type from 'typebox';
import { checker } from '../../src/model/check.ts';
import { LineString, Point, Polygon, Position } from '../../src/model/geojson.ts';
import { geometryProblem } from '../../src/model/geometry_problem.ts';
import { Maybe } from '../../src/model/schema.ts';

const schema = checker(
  Type.Object({
    region: Maybe(Type.Union([Point, Polygon])),
    lines: Maybe(Type.Array(Type.Object({ line: LineString }))),
    rows: Maybe(Type.Array(Position)),
    name: Maybe(Type.String()),
  }),
);

const polygon = (coordinates: unknown) => ({ region: { type: 'Polygon', coordinates } });
const point = (coordinates: unknown) => ({ region: { type: 'Point', coordinates } });

const EITHER = 'must be one of Point, Polygon, found';

const FOUND: readonly (readonly [value: object, message: string])[] = [
  [{ region: 5 }, 'region: must be a GeoJSON Point or Polygon, found 5'],
  [{ region: [1, 2] }, 'region: must be a GeoJSON Point or Polygon, found [1,2]'],
  [{ region: {} }, `region.type: ${EITHER} nothing`],
  [{ region: { type: 'polygon', coordinates: [] } }, `region.type: ${EITHER} "polygon"`],
  [{ region: { type: 'MultiPolygon', coordinates: [[[[0, 0]]]] } }, `region.type: ${EITHER} "MultiPolygon"`],
  [{ region: { type: 'Feature', geometry: null } }, `region.type: ${EITHER} "Feature"`],
  [polygon(undefined), 'region.coordinates: must be a list of rings, found nothing'],
  [polygon({}), 'region.coordinates: must be a list of rings, found {}'],
  [polygon([]), 'region.coordinates: must have at least one ring, found []'],
  [polygon([8, 50]), 'region.coordinates[0]: must be a ring, a list of positions, found 8'],
  [polygon([[]]), 'region.coordinates[0]: must have at least 4 positions, the last the same as the first, found 0'],
  [polygon([[[0, 0], [1], [1, 1]]]), 'region.coordinates[0][1]: must be a position of 2 or 3 numbers, found [1]'],
  [
    polygon([
      [
        [0, 0],
        [1, 1, null],
        [1, 1],
      ],
    ]),
    'region.coordinates[0][1][2]: must be a number, found null',
  ],
  [point(undefined), 'region.coordinates: must be a position of 2 or 3 numbers, found nothing'],
  [point([]), 'region.coordinates: must be a position of 2 or 3 numbers, found []'],
  [point([1, 2, 3, 4]), 'region.coordinates: must be a position of 2 or 3 numbers, found [1,2,3,4]'],
  [point([1, '2']), 'region.coordinates[1]: must be a number, found "2"'],
  [
    { lines: [{ line: { type: 'Point', coordinates: [1, 2] } }] },
    'lines[0].line.type: must be "LineString", found "Point"',
  ],
  [
    { lines: [{ line: { type: 'LineString', coordinates: [[1, 2]] } }] },
    'lines[0].line.coordinates: must be a list of at least 2 positions, found [[1,2]]',
  ],
  [{ rows: [[1, 2], [3]] }, 'rows[1]: must be a position of 2 or 3 numbers, found [3]'],
  [{ rows: [[1, 'x']] }, 'rows[0][1]: must be a number, found "x"'],
  [{ rows: 5 }, 'rows: must be an array, found 5'],
  [{ name: 5, region: null }, 'name: must be a string, found 5'],
];

describe('The problem of a geometry is explained', () => {
  for (const [value, message] of FOUND) {
    test(JSON.stringify(value), () => assert.equal(String(schema.explain(value)), message));
  }

  test('with the path of its root', () => {
    const message = 'fences[2].region.coordinates: must have at least one ring, found []';
    assert.equal(String(schema.explain(polygon([]), 'fences[2]')), message);
  });

  test('and a valid one has no problem', () => {
    const ring = [
      [0, 0],
      [1, 0, 5],
      [1, 1],
    ];
    assert.equal(geometryProblem({ type: 'Polygon', coordinates: [ring] }, 'region', ['Polygon']), undefined);
    assert.equal(geometryProblem({ type: 'Point', coordinates: [1, 2] }, 'region', ['Point']), undefined);
  });
});
