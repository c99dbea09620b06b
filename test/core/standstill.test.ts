import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCollisionStage } from '../../src/core/collision/stage.ts';
import type { Item } from '../../src/core/item.ts';
import type { Fence } from '../../src/model/fence.ts';
import { openClock } from '../../src/time/clock.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { square } from '../support/hall.ts';
import {
  eventsOf,
  fence,
  inHall,
  itemOf,
  provider,
  ShardHarness,
  T0,
  trackable,
  VARIANTS,
  zone,
} from '../support/shard_harness.ts';
import { gone, moved } from './collision_motions.ts';

/** Decision 125: client times are published as they were sent, however long the hub stood still; deadlines shift. */

const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const BEAT_MS = 250;
const END_MS = 60_000;
const STANDSTILL_MIN_MS = 1000 + BEAT_MS + 1;

/** All times are in milliseconds after T0. */
interface Sent {
  readonly atMs: number;
  readonly provider: 'a' | 'b';
  readonly x: number;
  /** Age of the location when it is sent. */
  readonly lateMs: number;
}

interface Standstill {
  readonly fromMs: number;
  readonly forMs: number;
}

/** Lead of the hub's clock until it is corrected. */
interface WrongClock {
  readonly aheadMs: number;
  readonly untilMs: number;
}

interface Published {
  readonly of: string;
  readonly type: string;
  readonly entryMs: number;
  readonly exitMs: number | undefined;
  /** Time of publication by the hub. */
  readonly atMs: number;
  /** Whether it was published by the step that processed a location of the object; if so, the time of that location. */
  readonly locationMs: number | undefined;
  /** Latest client timestamp among the object's locations inside that the hub had processed before. */
  readonly insideMs: number;
}

interface Scene {
  readonly fence: Partial<Fence>;
  readonly sent: readonly Sent[];
  readonly standstills?: readonly Standstill[];
  readonly wrong?: WrongClock | undefined;
}

/**
 * Runs one shard by the clock of a hub that reads the data sent during a standstill after it. Returns its fence events.
 */
async function play({ fence: timing, sent, standstills = [], wrong }: Scene): Promise<Published[]> {
  const harness = await ShardHarness.open();
  let nowMs = 0;
  const aheadMs = (): number => (wrong !== undefined && nowMs < wrong.untilMs ? wrong.aheadMs : 0);
  const clock = openClock({ system: () => T0 + nowMs + aheadMs(), elapsed: () => nowMs });
  const published: Published[] = [];
  const inside = new Map<string, number>();
  let seq = 0;
  const step = (items: readonly Item[], locationMs?: number): void => {
    const outcome = harness.shard.step({
      nowMs: clock.monotonic(),
      items,
      clockSteps: clock.clockSteps,
      flushBudget: 0,
    });
    for (const { variant, text } of eventsOf(outcome)) {
      if (variant !== 3) continue;
      const { trackable_id, provider_id, event_type: type, entry_time, exit_time } = JSON.parse(text);
      const of = trackable_id ?? provider_id;
      const exitMs = exit_time === undefined ? undefined : Date.parse(exit_time) - T0;
      const [entryMs, insideMs] = [Date.parse(entry_time) - T0, inside.get(of) ?? 0];
      published.push({ of, type, entryMs, exitMs, insideMs, atMs: nowMs, locationMs });
    }
  };
  const commands = [
    zone(),
    fence(square(timing)),
    trackable(CART, ['a', 'b']),
    { kind: 'variants' as const, variants: VARIANTS },
  ];
  step(commands.map((command) => itemOf(command, ++seq, clock.monotonic())));
  const waiting = [...sent];
  const stoodUntil = (ms: number): number | undefined => {
    const during = standstills.find(({ fromMs, forMs }) => ms >= fromMs && ms < fromMs + forMs);
    return during && during.fromMs + during.forMs;
  };
  clock.heartbeat();
  while (nowMs < END_MS) {
    const nextMs = Math.min(nowMs + BEAT_MS, waiting[0] === undefined ? END_MS : Math.max(nowMs, waiting[0].atMs));
    nowMs = stoodUntil(nextMs) ?? nextMs;
    clock.heartbeat();
    for (; waiting[0] !== undefined && waiting[0].atMs <= nowMs; waiting.shift()) {
      const { atMs, provider: provider_id, x, lateMs } = waiting[0];
      const locationMs = atMs - lateMs;
      const location = inHall(locationMs / 1000, [x, 5], { provider_id });
      const generatedMs = clock.eventTime(T0 + locationMs);
      step([itemOf({ ...location, generatedMs }, ++seq, clock.monotonic())], locationMs);
      if (x > 10) continue;
      for (const id of [provider_id, CART]) inside.set(id, Math.max(inside.get(id) ?? 0, locationMs));
    }
    step([]);
  }
  return published;
}

const sentArb = fc
  .array(
    fc.record({
      atMs: fc.integer({ min: 2000, max: 40_000 }),
      provider: fc.constantFrom('a' as const, 'b' as const),
      x: fc.constantFrom(5, 9, 11, 20, 60),
      lateMs: fc.constantFrom(0, 0, 0, 100, 1500),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((sent) => sent.toSorted((a, b) => a.atMs - b.atMs));
const standstillsArb = fc.array(
  fc.record({
    fromMs: fc.integer({ min: 1000, max: 45_000 }),
    forMs: fc.integer({ min: STANDSTILL_MIN_MS, max: 12_000 }),
  }),
  { minLength: 1, maxLength: 5 },
);
const wrongArb = fc.option(
  fc.record({ aheadMs: fc.constant(3_600_000), untilMs: fc.integer({ min: 1, max: END_MS }) }),
  {
    nil: undefined,
  },
);

test('Random tracks enter and exit at the same times whether or not the hub stands still, if its clock is right', async () => {
  const isCaused = ({ locationMs }: Published): boolean => locationMs !== undefined;
  await fc.assert(
    fc.asyncProperty(sentArb, standstillsArb, wrongArb, async (sent, standstills, wrong) => {
      const scene = { fence: { timeout: -1, exit_tolerance: 3 }, sent };
      const expected = await play(scene);
      const found = await play({ ...scene, standstills, wrong });
      const timesOf = (events: readonly Published[]) => events.map(({ atMs: _, ...event }) => event);
      assert.ok(expected.every(isCaused));
      assert.deepEqual(timesOf(found), timesOf(expected));
    }),
    { seed: 125, numRuns: 150 },
  );
});

test('After random standstills, no exit is before a location inside, and timers exit when they fire', async () => {
  const timing = { timeout: 4000, exit_delay: 3000, exit_tolerance: 3, tolerance_timeout: 2000 };
  let exits = 0;
  await fc.assert(
    fc.asyncProperty(sentArb, standstillsArb, async (sent, standstills) => {
      const clientTimes = new Set(sent.map(({ atMs, lateMs }) => atMs - lateMs));
      for (const { entryMs, exitMs, insideMs, atMs, locationMs } of await play({ fence: timing, sent, standstills })) {
        assert.ok(clientTimes.has(entryMs), `entry_time ${entryMs} is not a time of a client`);
        if (exitMs === undefined) continue;
        exits++;
        assert.ok(exitMs >= insideMs, `exit_time ${exitMs} is before the location inside of ${insideMs}`);
        assert.ok(exitMs <= atMs, `exit_time ${exitMs} is in the future of ${atMs}`);
        assert.ok(exitMs === locationMs || atMs - exitMs <= BEAT_MS, `${exitMs} is neither of a client nor of a timer`);
      }
    }),
    { seed: 125, numRuns: 150 },
  );
  assert.ok(exits > 100, `${exits} exits`);
});

test('A location sent during a standstill acts at its own time, and timeouts shift by the standstill', async () => {
  const sent = [
    { atMs: 2000, provider: 'a', x: 5, lateMs: 0 },
    // The hub stands still from 3 to 13 s.
    { atMs: 5000, provider: 'b', x: 5, lateMs: 0 },
    { atMs: 8000, provider: 'b', x: 60, lateMs: 0 },
    { atMs: 9000, provider: 'b', x: 5, lateMs: 0 },
  ] as const;
  const found = await play({ fence: { timeout: 4000 }, sent, standstills: [{ fromMs: 3000, forMs: 10_000 }] });
  const lines = found.flatMap(({ of, type, entryMs, exitMs }) => (of === CART ? [] : [[of, type, entryMs, exitMs]]));
  assert.deepEqual(lines, [
    ['a', 'region_entry', 2000, undefined],
    ['b', 'region_entry', 5000, undefined],
    ['b', 'region_exit', 5000, 8000],
    ['b', 'region_entry', 9000, undefined],
    // Its timeout was due at 6000. The clock was read at 2750 and at 13,000, of which one millisecond counts.
    ['a', 'region_exit', 2000, 16_249],
    ['b', 'region_exit', 9000, 17_000],
  ]);
});

test('A deletion after a standstill ends memberships at the time of the deletion', async () => {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square()), provider('p'), inHall(0, [5, 5], { provider_id: 'p' }));
  harness.clockSteps = [{ toMs: T0 + 1000, byMs: -10_000 }];
  harness.takeFenceEvents();
  harness.tell(2, { kind: 'forget', id: 'p' });
  const [exit] = harness.takeFenceEvents();
  assert.deepEqual(
    [exit?.entry_time, exit?.exit_time],
    [T0, T0 + 12_000].map((ms) => new Date(ms).toISOString()),
  );
});

test('Collisions start and end at client times, or when their timeout or deletion is processed', () => {
  const stage = openCollisionStage({
    newId: () => 'id',
    namedId: (name) => name,
    zones: () => undefined,
    newBuffer: newRecordBuffer,
  });
  // The hub stands still from T0 + 1 s to T0 + 11 s.
  const clockSteps = [{ toMs: T0 + 1000, byMs: -10_000 }];
  const running = (ms: number): number => T0 + ms - 10_000;
  const at = (id: string, eventMs: number, receivedMs: number, more: object = {}) => {
    return moved(id, running(receivedMs), { eventTimeMs: T0 + eventMs, radiusMeters: 1, exitDelayMs: 3000, ...more });
  };
  const times = (nowMs: number, motions: readonly ReturnType<typeof gone>[]) => {
    const { events } = stage.step({ nowMs: running(nowMs), motions, clockSteps, variants: VARIANTS });
    return eventsOf({ events }).map(({ text }) => {
      const { collision_type: type, start_time, collision_time, end_time } = JSON.parse(text);
      const time = collision_time ?? end_time ?? start_time;
      return [type, ...[start_time, time].map((text) => Date.parse(text) - T0)];
    });
  };
  assert.deepEqual(times(12_000, [at('a', 4000, 12_000), at('b', 5000, 12_000)]), [['collision_start', 5000, 5000]]);
  assert.deepEqual(times(14_000, [at('b', 13_000, 14_000, { lon: 9 })]), [['colliding', 5000, 13_000]]);
  assert.deepEqual(times(18_000, []), [['collision_end', 5000, 17_000]]);
  assert.deepEqual(times(19_000, [at('b', 18_500, 19_000)]), [['collision_start', 18_500, 18_500]]);
  assert.deepEqual(times(20_000, [gone('b', running(20_000))]), [['collision_end', 18_500, 20_000]]);
});
