import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCollisionStage } from '../../src/core/collision/stage.ts';
import type { LastKnownRow } from '../../src/core/item.ts';
import { eventTimeOfMonotonic, wallClockTime } from '../../src/model/clock_steps.ts';
import { rowUntil } from '../../src/core/row_times.ts';
import { remoteRows, ownRows, rowsToStore } from '../../src/shards/row_times.ts';
import { type Clock, openClock } from '../../src/time/clock.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { square } from '../support/hall.ts';
import {
  eventsOf,
  fence,
  inHall,
  itemOf,
  ShardHarness,
  T0,
  trackable,
  VARIANTS,
  zone,
} from '../support/shard_harness.ts';
import { moved } from './collision_motions.ts';

const HOUR_MS = 3_600_000;

/** A clock whose elapsed time and lead of the system clock are set by the test. */
function settable(startMs = T0) {
  const set = { elapsedMs: 0, aheadMs: 0 };
  const clock = openClock({
    system: () => startMs + set.elapsedMs + set.aheadMs,
    elapsed: () => set.elapsedMs,
  });
  return { set, clock };
}

test('Wall-clock time follows the system in both directions, while monotonic time advances', () => {
  const { set, clock } = settable();
  assert.deepEqual([clock.now(), clock.monotonic()], [T0, T0]);
  set.elapsedMs = 5000;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 5000, T0 + 5000]);
  set.aheadMs = 10 * HOUR_MS;
  assert.equal(clock.now(), T0 + 5000 + 10 * HOUR_MS);
  set.elapsedMs = 8000;
  set.aheadMs = 0;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 8000, T0 + 8000 + 10 * HOUR_MS]);
  assert.deepEqual(clock.clockSteps, [{ toMs: T0 + 8000, byMs: 10 * HOUR_MS }]);
  set.elapsedMs = 9000;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 9000, T0 + 9000 + 10 * HOUR_MS]);
});

test('A clock that steps backward between two reads still steps backward', () => {
  const { set, clock } = settable();
  set.elapsedMs = 2 * HOUR_MS;
  set.aheadMs = -HOUR_MS;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + HOUR_MS, T0 + 2 * HOUR_MS]);
});

test('A clock waits out corrections of up to a second, and advances as soon as the system has caught up', () => {
  const { set, clock } = settable();
  set.elapsedMs = 10_000;
  clock.now();
  set.aheadMs = -1000;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 10_000, T0 + 10_000]);
  set.elapsedMs = 10_600;
  assert.equal(clock.now(), T0 + 10_000);
  set.elapsedMs = 11_500;
  assert.deepEqual([clock.now(), clock.clockSteps], [T0 + 10_500, []]);
});

test('Monotonic time stops while a hub with a heartbeat is suspended', () => {
  const { set, clock } = settable();
  set.elapsedMs = 5000;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 5000, T0 + 5000]);
  clock.heartbeat();
  for (const elapsedMs of [5250, 6200, 7200]) {
    set.elapsedMs = elapsedMs;
    assert.deepEqual([clock.now(), clock.monotonic()], [T0 + elapsedMs, T0 + elapsedMs]);
  }
  set.elapsedMs = 13_200;
  // One millisecond passes, so that a time before and one after the standstill always differ.
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 13_200, T0 + 7201]);
  assert.deepEqual(clock.clockSteps, [{ toMs: T0 + 7200, byMs: -5999 }]);
  set.elapsedMs = 13_500;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 13_500, T0 + 7501]);
  const times = [5000, 7200, 9000, 13_200, 13_500].map((ms) => clock.monotonicTime(T0 + ms) - T0);
  assert.deepEqual(times, [5000, 7200, 7200, 7201, 7501], 'all of the standstill is its beginning');
  const days = [5000, 7200, 7201, 7501].map((ms) => clock.wallClockTime(T0 + ms) - T0);
  assert.deepEqual(days, [5000, 7200, 13_200, 13_500]);
  for (const ms of [5000, 7200, 9000, 13_200, 13_500]) assert.equal(clock.eventTime(T0 + ms), T0 + ms);
  // A suspended machine: no time has passed for it.
  set.aheadMs = HOUR_MS;
  assert.deepEqual([clock.now(), clock.monotonic()], [T0 + 13_500 + HOUR_MS, T0 + 7502]);
});

test('Monotonic time never decreases, wall-clock time decreases only with the system, and both convert to each other', () => {
  const step = fc.record({
    passedMs: fc.integer({ min: 0, max: 10_000 }),
    setMs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: -5 * HOUR_MS, max: 5 * HOUR_MS }),
      fc.integer({ min: -2000, max: 2000 }),
    ),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { set, clock } = settable();
      let [lastRunningMs, lastSystemMs, lastDayMs] = [T0, T0, T0];
      for (const { passedMs, setMs } of steps) {
        set.elapsedMs += passedMs;
        set.aheadMs += setMs;
        const systemMs = T0 + set.elapsedMs + set.aheadMs;
        const [runningMs, dayMs] = [clock.monotonic(), clock.now()];
        assert.ok(runningMs >= lastRunningMs);
        assert.ok(dayMs >= lastDayMs || lastDayMs - dayMs <= lastSystemMs - systemMs + 1000, `${dayMs - lastDayMs}`);
        assert.ok(dayMs >= systemMs && dayMs - systemMs <= 1000);
        if (clock.clockSteps.length < 16) {
          assert.equal(clock.wallClockTime(runningMs), dayMs);
          assert.equal(clock.monotonicTime(dayMs), runningMs);
          for (const otherMs of [dayMs - HOUR_MS, dayMs - 1, dayMs + 5000]) {
            assert.equal(clock.wallClockTime(clock.monotonicTime(otherMs)), otherMs);
          }
        }
        // No recorded time is in the future.
        assert.ok(clock.wallClockTime(lastRunningMs) <= dayMs);
        [lastRunningMs, lastSystemMs, lastDayMs] = [runningMs, systemMs, dayMs];
      }
      assert.ok(clock.clockSteps.length <= 16);
    }),
    { seed: 99, numRuns: 300 },
  );
});

test('Event time advances during a standstill, monotonic time does not, and neither decreases, after any number of standstills and clock steps', () => {
  const step = fc.record({
    passedMs: fc.constantFrom(0, 1, 250, 900, 1001, 1500, 30_000),
    setMs: fc.constantFrom(0, 0, 0, -HOUR_MS, -5000, HOUR_MS, 700),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const { set, clock } = settable();
      clock.heartbeat();
      let [lastRunningMs, lastEventMs] = [clock.monotonic(), clock.eventTime(clock.now())];
      let stoodMs = 0;
      for (const { passedMs, setMs } of steps) {
        const lastDayMs = clock.now();
        const known = clock.clockSteps;
        set.elapsedMs += passedMs;
        set.aheadMs += setMs;
        const [runningMs, dayMs] = [clock.monotonic(), clock.now()];
        const eventMs = clock.eventTime(dayMs);
        const isStandstill = clock.clockSteps !== known && (clock.clockSteps.at(-1)?.byMs ?? 0) < 0;
        if (isStandstill) stoodMs += dayMs - lastDayMs - 1;
        assert.ok(runningMs >= lastRunningMs && eventMs >= lastEventMs);
        assert.equal(eventMs - runningMs, stoodMs);
        assert.equal(eventTimeOfMonotonic(runningMs, clock.clockSteps), eventMs);
        assert.equal(clock.wallClockOfEventTime(eventMs), dayMs);
        assert.equal(clock.wallClockTime(runningMs), dayMs);
        assert.equal(clock.monotonicTime(dayMs), runningMs);
        if (isStandstill && clock.clockSteps.length < 16) {
          assert.equal(
            eventTimeOfMonotonic(lastRunningMs, clock.clockSteps),
            lastEventMs,
            'a time of before the standstill stays',
          );
        }
        [lastRunningMs, lastEventMs] = [runningMs, eventMs];
      }
      assert.ok(clock.clockSteps.length <= 16);
    }),
    { seed: 125, numRuns: 300 },
  );
});

const FENCE = square({ timeout: 4000, tolerance_timeout: 2000, exit_tolerance: 3, exit_delay: 3000 });
const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';

interface Sent {
  /** Milliseconds after the previous action. */
  readonly passedMs: number;
  readonly provider: 'a' | 'b';
  readonly x: number;
}

/** When the hub's clock, which is ahead from the start, is corrected; undefined: it is right from the start. */
type Wrong = { readonly aheadMs: number; readonly rightAtMs: number } | undefined;

/** Published events with their times. */
async function reported(script: readonly Sent[], isTimed: boolean, wrong: Wrong) {
  const harness = await ShardHarness.open();
  const { set, clock } = settable();
  let seq = 0;
  const step = (items: Parameters<typeof harness.step>[1] = []): void => {
    const reported = harness.shard.step({
      nowMs: clock.monotonic(),
      items,
      clockSteps: clock.clockSteps,
      flushBudget: 0,
    });
    for (const { variant, text } of eventsOf(reported))
      if (variant === 3) observed.push({ atMs: set.elapsedMs, ...JSON.parse(text) });
  };
  const observed: { atMs: number; event_type: string; entry_time: string; exit_time?: string }[] = [];
  set.aheadMs = wrong?.aheadMs ?? 0;
  clock.now();
  const commands = [
    zone(),
    fence(FENCE),
    trackable(CART, ['a', 'b']),
    { kind: 'variants' as const, variants: VARIANTS },
  ];
  step(commands.map((command) => itemOf(command, ++seq, clock.monotonic())));
  const pass = (byMs: number): void => {
    for (let left = byMs; left > 0; left -= 500) {
      set.elapsedMs += Math.min(left, 500);
      if (wrong !== undefined && set.elapsedMs >= wrong.rightAtMs) set.aheadMs = 0;
      step();
    }
  };
  for (const { passedMs, provider, x } of script) {
    pass(passedMs);
    const second = set.elapsedMs / 1000;
    const location = inHall(second, [x, 5], { provider_id: provider });
    const generatedMs = clock.eventTime(isTimed ? T0 + set.elapsedMs : clock.now());
    step([itemOf({ ...location, generatedMs }, ++seq, clock.monotonic())]);
  }
  pass(20_000);
  return observed.map(({ atMs, event_type, entry_time, exit_time }) => {
    const times = [entry_time, exit_time].map((time) => {
      if (time === undefined) return undefined;
      const ms = Date.parse(time);
      // While the clock is ahead, published times are.
      return ms > T0 + atMs && wrong !== undefined ? ms - wrong.aheadMs : ms;
    });
    return { atMs, event_type, times };
  });
}

const scripts = fc.array(
  fc.record({
    passedMs: fc.constantFrom(0, 500, 1000, 2500, 6000),
    provider: fc.constantFrom('a' as const, 'b' as const),
    x: fc.constantFrom(5, 11, 20, 60),
  }),
  { maxLength: 12 },
);

const SENDERS: readonly [name: string, isTimed: boolean, aheadMs: readonly number[]][] = [
  ['senders with clocks of their own', true, [1500, 2000, 60_000, 10 * HOUR_MS]],
  // A clock that was ahead for longer than its error leaves no trace in published times.
  ['senders without clocks', false, [60_000 + HOUR_MS, 10 * HOUR_MS]],
];

for (const [name, isTimed, ahead] of SENDERS) {
  test(`Events of ${name} and their times are unaffected by a backward clock step`, async () => {
    const step = fc.integer({ min: 1, max: 80 });
    await fc.assert(
      fc.asyncProperty(scripts, fc.constantFrom(...ahead), step, async (script, aheadMs, step) => {
        const expected = await reported(script, isTimed, undefined);
        assert.deepEqual(await reported(script, isTimed, { aheadMs, rightAtMs: step * 500 }), expected);
      }),
      { seed: 9, numRuns: 60 },
    );
  });
}

test('A clock that is slightly ahead changes no event either, and no exit is before its entry', async () => {
  const step = fc.integer({ min: 1, max: 80 });
  await fc.assert(
    fc.asyncProperty(scripts, fc.constantFrom(1500, 2500, 6000), step, async (script, aheadMs, step) => {
      const events = await reported(script, false, { aheadMs, rightAtMs: step * 500 });
      const kinds = (list: typeof events) => list.map(({ atMs, event_type }) => [atMs, event_type]);
      assert.deepEqual(kinds(events), kinds(await reported(script, false, undefined)));
      for (const { times } of events) assert.ok((times[0] ?? 0) <= (times[1] ?? Number.POSITIVE_INFINITY));
    }),
    { seed: 9, numRuns: 60 },
  );
});

test('Collisions are published with wall-clock times', () => {
  const stage = openCollisionStage({
    newId: () => 'id',
    namedId: (name) => name,
    zones: () => undefined,
    newBuffer: newRecordBuffer,
  });
  const clockSteps = [{ toMs: T0 + 2000, byMs: HOUR_MS }];
  const ahead = T0 + 1000 + HOUR_MS;
  stage.step({ nowMs: ahead, motions: [moved('a', ahead, { radiusMeters: 1 })], variants: VARIANTS });
  const later = T0 + 3000 + HOUR_MS;
  const { events } = stage.step({
    nowMs: later,
    motions: [moved('b', later, { eventTimeMs: ahead, radiusMeters: 1 })],
    clockSteps,
  });
  assert.deepEqual(
    eventsOf({ events }).map(({ text }) => JSON.parse(text).start_time),
    [new Date(T0 + 1000).toISOString()],
  );
});

const ROW = {
  kind: 'provider',
  id: 'a',
  receivedMs: T0 + HOUR_MS,
  eventTimeMs: T0 + 7,
  location: '',
  memberships: [['f', T0 + HOUR_MS - 1]],
} as const;

test('Rows are stored with wall-clock times, and no time read from them is in the future', () => {
  const { set, clock } = settable();
  assert.deepEqual([...rowsToStore([ROW], clock)], [ROW]);
  set.aheadMs = HOUR_MS;
  clock.now();
  set.elapsedMs = 5000;
  set.aheadMs = 0;
  clock.now();
  assert.deepEqual(rowsToStore([ROW, { kind: 'provider', id: 'b', gone: true }], clock), [
    { ...ROW, receivedMs: T0, memberships: [['f', T0 - 1]] },
    { kind: 'provider', id: 'b', gone: true },
  ]);
  assert.equal(rowUntil(ROW, T0 + HOUR_MS), ROW);
  assert.deepEqual(rowUntil(ROW, T0 + 5), {
    ...ROW,
    receivedMs: T0 + 5,
    eventTimeMs: T0 + 5,
    memberships: [['f', T0 + 5]],
  });
  const timers = { seen: T0 + 9, area: 'entering', since: T0 + 7, tolerance: null, delay: T0 + 1 } as const;
  const entering = { ...ROW, receivedMs: T0, eventTimeMs: T0, memberships: [['f', null, timers]] } as const;
  assert.deepEqual(rowUntil(entering, T0 + 5), {
    ...entering,
    memberships: [['f', null, { ...timers, seen: T0 + 5, since: T0 + 5 }]],
  });
});

test('Wall-clock times from before a forward clock step are unchanged', () => {
  const clockSteps: Clock['clockSteps'] = [{ toMs: T0 + 3000, byMs: 10 * HOUR_MS }];
  assert.equal(wallClockTime(T0 - 1000, clockSteps), T0 - 1000);
  assert.equal(wallClockTime(T0 + 1000 + 10 * HOUR_MS, clockSteps), T0 + 1000);
});

test('After a standstill, a replaced worker considers objects silent only for the time that the hub has listened', () => {
  const { set, clock } = settable();
  clock.heartbeat();
  const observed = { ...ROW, receivedMs: clock.monotonic(), eventTimeMs: clock.monotonic(), memberships: [] };
  const [kept] = [...rowsToStore([observed], clock)] as LastKnownRow[];
  set.elapsedMs = 500;
  clock.now();
  // The hub stands still for a minute.
  set.elapsedMs += 60_000;
  assert.deepEqual(ownRows([kept as LastKnownRow], clock), [observed]);
  assert.deepEqual(remoteRows([kept as LastKnownRow], clock), [
    { ...observed, receivedMs: observed.receivedMs - 59_999 },
  ]);
  // Then its clock, which was right, steps forward by an hour.
  set.aheadMs = -HOUR_MS;
  clock.now();
  const [again] = ownRows([...rowsToStore([observed], clock)] as LastKnownRow[], clock);
  assert.equal(again?.gone !== true && again?.receivedMs, observed.receivedMs);
});
