import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolvedFilter } from '../../../src/core/tracking/filter_settings.ts';
import type { Filter } from '../../../src/model/filter.ts';
import { start, step, type Verdict, varianceOf } from '../../../src/core/tracking/filter.ts';
import {
  AGE,
  COURSE,
  EAST,
  emptyTrack,
  FLOOR,
  hasFlag,
  LAT,
  LON,
  NORTH,
  P11,
  P22,
  STILL_UNKNOWN,
  type Track,
  Z,
} from '../../../src/core/tracking/track.ts';
import { diceOf } from '../../support/dice.ts';
import { CV, filterAll, metersOf, normal, type PlaneFix, randomFixes, sightingAt } from './filter_runs.ts';

const ORIGIN = [8.68, 50.11] as const;
const EXACT = 0.3;

/** Fixes every 100 ms at 1 m/s to the east. */
function walking(count: number, more: Partial<PlaneFix> = {}): PlaneFix[] {
  return Array.from({ length: count }, (_, i) => ({ ms: 100 * i, east: i / 10, north: 0, accuracy: EXACT, ...more }));
}

function verdictsOf(fixes: readonly PlaneFix[], members: Filter = {}): { verdicts: Verdict[]; track: Track } {
  const verdicts: Verdict[] = [];
  const settings = resolvedFilter([members, { kind: 'cv' }]);
  const track = filterAll(fixes, (_, verdict) => verdicts.push(verdict), { settings, origin: ORIGIN });
  return { verdicts, track };
}

test('the position, speed and course of an object at constant velocity are followed without lag', () => {
  const { track, verdicts } = verdictsOf(walking(100));
  assert.ok(verdicts.every((verdict, i) => verdict === (i === 0 ? 'started' : 'accepted')));
  const [east, north] = metersOf(ORIGIN, track);
  assert.ok(Math.abs(east - 9.9) < 1e-3 && Math.abs(north) < 1e-3, `${east} ${north}`);
  assert.ok(Math.abs((track[EAST] as number) - 1) < 1e-3);
  assert.ok(Math.abs((track[COURSE] as number) - 90) < 0.1);
});

test('the velocity is unknown until the second fix', () => {
  const known: boolean[] = [];
  filterAll(walking(3), (track) => known.push(!hasFlag(track, STILL_UNKNOWN)));
  assert.deepEqual(known, [false, true, true]);
});

test('a jump is an outlier and changes neither position nor velocity', () => {
  const fixes = walking(50);
  fixes[40] = { ...(fixes[40] as PlaneFix), north: 40 };
  const at: number[][] = [];
  const verdicts: Verdict[] = [];
  filterAll(fixes, (track, verdict) => {
    at.push([track[LON] as number, track[LAT] as number, track[EAST] as number, track[NORTH] as number]);
    verdicts.push(verdict);
  });
  assert.deepEqual(
    verdicts.flatMap((verdict, i) => (verdict === 'outlier' ? [i] : [])),
    [40],
  );
  assert.deepEqual(at[40], at[39]);
});

test('outliers in agreement restart the track where they are, after `reset_after` of them', () => {
  for (const resetAfter of [1, 2, 3, 10]) {
    const fixes = walking(50).map((fix, i) => (i < 30 ? fix : { ...fix, north: 40 }));
    const { verdicts, track } = verdictsOf(fixes, { reset_after: resetAfter });
    const outliers = verdicts.filter((verdict) => verdict === 'outlier').length;
    assert.equal(outliers, resetAfter - 1);
    assert.equal(verdicts[30 + outliers], 'started');
    assert.ok(Math.abs(metersOf(ORIGIN, track)[1] - 40) < 0.1);
  }
});

test('outliers that contradict each other never move the object', () => {
  const fixes = walking(60).map((fix, i) => (i < 30 ? fix : { ...fix, north: 50 + 40 * (i % 3), east: -30 * (i % 2) }));
  const { verdicts, track } = verdictsOf(fixes);
  assert.ok(verdicts.slice(30).every((verdict) => verdict === 'outlier'));
  assert.ok(Math.abs(metersOf(ORIGIN, track)[1]) < 0.1);
});

test('a track restarts after a gap longer than `max_gap`, with unknown velocity', () => {
  for (const [gap, verdict] of [
    [5000, 'accepted'],
    [5001, 'started'],
  ] as const) {
    const fixes = walking(20);
    const last = fixes.at(-1) as PlaneFix;
    const { verdicts, track } = verdictsOf([...fixes, { ...last, ms: last.ms + gap, east: last.east + gap / 1000 }]);
    assert.equal(verdicts.at(-1), verdict);
    assert.equal(hasFlag(track, STILL_UNKNOWN), verdict === 'started');
  }
});

test('a fix that would need more than `max_speed` is an outlier, whatever the gate allows', () => {
  const fixes = walking(30);
  fixes[20] = { ...(fixes[20] as PlaneFix), north: 8 };
  const loose = { gate: 1e9 };
  assert.equal(verdictsOf(fixes, loose).verdicts[20], 'accepted');
  assert.equal(verdictsOf(fixes, { ...loose, max_speed: 3 }).verdicts[20], 'outlier');
});

test('a start at a wrong position is corrected by the next fixes', () => {
  for (const members of [{}, { max_speed: 3 }]) {
    const fixes = walking(30);
    fixes[0] = { ...(fixes[0] as PlaneFix), north: 5 };
    const { track } = verdictsOf(fixes, members);
    assert.ok(Math.abs(metersOf(ORIGIN, track)[1]) < 0.1);
  }
});

test('accuracies that are missing, zero or negative count as the default; absurd ones are limited', () => {
  for (const [accuracy, sigma] of [
    [Number.NaN, 0.5],
    [0, 0.5],
    [-3, 0.5],
    [Number.NEGATIVE_INFINITY, 0.5],
    [1e-12, 0.01],
    [2, 2],
    [1e300, 100_000],
    [Number.POSITIVE_INFINITY, 100_000],
  ] as const) {
    assert.equal(varianceOf(accuracy, CV), sigma * sigma, String(accuracy));
  }
});

test('a fix with the time of the last one improves the position and leaves the velocity plausible', () => {
  const { track } = verdictsOf(walking(40).flatMap((fix) => [fix, fix, fix]));
  assert.ok(Math.abs(metersOf(ORIGIN, track)[0] - 3.9) < 0.01);
  assert.ok(Math.abs((track[EAST] as number) - 1) < 0.01);
});

test('a fix from before the state counts where the object is now, and a much older one is ignored', () => {
  const track = filterAll(walking(50), () => {}, { origin: ORIGIN });
  const before = Float64Array.from(track);
  const late = sightingAt(ORIGIN, { ms: 0, east: 4.4, north: 0, accuracy: EXACT });
  assert.equal(step(track, late, -500, CV), 'accepted');
  assert.ok(Math.abs(metersOf(ORIGIN, track)[0] - 4.9) < 0.01);
  assert.ok((track[P11] as number) < (before[P11] as number));
  assert.equal(track[AGE], -500);
  const copy = Float64Array.from(track);
  assert.equal(step(track, late, -6000, CV), 'late');
  assert.deepEqual(track, copy);
});

test('the opposite side of the earth is far away', () => {
  for (const [lon, lat] of [
    [-171.32, -50.11],
    [8.68, -50.11],
    [8.68, 50.11 + 12],
  ] as const) {
    const track = filterAll(walking(20), () => {}, { origin: ORIGIN });
    const seen = { lon, lat, z: Number.NaN, isZFromEllipsoid: false, floor: 0, accuracy: 100_000 };
    assert.equal(step(track, seen, 100, resolvedFilter([{ kind: 'cv', gate: 1e9 }])), 'outlier');
  }
});

test('heights are smoothed, and restart when floor or reference changes', () => {
  const dice = diceOf(7);
  const noisy = walking(200).map((fix) => ({ ...fix, z: 1.2 + EXACT * normal(dice) }));
  const heights: number[] = [];
  filterAll(noisy, (track) => heights.push(track[Z] as number));
  const rms = Math.sqrt(heights.slice(50).reduce((sum, z) => sum + (z - 1.2) ** 2, 0) / 150);
  assert.ok(rms < 0.6 * EXACT, `${rms}`);
  const last = noisy.at(-1) as PlaneFix;
  for (const [change, z] of [
    [{ floor: 1, z: 5 }, 5],
    [{ isZFromEllipsoid: true, z: 130 }, 130],
    [{ z: Number.NaN }, Number.NaN],
  ] as const) {
    assert.equal(verdictsOf([...noisy, { ...last, ms: last.ms + 100, ...change }]).track[Z], z);
  }
});

test('the floor changes after `floor_hold`, and a flicker starts the time again', () => {
  const floors = (reported: readonly number[], hold: number): number[] => {
    const found: number[] = [];
    const fixes = walking(reported.length).map((fix, i) => ({ ...fix, floor: reported[i] as number }));
    const settings = resolvedFilter([{ kind: 'cv', floor_hold: hold }]);
    filterAll(fixes, (track) => found.push(track[FLOOR] as number), { settings });
    return found;
  };
  assert.deepEqual(floors([0, 1, 0, 1], 0), [0, 1, 0, 1]);
  assert.deepEqual(floors([0, 1, 1, 1, 1], 200), [0, 0, 0, 1, 1]);
  assert.deepEqual(floors([0, 1, 1, 0, 1, 1, 1], 200), [0, 0, 0, 0, 0, 0, 1]);
  assert.deepEqual(floors([0, 1, 2, 2, 2], 200), [0, 0, 0, 0, 2]);
  assert.deepEqual(floors([0, 1, 1, 1, 1], 1000), [0, 0, 0, 0, 0]);
});

test('members fall through to less specific levels; a value of null is not set', () => {
  const settings = resolvedFilter([
    undefined,
    { gate: 9, max_gap: null },
    { kind: 'cv', gate: 20, max_gap: 9000, fuse: true },
  ]);
  assert.equal(settings.kind, 'cv');
  assert.equal(settings.gate, 9);
  assert.equal(settings.maxGapMs, 9000);
  assert.equal(settings.fuse, true);
  assert.equal(settings.defaultAccuracyMeters, 0.5);
  assert.equal(resolvedFilter([]).kind, 'none');
});

test('a track is the same everywhere on earth: at the equator, a pole, the antimeridian', () => {
  const places = fc.tuple(
    fc.constantFrom(-180, 180, 179.9999, 8.68, 0),
    fc.constantFrom(90, -90, 89.9999, -89.9995, 60, 0),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), places, (seed, origin) => {
      const fixes = randomFixes(diceOf(seed), { jumps: true });
      const here: [east: number, north: number, variance: number, verdict: Verdict][] = [];
      filterAll(fixes, (track, verdict) => here.push([...metersOf([0, 0], track), track[P11] as number, verdict]));
      filterAll(
        fixes,
        (track, verdict, i) => {
          const [east, north, variance, expected] = here[i] ?? assert.fail();
          const [x, y] = metersOf(origin, track);
          assert.equal(verdict, expected);
          // Both planes are fixed, so distant positions shrink: by the cube of the distance.
          assert.ok(Math.hypot(x - east, y - north) < 1e-3, `${x} ${y} instead of ${east} ${north}`);
          assert.ok(Math.abs((track[P11] as number) - variance) < 1e-9);
        },
        { origin },
      );
    }),
    { numRuns: 60 },
  );
});

test('all numbers stay finite and variances positive, whatever is sent', () => {
  const numbers = fc.oneof(fc.double(), fc.constantFrom(0, -1, 1e300, 1e-300, Number.NaN));
  const seen = fc.record({
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    z: numbers,
    isZFromEllipsoid: fc.boolean(),
    floor: fc.integer({ min: -2, max: 2 }),
    accuracy: numbers,
  });
  const steps = fc.array(fc.tuple(seen, fc.constantFrom(-3000, -1, 0, 1, 100, 4000, 3_599_000, 1e9)), {
    minLength: 1,
    maxLength: 40,
  });
  const members = fc.record({
    reset_after: fc.integer({ min: 1, max: 4 }),
    max_speed: fc.constantFrom(null, 0, 3, 1e4),
  });
  fc.assert(
    fc.property(seen, steps, members, (first, rest, own) => {
      const settings = resolvedFilter([own, { kind: 'cv', max_gap: 3_600_000 }]);
      const track = emptyTrack();
      start(track, first, settings);
      for (const [sighting, elapsedMs] of rest) {
        step(track, sighting, elapsedMs, settings);
        for (let i = LON; i <= AGE; i++) assert.ok(Number.isFinite(track[i]), `${i} is ${track[i]}`);
        assert.ok((track[P11] as number) > 0 && (track[P22] as number) >= 0);
        assert.ok(Math.abs(track[LON] as number) <= 180 && Math.abs(track[LAT] as number) <= 90);
      }
    }),
  );
});
