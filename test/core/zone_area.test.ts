import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { zoneSquareMeters } from '../../src/core/zone/outline.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL } from '../support/hall.ts';

/** Corners of the hall, of 100 m by 100 m. */
const [A, B, C, D] = [0, 2, 4, 6].map((row) => HALL.ground_control_points?.[row] as number[]) as [
  number[],
  number[],
  number[],
  number[],
];

function zoneOf(...corners: readonly number[][]): Zone {
  return {
    id: 'z',
    type: 'uwb',
    ground_control_points: corners.flatMap((corner, index) => [corner, [index, index ** 2]]),
  };
}

const between = ([x = 0, y = 0]: number[], [toX = 0, toY = 0]: number[]) => [(x + toX) / 2, (y + toY) / 2];
const center = [(A[0] as number) + 0.0006973925, (A[1] as number) + 0.00044946];
const east = (corner: number[]) => [180 + (corner[0] as number) - 9.0006973925, corner[1] as number];
const wrapped = (corner: number[]) =>
  east(corner).map((value, index) => (index === 0 && value > 180 ? value - 360 : value));

describe('zoneSquareMeters is', () => {
  const rows: readonly (readonly [what: string, zone: Zone, squareMeters: number])[] = [
    ['the area of the polygon of the control points', HALL, 10_000],
    ['the same in the other direction', zoneOf(D, C, B, A), 10_000],
    ['that of a triangle', zoneOf(A, B, C), 5_000],
    ['that of a polygon with a dent', zoneOf(A, B, C, D, center), 7_500],
    ['that of the hull, negative, if edges cross', zoneOf(A, C, B, D), -10_000],
    ['that of the hull with all corners on it', zoneOf(A, center, C, B, D), -10_000],
    ['that of the hull, negative, if a point lies on another edge', zoneOf(A, B, C, between(A, B), D), -10_000],
    ['that of the hull, negative, if an edge runs back', zoneOf(A, B, between(A, B), C, D), -10_000],
    ['that of the polygon with a point on an edge between its ends', zoneOf(A, between(A, B), B, C, D), 10_000],
    ['undefined for points on one line', zoneOf(A, between(A, B), B), 0],
    ['the same across the antimeridian', zoneOf(...[A, B, C, D].map(wrapped)), 10_000],
    ['undefined for two points', zoneOf(A, C), 0],
    ['nothing without points', { id: 'z', type: 'uwb' }, 0],
    ['undefined for a zone without a plane', { id: 'z', type: 'none' }, 0],
    ['the circle of a proximity zone', { id: 'z', type: 'rfid', radius: 10 }, 314.159],
    ['undefined for a proximity zone without radius', { id: 'z', type: 'ibeacon' }, 0],
  ];
  for (const [what, zone, wanted] of rows) {
    test(what, () => {
      const found = zoneSquareMeters(zone);
      assert.ok(Math.abs(found - wanted) <= Math.abs(wanted) * 2e-3, `${found} is not near ${wanted}`);
      assert.equal(Object.is(found, -0), false);
      assert.equal(zoneSquareMeters(zone), found, 'and stays the same');
    });
  }
});
