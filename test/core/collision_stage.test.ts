import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Motion } from '../../src/core/motion/motion.ts';
import { gone, moved, placeAt, ringAt } from './collision_motions.ts';
import { brief, disc, openStage } from './collision_scene.ts';

/** Runs motions in one step and returns the formatted events. */
function run(motions: readonly Motion[], nowMs = motions.at(-1)?.receivedMs ?? 0): string[] {
  return openStage().step({ nowMs, motions }).events.map(brief);
}

suite('collision stage', () => {
  const TOLERANT = { exitToleranceMeters: 2, toleranceTimeoutMs: 3000 };
  const CASES: readonly (readonly [
    name: string,
    motions: readonly Motion[],
    nowMs: number,
    events: readonly string[],
  ])[] = [
    ['starts when circles touch', [disc('a', 1, 0), disc('b', 2, 2)], 2, ['start b a 2']],
    ['does not start when they are apart', [disc('a', 1, 0), disc('b', 2, 2.01)], 2, []],
    [
      'continues with each update of either trackable',
      [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 1), disc('a', 4, 0)],
      4,
      ['start b a 2', 'colliding b a 3', 'colliding a b 4'],
    ],
    [
      'ends at once without tolerances',
      [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 5)],
      9,
      ['start b a 2', 'end b a 3'],
    ],
    [
      'starts again after its end',
      [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 5), disc('b', 4, 1)],
      9,
      ['start b a 2', 'end b a 3', 'start b a 4'],
    ],
    [
      'continues within the tolerance, and ends with the tolerance timeout',
      [disc('a', 1, 0, TOLERANT), disc('b', 2, 1), disc('b', 3, 3), disc('b', 4, 3.5), disc('a', 5, 0, TOLERANT)],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 4', 'colliding a b 5', 'end a b 3003'],
    ],
    [
      'does not start again within the tolerance after its end',
      [disc('a', 1, 0, TOLERANT), disc('b', 2, 1), disc('b', 3, 3), disc('b', 5000, 3)],
      9000,
      ['start b a 2', 'colliding b a 3', 'end b a 3003'],
    ],
    [
      'ends beyond the tolerance',
      [disc('a', 1, 0, TOLERANT), disc('b', 2, 1), disc('b', 3, 4.1)],
      9000,
      ['start b a 2', 'end b a 3'],
    ],
    [
      'is delayed by the exit delay of either trackable',
      [disc('a', 1, 0, { exitDelayMs: 100 }), disc('b', 2, 1, { exitDelayMs: 50 }), disc('b', 3, 9), disc('b', 50, 8)],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 50', 'end b a 103'],
    ],
    [
      'is not ended by an exit delay if the trackables touch again',
      [disc('a', 1, 0, { exitDelayMs: 100 }), disc('b', 2, 1), disc('b', 3, 9), disc('b', 50, 1)],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 50'],
    ],
    [
      'fires a deadline before a motion of the same time',
      [disc('a', 1, 0, { exitDelayMs: 100 }), disc('b', 2, 1), disc('b', 3, 9), disc('b', 103, 1)],
      103,
      ['start b a 2', 'colliding b a 3', 'end b a 103', 'start b a 103'],
    ],
    ['needs the same floor', [disc('a', 1, 0, { floor: 1 }), disc('b', 2, 0, { floor: 2 })], 2, []],
    [
      'ends with a change of floor, after the delay',
      [disc('a', 1, 0, { exitDelayMs: 10 }), disc('b', 2, 0), disc('b', 3, 0, { floor: 1 })],
      99,
      ['start b a 2', 'colliding b a 3', 'end b a 13'],
    ],
    [
      'restarts the delay after another touch',
      [
        disc('a', 1, 0, { exitDelayMs: 100 }),
        disc('b', 2, 1),
        disc('b', 3, 9),
        disc('b', 50, 1),
        disc('b', 60, 9),
        disc('z', 120, 0, { floor: 7 }),
      ],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 50', 'colliding b a 60', 'end b a 160'],
    ],
    [
      'fires deadlines of one time in the order of ids',
      [
        ...['d', 'b', 'e', 'a'].map((id) => disc(id, 1, 0, { providers: ['one'] })),
        disc('c', 2, 0, { exitDelayMs: 9 }),
        disc('c', 3, 9, { exitDelayMs: 9 }),
      ],
      12,
      [
        ...['start c a 2', 'start c b 2', 'start c d 2', 'start c e 2'],
        ...['colliding c a 3', 'colliding c b 3', 'colliding c d 3', 'colliding c e 3'],
        ...['end c a 12', 'end c b 12', 'end c d 12', 'end c e 12'],
      ],
    ],
    [
      'needs heights that meet',
      [disc('a', 1, 0, { z: 0, extrusion: 2 }), disc('b', 2, 0, { z: 2.1, extrusion: 1 })],
      2,
      [],
    ],
    [
      'requires heights that touch',
      [disc('a', 1, 0, { z: 0, extrusion: 2 }), disc('b', 2, 0, { z: 2, extrusion: 0 })],
      2,
      ['start b a 2'],
    ],
    [
      'ignores heights if one trackable has no extrusion, no z, or another reference',
      [
        disc('a', 1, 0, { z: 0, extrusion: 2 }),
        disc('b', 2, 0, { z: 50 }),
        disc('c', 3, 0, { extrusion: 1 }),
        disc('d', 4, 0, { z: 90, extrusion: 1, elevationRef: 'wgs84' }),
      ],
      4,
      ['start b a 2', 'start c a 3', 'start c b 3', 'start d a 4', 'start d b 4', 'start d c 4'],
    ],
    [
      'compares heights with different references if a zone specifies the height of its floor',
      [
        disc('a', 1, 0, { z: 0, extrusion: 2, levelMeters: 400 }),
        disc('b', 2, 0, { z: 401, extrusion: 1, elevationRef: 'wgs84' }),
        disc('c', 3, 0, { z: 403, extrusion: 1, elevationRef: 'wgs84', levelMeters: 500 }),
        disc('d', 4, 0, { z: 3, extrusion: 1 }),
      ],
      4,
      ['start b a 2', 'start d b 4'],
    ],
    [
      'includes points, but not two of them',
      [moved('p', 1), moved('q', 2), disc('a', 3, 1)],
      3,
      ['start a p 3', 'start a q 3'],
    ],
    ['excludes trackables that opt out', [disc('a', 1, 0, { collides: false }), disc('b', 2, 0)], 2, []],
    [
      'ends when one trackable opts out',
      [disc('a', 1, 0, { exitDelayMs: 50 }), disc('b', 2, 0), disc('b', 3, 0, { collides: false }), disc('a', 4, 0)],
      99,
      ['start b a 2', 'end b a 3'],
    ],
    [
      'excludes trackables that share a provider',
      [disc('a', 1, 0, { providers: ['x', 'y'] }), disc('b', 2, 0, { providers: ['y'] })],
      2,
      [],
    ],
    [
      'excludes trackables of which one carries the other',
      [disc('a', 1, 0), disc('b', 2, 0, { ancestors: ['a'] }), disc('c', 3, 0, { ancestors: ['b', 'a'] })],
      3,
      [],
    ],
    [
      'ends all collisions of a removed trackable, in the order of ids',
      [disc('c', 1, 0), disc('a', 2, 1), disc('b', 3, 1, { exitDelayMs: 60 }), gone('c', 4), disc('c', 5, 9)],
      99,
      ['start a c 2', 'start b a 3', 'start b c 3', 'end c a 4', 'end c b 4'],
    ],
    ['ignores the removal of unknown trackables', [gone('a', 1)], 1, []],
    [
      'never carries a time before its start',
      [
        disc('a', 10, 0),
        disc('b', 20, 0, { eventTimeMs: 15 }),
        disc('a', 21, 0, { eventTimeMs: 11 }),
        disc('a', 22, 9, { eventTimeMs: 12 }),
      ],
      22,
      ['start b a 15', 'colliding a b 15', 'end a b 15'],
    ],
    [
      'publishes ends and updates before starts, each in the order of ids',
      [
        disc('d', 1, 10),
        disc('c', 2, 10, { providers: ['provider of d'] }),
        disc('b', 3, 0),
        disc('a', 4, 1),
        disc('a', 5, 9),
      ],
      5,
      ['start a b 4', 'end a b 5', 'start a c 5', 'start a d 5'],
    ],
  ];
  for (const [name, motions, nowMs, expected] of CASES) {
    test(name, () => assert.deepEqual(run(motions, nowMs), expected));
  }

  test('returns counts and the next deadline', () => {
    const stage = openStage();
    const first = stage.step({ nowMs: 3, motions: [disc('a', 1, 0, { exitDelayMs: 10 }), disc('b', 2, 0)] });
    assert.deepEqual([first.started, first.colliding, first.ended], [1, 0, 0]);
    assert.equal(first.nextDeadlineMs, Number.POSITIVE_INFINITY);
    const second = stage.step({ nowMs: 3, motions: [disc('b', 3, 9)] });
    assert.deepEqual([second.started, second.colliding, second.ended], [0, 1, 0]);
    assert.equal(second.nextDeadlineMs, 13);
    assert.deepEqual(stage.step({ nowMs: 12, motions: [] }).events, []);
    const last = stage.step({ nowMs: 500, motions: [] });
    assert.deepEqual(last.events.map(brief), ['end b a 13']);
    assert.equal(last.ended, 1);
    assert.equal(last.nextDeadlineMs, Number.POSITIVE_INFINITY);
  });

  test('accepts a polygon with fewer vertices than before', () => {
    const square = ringAt([
      [9, 9],
      [0, 9],
      [0, 0],
      [9, 0],
    ]);
    const triangle = ringAt([
      [0, 0],
      [9, 0],
      [0, 1],
    ]);
    const motions = [moved('a', 1, { ring: square }), moved('b', 2, { ...placeAt(6, 6), radiusMeters: 1 })];
    assert.deepEqual(run([...motions, moved('a', 3, { ring: triangle })]), ['start b a 2', 'end a b 3']);
  });

  test('forgets removed trackables', () => {
    const stage = openStage();
    const ring = ringAt([
      [0, 0],
      [3, 0],
      [0, 3],
    ]);
    const motions = [disc('a', 1, 0, { exitDelayMs: 1e9 }), moved('b', 2, { ring }), moved('c', 3), disc('b', 4, 50)];
    stage.step({ nowMs: 4, motions });
    assert.equal(stage.state.contacts, 2);
    stage.step({ nowMs: 5, motions: ['a', 'b', 'c'].map((id) => gone(id, 5)) });
    const { bodies, grid, deadlines, contacts } = stage.state;
    assert.deepEqual([bodies.size, grid.levels.length, deadlines.size, contacts], [0, 0, 0, 0]);
  });
});
