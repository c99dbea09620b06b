import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approaches, type MovingBody, probabilityWithin } from '../../../src/core/tracking/approaches.ts';
import { forecastFence } from '../../../src/core/tracking/fence_forecast.ts';
import { start, step } from '../../../src/core/tracking/filter.ts';
import { resolvedFilter } from '../../../src/core/tracking/filter_settings.ts';
import { estimateOf, type MotionEstimate, varianceAfter } from '../../../src/core/tracking/prediction.ts';
import { emptyTrack } from '../../../src/core/tracking/track.ts';
import { randomFrom } from '../../../bench/load/random.ts';

/** Meters per degree at the equator, where the tests are. */
const [EAST, NORTH] = [111_319.49, 110_574.28] as const;

const STILL: MotionEstimate = {
  ...{ lon: 0, lat: 0, east: 0, north: 0 },
  ...{ positionVariance: 0.04, covariance: 0, velocityVariance: 0.0001, processNoise: 0 },
};

const body = (id: string, east: number, estimate: Partial<MotionEstimate>): MovingBody => ({
  ...{ id, floor: 0, reachMeters: 1, providers: [id], ancestors: [] },
  estimate: { ...STILL, lon: east / EAST, ...estimate },
});

/** The half plane east of a line. */
const eastOf = (meters: number) => ({
  touches: (lon: number) => lon * EAST >= meters,
  separation: (lon: number) => meters - lon * EAST,
});

test('The share of the ways that cross an edge is the probability of the normal distribution', () => {
  // 10 s at 1 m/s; the error then has a standard deviation of 3 m.
  const estimate = { ...STILL, east: 1, velocityVariance: (9 - 0.04) / 100 };
  assert.ok(Math.abs(varianceAfter(10, estimate) - 9) < 1e-9);
  for (const [meters, probability] of [
    [7, 0.841],
    [10, 0.5],
    [11.5, 0.309],
    [13, 0.159],
  ] as const) {
    const forecast = forecastFence(eastOf(meters), { estimate, isInside: false, horizonMs: 10_000 });
    assert.equal(forecast?.event, 'enter');
    assert.ok(Math.abs(forecast.probability - probability) < 0.03, `${meters} m: ${forecast.probability}`);
  }
  assert.equal(forecastFence(eastOf(25), { estimate, isInside: false, horizonMs: 10_000 }), undefined);
});

test('An object enters, exits or stays at the time at which it reaches the edge', () => {
  const estimate = { ...STILL, east: 1 };
  const enters = forecastFence(eastOf(5), { estimate, isInside: false, horizonMs: 10_000 });
  assert.deepEqual([enters?.event, enters?.probability], ['enter', 1]);
  assert.ok(Math.abs((enters?.afterMs ?? 0) - 5000) <= 500, String(enters?.afterMs));
  const exits = forecastFence(eastOf(-5), { estimate: { ...STILL, east: -1 }, isInside: true, horizonMs: 10_000 });
  assert.deepEqual([exits?.event, exits?.probability], ['exit', 1]);
  const stays = forecastFence(eastOf(-5), { estimate, isInside: true, horizonMs: 10_000 });
  assert.deepEqual(stays, { event: 'stay', probability: 1 });
});

test('The estimate of a track continues with its velocity, until the gap is too long', () => {
  const settings = resolvedFilter([{ kind: 'cv', default_accuracy: 0.1, max_gap: 3000 }]);
  const track = emptyTrack();
  const at = (meters: number) => ({
    ...{ lon: meters / EAST, lat: 0, z: Number.NaN, isZFromEllipsoid: false, floor: 0, accuracy: 0.1 },
  });
  start(track, at(0), settings);
  assert.equal(estimateOf(track, 0, settings), undefined, 'the velocity is unknown');
  for (let i = 1; i <= 50; i++) step(track, at(0.2 * i), 100, settings);
  const now = estimateOf(track, 0, settings) as MotionEstimate;
  const later = estimateOf(track, 1500, settings) as MotionEstimate;
  assert.ok(Math.abs(now.east - 2) < 0.05 && Math.abs((later.lon - now.lon) * EAST - 3) < 0.1);
  assert.ok(later.positionVariance > now.positionVariance && later.velocityVariance > now.velocityVariance);
  assert.equal(estimateOf(track, 3001, settings), undefined);
});

test('The probability of a touch is the cumulative Rice distribution', () => {
  assert.ok(Math.abs(probabilityWithin(2, 0, 1.5) - (1 - Math.exp(-(4 / 2.25) / 2))) < 1e-5);
  const random = randomFrom(11);
  for (const [radius, meters, sigma] of [
    [2, 1.5, 0.8],
    [1, 6, 3],
    [3, 2.9, 0.05],
  ] as const) {
    let hits = 0;
    for (let i = 0; i < 40_000; i++) {
      const [length, angle] = [sigma * Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
      if (Math.hypot(meters + length * Math.cos(angle), length * Math.sin(angle)) <= radius) hits++;
    }
    const probability = probabilityWithin(radius, meters, sigma);
    assert.ok(Math.abs(probability - hits / 40_000) < 0.01, `${radius} ${meters} ${sigma}: ${probability}`);
  }
});

test('Pairs are forecast by the time of their closest approach', () => {
  const [a, b] = [body('a', 0, { east: 1 }), body('b', 20, { east: -1, lat: 0.5 / NORTH })];
  const slow = body('c', -30, { east: 2.5 });
  const options = { horizonMs: 30_000, most: 10 };
  const found = approaches([slow, b, a], options);
  assert.deepEqual(
    found.map((each) => [each.a.id, each.b.id, Math.round(each.afterMs / 100) / 10]),
    [
      ['a', 'b', 10],
      ['b', 'c', 14.3],
      ['a', 'c', 20],
    ],
  );
  const [first] = found;
  assert.ok(first !== undefined && Math.abs(first.meters - 0.5) < 0.01 && first.probability > 0.99);
  assert.ok(Math.abs(first.position[0] * EAST - 10) < 0.1 && Math.abs(first.position[1] * NORTH - 0.25) < 0.05);
  assert.equal(approaches([slow, b, a], { ...options, most: 1 }).length, 1);
  assert.equal(approaches([a, b], { ...options, horizonMs: 9000 }).length, 0, 'beyond the horizon');
});

test('Pairs that cannot collide, or do not approach each other, are not forecast', () => {
  const a = body('a', 0, { east: 1 });
  const b = body('b', 20, { east: -1 });
  const options = { horizonMs: 30_000, most: 10 };
  assert.equal(approaches([a, b], options).length, 1);
  const pairs: readonly (readonly [string, MovingBody])[] = [
    ['another floor', { ...b, floor: 1 }],
    ['a common provider', { ...b, providers: ['a'] }],
    ['carried by it', { ...b, ancestors: ['a'] }],
    ['it goes away', body('b', 20, { east: 2 })],
    ['it passes at a distance', body('b', 20, { east: -1, lat: 3 / NORTH })],
    ['they touch already', body('b', 1.5, { east: -1 })],
    ['slower than the noise', body('b', 20, { east: 0.99, velocityVariance: 0.01 })],
  ];
  for (const [why, other] of pairs) assert.deepEqual(approaches([a, other], options), [], why);
  const points = [a, b].map((each) => ({ ...each, reachMeters: 0 }));
  assert.deepEqual(approaches(points, options), [], 'two points');
});
