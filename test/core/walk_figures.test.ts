import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type WalkFix, walkFigures } from '../../src/core/walk_figures.ts';
import { formatTime } from '../../src/model/time.ts';
import type { WalkPass, WalkPoint, WalkResult, WalkTest } from '../../src/model/walk_test.ts';

const T0 = Date.parse('2026-03-01T12:00:00Z');
/** Meters of a degree of longitude on the equator. */
const DEGREE_METERS = 111_319.4908;

/** A point `east` meters east of the origin on the equator. */
function at(id: string, east: number, more: { z?: number; floor?: number } = {}): WalkPoint {
  const { z, floor } = more;
  const coordinates = [east / DEGREE_METERS, 0, ...(z === undefined ? [] : [z])];
  return { id, position: { type: 'Point', coordinates }, ...(floor !== undefined && { floor }) };
}

/** A position at `second`, `east` meters east of the origin, received 100 ms later by default. */
function fix(second: number, east: number, more: Partial<WalkFix> & { latency?: number } = {}): WalkFix {
  const { latency = 100, ...rest } = more;
  const timeMs = T0 + second * 1000;
  return {
    timeMs,
    receivedMs: timeMs + latency,
    longitude: east / DEGREE_METERS,
    latitude: 0,
    source: 'hall',
    ...rest,
  };
}

function mark(pointId: string, second: number): WalkPass {
  return { point_id: pointId, time: formatTime(T0 + second * 1000) };
}

function figures(test: Partial<WalkTest>, fixes: readonly WalkFix[], endSecond: number): WalkResult {
  const whole: WalkTest = { id: 't', name: 'T', object_type: 'provider', object_id: 'tag', ...test };
  return walkFigures({ test: whole, fixes, fromMs: T0, toMs: T0 + endSecond * 1000 });
}

/** Points at 0, 10, 20, 30 m, passed at 0, 10, 20, 30 s, and positions with errors of 1, 2, 3 and 10 m. */
const POINTS = [
  at('a', 0, { z: 1, floor: 0 }),
  at('b', 10, { z: 1, floor: 0 }),
  at('c', 20, { floor: 0 }),
  at('d', 30),
];
const PASSES = [mark('a', 0), mark('b', 10), mark('c', 20), mark('d', 30)];
const FIXES = [
  fix(0, 1, { z: 1.5, floor: 0, latency: 50 }),
  fix(10, 12, { z: 3, floor: 1, latency: 150 }),
  fix(20, 17, { z: 7, floor: 0, latency: 250 }),
  fix(30, 40, { latency: 900 }),
];

describe('Figures of a walk test', () => {
  test('are those computed by hand', () => {
    const { passes, zones, ...found } = figures({ points: POINTS, passes: PASSES }, FIXES, 30);
    assert.deepEqual(found, {
      id: 't',
      from: '2026-03-01T12:00:00.000Z',
      to: '2026-03-01T12:00:30.000Z',
      positions: 4,
      // (1 + 2 + 3 + 10) / 4, and the root of (1 + 4 + 9 + 100) / 4.
      mean: 4,
      rmse: 5.3385,
      // Nearest rank: the second and the fourth of four.
      ce50: 2,
      ce95: 10,
      // Heights are known at a and b: 0.5 m and 2 m.
      ve95: 2,
      // Floors are known at a, b and c: b is wrong.
      floor_hit_rate: 0.6667,
      latency_p95: 900,
      // Three intervals in 30 s.
      update_rate: 0.1,
      // Each position counts for 2 s of its 10 s; the last one comes at the end.
      availability: 0.2,
      missed: [],
    });
    assert.deepEqual(zones, [{ source: 'hall', seconds: 30, availability: 0.2 }]);
    assert.deepEqual(passes[1], {
      point_id: 'b',
      time: '2026-03-01T12:00:10.000Z',
      horizontal_error: 2,
      vertical_error: 2,
      floor_hit: false,
      marked: true,
    });
  });

  test('compare a mark with the position closest in time, at most 2 s away', () => {
    const rows: readonly (readonly [markAt: number, error: number | null])[] = [
      [3, 5],
      [4.9, 5],
      [5, 5],
      [5.1, 7],
      [9, 7],
      [9.001, null],
    ];
    for (const [second, error] of rows) {
      const { passes } = figures({ points: [at('a', 0)], passes: [mark('a', second)] }, [fix(3, 5), fix(7, 7)], 10);
      assert.equal(passes[0]?.horizontal_error, error, `at ${second} s`);
    }
  });

  test('take the nearest approach within reach for points without a mark', () => {
    const walk = [fix(0, -6), fix(1, -3), fix(2, 2), fix(3, 4), fix(4, 2, { floor: 1 })];
    const { passes, missed } = figures({ points: [at('a', 0), at('far', 50)] }, walk, 5);
    assert.deepEqual(
      passes.map(({ point_id: id, marked, horizontal_error: error, time }) => [id, marked, error, time]),
      [['a', false, 2, '2026-03-01T12:00:02.000Z']],
    );
    assert.deepEqual(missed, ['far']);
    const near = figures({ points: [at('a', 0)], reach: 1.9 }, walk, 5);
    assert.deepEqual(near.missed, ['a']);
    const above = figures({ points: [at('a', 0, { floor: 1 })] }, [...walk, fix(5, 1, { floor: 0 })], 5);
    assert.equal(above.passes[0]?.time, '2026-03-01T12:00:02.000Z', 'only positions with another floor are excluded');
  });

  test('count each pass of a point that is passed several times', () => {
    const { passes, mean } = figures(
      { points: [at('a', 0)], passes: [mark('a', 9), mark('a', 1)] },
      [fix(1, 1), fix(9, 3)],
      10,
    );
    assert.deepEqual(
      passes.map(({ horizontal_error: error }) => error),
      [1, 3],
    );
    assert.equal(mean, 2);
  });

  test('list the availability of each zone, from its first position', () => {
    const fixes = [fix(5, 0), fix(6, 0), fix(10, 0, { source: 'yard' }), fix(14, 0, { source: 'yard' })];
    const { zones, availability } = figures({}, fixes, 20);
    assert.deepEqual(zones, [
      { source: 'hall', seconds: 5, availability: 0.6 },
      { source: 'yard', seconds: 10, availability: 0.4 },
    ]);
    assert.equal(availability, 0.4667);
  });

  test('are null without data', () => {
    const { passes, zones, missed, id: _, from: _from, to: _to, ...found } = figures({ points: [at('a', 0)] }, [], 60);
    assert.deepEqual([passes, zones, missed], [[], [], ['a']]);
    assert.deepEqual(
      Object.values(found).filter((value) => value !== null),
      [0],
    );
  });

  test('have the 95th percentile of 100 values as the 95th of them', () => {
    const points = Array.from({ length: 100 }, (_, i) => at(`p${i}`, 0));
    const passes = points.map(({ id }, i) => mark(id, i * 10));
    const fixes = points.map((_, i) => fix(i * 10, i + 1, { latency: i }));
    const found = figures({ points, passes }, fixes, 1000);
    assert.deepEqual([found.ce50, found.ce95, found.mean, found.latency_p95], [50, 95, 50.5, 94]);
  });

  test('compute distances across the antimeridian', () => {
    const point: WalkPoint = { id: 'a', position: { type: 'Point', coordinates: [180, 0] } };
    const west = { ...fix(0, 0), longitude: -180 + 3 / DEGREE_METERS };
    const { passes } = figures({ points: [point], passes: [mark('a', 0)] }, [west], 1);
    assert.equal(passes[0]?.horizontal_error, 3);
  });
});
