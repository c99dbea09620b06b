import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type PairArea,
  holdingOf,
  type CollisionHold,
  observe,
  releaseMs,
  TOUCHING,
} from '../../src/core/collision/hold.ts';
import { bodyOf, moved } from './collision_motions.ts';

const NEVER = Number.POSITIVE_INFINITY;

suite('contact', () => {
  const CASES: readonly {
    readonly name: string;
    readonly timeout?: number;
    readonly delay?: number;
    readonly seen: readonly (readonly [atMs: number, area: PairArea])[];
    readonly releaseMs: number;
  }[] = [
    { name: 'touching is never released', timeout: 0, delay: 0, seen: [[1, 'touching']], releaseMs: NEVER },
    { name: 'near without timeout is never released', delay: 0, seen: [[1, 'near']], releaseMs: NEVER },
    { name: 'near is released after the timeout', timeout: 50, seen: [[1, 'near']], releaseMs: 51 },
    {
      name: 'near does not restart the timeout',
      timeout: 50,
      seen: [
        [1, 'near'],
        [9, 'near'],
      ],
      releaseMs: 51,
    },
    {
      name: 'touching ends the timeout',
      timeout: 50,
      seen: [
        [1, 'near'],
        [9, 'touching'],
        [20, 'near'],
      ],
      releaseMs: 70,
    },
    {
      name: 'out is released after the delay',
      delay: 30,
      seen: [
        [1, 'out'],
        [9, 'out'],
      ],
      releaseMs: 31,
    },
    { name: 'out is released at once without delay', delay: 0, seen: [[4, 'out']], releaseMs: 4 },
    { name: 'out is released after the shorter timeout', delay: 30, timeout: 9, seen: [[1, 'out']], releaseMs: 10 },
    {
      name: 'out retains the timeout of near',
      delay: 90,
      timeout: 50,
      seen: [
        [1, 'near'],
        [9, 'out'],
      ],
      releaseMs: 51,
    },
    {
      name: 'near after out ends the delay',
      delay: 9,
      timeout: 50,
      seen: [
        [1, 'out'],
        [5, 'near'],
      ],
      releaseMs: 51,
    },
    {
      name: 'near after out sets no timeout of its own',
      delay: 9,
      seen: [
        [1, 'out'],
        [5, 'near'],
      ],
      releaseMs: NEVER,
    },
    {
      name: 'out after near after out starts the delay',
      delay: 9,
      seen: [
        [1, 'out'],
        [5, 'near'],
        [8, 'out'],
      ],
      releaseMs: 17,
    },
    {
      name: 'touching ends the delay',
      delay: 9,
      seen: [
        [1, 'out'],
        [5, 'touching'],
      ],
      releaseMs: NEVER,
    },
    { name: 'an infinite delay never ends', delay: -1, seen: [[1, 'out']], releaseMs: NEVER },
    {
      name: 'an infinite timeout leaves the delay',
      delay: 7,
      timeout: -1,
      seen: [
        [1, 'near'],
        [2, 'out'],
      ],
      releaseMs: 9,
    },
  ];
  for (const { name, timeout, delay, seen, releaseMs: expected } of CASES) {
    test(name, () => {
      const a = bodyOf(moved('a', 0, { toleranceTimeoutMs: timeout, exitDelayMs: delay }));
      const holding = holdingOf(a, bodyOf(moved('b', 0)));
      const hold = seen.reduce<CollisionHold>((before, [atMs, area]) => observe(before, area, holding, atMs), TOUCHING);
      assert.equal(releaseMs(hold), expected);
    });
  }

  test('holdingOf adds the tolerances, and takes the larger timeout and delay, where -1 is the largest', () => {
    const of = (one: Parameters<typeof moved>[2], other: Parameters<typeof moved>[2]) => {
      const forth = holdingOf(bodyOf(moved('a', 0, one)), bodyOf(moved('b', 0, other)));
      assert.deepEqual(holdingOf(bodyOf(moved('a', 0, other)), bodyOf(moved('b', 0, one))), forth);
      return [forth.toleranceMeters, forth.toleranceTimeoutMs, forth.exitDelayMs];
    };
    assert.deepEqual(of({}, {}), [0, NEVER, 0]);
    assert.deepEqual(of({ exitToleranceMeters: 2 }, { exitToleranceMeters: 3 }), [5, NEVER, 0]);
    assert.deepEqual(of({ exitToleranceMeters: 2 }, {}), [2, NEVER, 0]);
    assert.deepEqual(of({ toleranceTimeoutMs: 0 }, {}), [0, 0, 0]);
    assert.deepEqual(of({ toleranceTimeoutMs: 5, exitDelayMs: 8 }, { toleranceTimeoutMs: 7 }), [0, 7, 8]);
    assert.deepEqual(of({ toleranceTimeoutMs: -1, exitDelayMs: 8 }, { toleranceTimeoutMs: 7, exitDelayMs: -1 }), [
      0,
      NEVER,
      NEVER,
    ]);
  });
});
