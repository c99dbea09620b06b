import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { checkGroundControlPoints } from '../../src/core/zone/zone_transform.ts';
import { toWgs84, transformOf, UNIT_SQUARE, zoneOf } from './zone_rows.ts';

describe('checkGroundControlPoints', () => {
  const with_ = (row: number, value: number[]): number[][] => UNIT_SQUARE.map((r, i) => (i === row ? value : r));
  const refused: [rows: number[][], message: RegExp][] = [
    [[], /^ground_control_points: must have at least 2 pairs of rows, found 0$/],
    [UNIT_SQUARE.slice(0, 2), /^ground_control_points: must have at least 2 pairs of rows, found 1$/],
    [UNIT_SQUARE.slice(0, 7), /^ground_control_points: must have an even number of rows, found 7$/],
    [with_(2, [181, 48]), /^ground_control_points\[2\]\[0\]: must be a longitude .*, found 181$/],
    [with_(4, [7, -90.5]), /^ground_control_points\[4\]\[1\]: must be a latitude .*, found -90.5$/],
    [
      with_(5, [Number.POSITIVE_INFINITY, 0]),
      /^ground_control_points\[5\]\[0\]: must be a finite number, found Infinity$/,
    ],
    [with_(5, [0, Number.NaN]), /^ground_control_points\[5\]\[1\]: must be a finite number, found NaN$/],
    [with_(5, [0, 0]), /^ground_control_points\[5\]: must differ from ground_control_points\[1\], found \[0,0\]$/],
    [
      with_(6, [7.815694, 48.130216]),
      /^ground_control_points\[6\]: must differ from ground_control_points\[0\], found/,
    ],
    [
      [
        [180, 5],
        [0, 0],
        [-180, 5],
        [1, 0],
      ],
      /^ground_control_points\[2\]: must differ/,
    ],
    [
      [
        [0, 90],
        [0, 0],
        [120, 90],
        [1, 0],
      ],
      /^ground_control_points\[2\]: must differ/,
    ],
    // Out and back: the middle of the local line maps to the end of the geographic one.
    [
      [
        [0, 0],
        [0, 0],
        [0, 0.001],
        [1, 0],
        [0, -0.00000000001],
        [2, 0],
      ],
      /singular/,
    ],
  ];
  for (const [rows, message] of refused) {
    it(`reports ${message.source}`, () => assert.match(String(checkGroundControlPoints(rows)), message));
  }

  it('accepts the example of the omlox API, two pairs, and rows with heights', () => {
    assert.equal(checkGroundControlPoints(UNIT_SQUARE), undefined);
    assert.equal(checkGroundControlPoints(UNIT_SQUARE.slice(0, 4)), undefined);
    assert.equal(checkGroundControlPoints(UNIT_SQUARE.map((row) => [...row, 3])), undefined);
  });

  it('accepts a local point that equals a geographic one', () => {
    assert.equal(
      checkGroundControlPoints([
        [0, 0],
        [0, 0],
        [0.001, 0],
        [1, 0],
      ]),
      undefined,
    );
  });

  it('accepts pairs across the antimeridian and around a pole', () => {
    const across = [
      [179.9999, 0.0001],
      [0, 0],
      [-179.9999, 0.0001],
      [10, 0],
      [180, -0.0001],
      [5, -9],
    ];
    assert.equal(checkGroundControlPoints(across), undefined);
    const [lon, lat] = toWgs84(transformOf(zoneOf(across)), 5, 0);
    assert.ok(geodesicMeters(lon, lat, 180, 0.0001) < 0.01);
    const around = [
      [0, 89.9999],
      [0, -1],
      [90, 89.9999],
      [1, 0],
      [180, 89.9999],
      [0, 1],
      [-90, 89.9999],
      [-1, 0],
    ];
    assert.equal(checkGroundControlPoints(around), undefined);
    const [, pole] = toWgs84(transformOf(zoneOf(around)), 0, 0);
    assert.ok(pole > 89.9999999);
  });
});
