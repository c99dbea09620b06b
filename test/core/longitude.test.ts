import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { edgeTurn, shorterTurn, wrapLongitude } from '../../src/core/geo/longitude.ts';

describe('wrapLongitude', () => {
  const rows: [lon: number, wrapped: number][] = [
    [0, 0],
    [180, 180],
    [-180, -180],
    [181, -179],
    [-181, 179],
    [360, 0],
    [539, 179],
    [540, -180],
    [-540, -180],
    [-541, 179],
    [3610, 10],
  ];
  for (const [lon, wrapped] of rows) it(`makes ${wrapped} of ${lon}`, () => assert.equal(wrapLongitude(lon), wrapped));

  it('preserves NaN', () => {
    for (const lon of [Number.NaN, Number.POSITIVE_INFINITY]) assert.ok(Number.isNaN(wrapLongitude(lon)));
  });
});

describe('edgeTurn', () => {
  const rows: [name: string, step: number, isAlongParallel: boolean, turn: number][] = [
    ['leaves a step of half the world as it is', 180, false, 0],
    ['lets a longer one cross the antimeridian', 181, true, 360],
    ['does so westwards too', -350, false, -360],
    ['lets a parallel go around the world', -360, true, 0],
    ['does not if the latitude changes', -360, false, -360],
  ];
  for (const [name, step, isAlongParallel, turn] of rows) {
    it(name, () => assert.equal(edgeTurn(step, isAlongParallel), turn));
  }
});

describe('shorterTurn', () => {
  const rows: [degrees: number, shorter: number][] = [
    [179, 179],
    [180, -180],
    [-180, -180],
    [350, -10],
    [-350, 10],
    [730, 10],
  ];
  for (const [degrees, shorter] of rows) {
    it(`makes ${shorter} of ${degrees}`, () => assert.equal(shorterTurn(degrees), shorter));
  }
});
