import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { areaChanges } from '../../src/core/fence/level_crossings.ts';

describe('areaChanges', () => {
  it('finds none if the separation stays above all levels', () => {
    let samples = 0;
    const at = (): number => {
      samples++;
      return 100;
    };
    assert.deepEqual(areaChanges({ at, meters: 50, levels: [-1, 0, 2], least: 1e-4 }), []);
    assert.equal(samples, 2);
  });

  it('finds the way in and out of a fence that both ends are outside of', () => {
    // A way of 100 m past a circle of 10 m around its middle.
    const at = (fraction: number): number => Math.abs(fraction - 0.5) * 100 - 10;
    const changes = areaChanges({ at, meters: 100, levels: [0], least: 1e-5 });
    assert.deepEqual(
      changes.map(({ area }) => area),
      [0, 1],
    );
    assert.ok(Math.abs((changes[0]?.fraction ?? 0) - 0.4) <= 1e-5);
    assert.ok(Math.abs((changes[1]?.fraction ?? 0) - 0.6) <= 1e-5);
  });

  it('counts a separation at a level to the area below it', () => {
    assert.deepEqual(areaChanges({ at: (fraction) => fraction * 2, meters: 2, levels: [2], least: 1e-3 }), []);
    const from = areaChanges({ at: (fraction) => 2 - fraction * 2, meters: 2, levels: [0], least: 1e-3 });
    assert.deepEqual(
      from.map(({ area }) => area),
      [0],
    );
  });

  it('computes a bounded number of separations along an edge', () => {
    let samples = 0;
    const at = (fraction: number): number => {
      samples++;
      return 1e-9 * Math.sin(fraction * 1e6);
    };
    areaChanges({ at, meters: 1000, levels: [0], least: 1e-9 });
    assert.ok(samples <= 512, String(samples));
  });

  it('finds what dense samples find, for any zigzag of slope 1 at most', () => {
    const turns = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 });
    const levels = fc.constantFrom([0], [0, 1], [-1, 0], [-1, 0, 1]);
    fc.assert(
      fc.property(turns, levels, fc.double({ min: -3, max: 3, noNaN: true }), (slopes, given, start) => {
        const meters = 20;
        const piece = meters / slopes.length;
        const at = (fraction: number): number => {
          let left = fraction * meters;
          let separation = start;
          for (const slope of slopes) {
            separation += slope * Math.min(left, piece);
            left -= Math.min(left, piece);
          }
          return separation;
        };
        const least = 1e-4;
        const changes = areaChanges({ at, meters, levels: given, least });
        const areaOf = (separation: number): number => given.filter((level) => separation > level).length;
        const near = (separation: number): boolean => given.some((level) => Math.abs(separation - level) < 0.05);
        let area = areaOf(start);
        let next = 0;
        for (let i = 0; i <= 2000; i++) {
          while ((changes[next]?.fraction ?? 2) <= i / 2000) area = changes[next++]?.area ?? 0;
          const separation = at(i / 2000);
          // Within five centimeters of a level, the area may be that of the other side.
          if (!near(separation)) assert.equal(area, areaOf(separation), `at ${i}: ${separation}`);
        }
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});
