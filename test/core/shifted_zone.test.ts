import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { shiftedControlPoints } from '../../src/core/zone/control_points.ts';
import { HALL } from '../support/hall.ts';

const ROWS = HALL.ground_control_points as number[][];
const START = [9, 50];

const positions = fc.record({ lon: fc.double({ min: -180, max: 180, noNaN: true }), lat: latitudes(80) });

function latitudes(max: number) {
  return fc.double({ min: -max, max, noNaN: true });
}

function meters(a: number[] | undefined, b: number[] | undefined): number {
  const [lon1 = 0, lat1 = 0] = a ?? [];
  const [lon2 = 0, lat2 = 0] = b ?? [];
  return geodesicMeters(lon1, lat1, lon2, lat2);
}

describe('shiftedControlPoints', () => {
  it('preserves the sides of a hall and its scale at every position', () => {
    fc.assert(
      fc.property(positions, ({ lon, lat }) => {
        const rows = shiftedControlPoints(ROWS, START, [lon, lat]) as number[][];
        for (const [a, b] of [
          [0, 2],
          [2, 4],
          [4, 6],
          [6, 0],
        ] as const) {
          assert.ok(Math.abs(meters(rows[a], rows[b]) - meters(ROWS[a], ROWS[b])) < 0.02);
        }
        assert.ok(meters(rows[0], [lon, lat]) < 1e-3, 'its corner is at its position');
        for (const i of [1, 3, 5, 7]) assert.deepEqual(rows[i], ROWS[i]);
      }),
      { seed: 7 },
    );
  });

  it('returns to its original position after a thousand moves', () => {
    let at = START;
    let rows: number[][] = ROWS;
    for (let i = 1; i <= 1000; i++) {
      const next = i === 1000 ? START : [9 + 3 * Math.sin(i), 50 + 10 * Math.cos(i)];
      rows = shiftedControlPoints(rows, at, next) as number[][];
      at = next;
    }
    for (const i of [0, 2, 4, 6]) assert.ok(meters(rows[i], ROWS[i]) < 1e-4);
  });

  it('crosses the antimeridian, but not a pole', () => {
    const [first, , second] = shiftedControlPoints(ROWS, START, [179.9999, 0]) as number[][];
    assert.ok((first?.[0] as number) > 179 && (second?.[0] as number) < -179);
    for (const [from, to] of [
      [START, [0, 90]],
      [[0, -89.95], START],
    ] as const) {
      assert.equal(shiftedControlPoints(ROWS, from, to), undefined);
    }
  });
});
