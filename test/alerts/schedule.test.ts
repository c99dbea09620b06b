import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileSchedule } from '../../src/alerts/rule_match.ts';
import type { AlertSchedule } from '../../src/model/alert.ts';
import { WEEKDAYS } from '../../src/model/weekdays.ts';
import { clockOf } from '../../src/model/zone_clock.ts';

const BERLIN = 'Europe/Berlin';

// Whether the schedule is in effect at a time, and until when that does not change.
for (const [name, schedule, at, isActive, until] of [
  ['in the window', { from: '08:00', to: '17:00' }, '2026-07-01T08:00:00Z', true, '2026-07-01T17:00:00Z'],
  ['before it', { from: '08:00', to: '17:00' }, '2026-07-01T07:59:59.999Z', false, '2026-07-01T08:00:00Z'],
  ['at its end', { from: '08:00', to: '17:00' }, '2026-07-01T17:00:00Z', false, '2026-07-02T08:00:00Z'],
  ['before midnight', { from: '22:00', to: '06:00' }, '2026-07-01T23:00:00Z', true, '2026-07-02T06:00:00Z'],
  ['after midnight', { from: '22:00', to: '06:00' }, '2026-07-02T05:00:00Z', true, '2026-07-02T06:00:00Z'],
  [
    'after the midnight that ends its weekday',
    { days: ['friday'], from: '22:00', to: '06:00' },
    '2026-07-04T05:00:00Z', // a Saturday
    true,
    '2026-07-04T06:00:00Z',
  ],
  [
    'after the midnight that begins its weekday',
    { days: ['friday'], from: '22:00', to: '06:00' },
    '2026-07-03T05:00:00Z',
    false,
    '2026-07-03T22:00:00Z',
  ],
  ['on a weekend', { days: ['saturday', 'sunday'] }, '2026-07-04T12:00:00Z', true, '2026-07-06T00:00:00Z'],
  ['after a weekend', { days: ['saturday', 'sunday'] }, '2026-07-06T00:00:00Z', false, '2026-07-11T00:00:00Z'],
  [
    'in its zone',
    { from: '08:00', to: '17:00', time_zone: BERLIN },
    '2026-07-01T06:00:00Z',
    true,
    '2026-07-01T15:00:00Z',
  ],
  // Clocks are set forward from 02:00 to 03:00 at 01:00 UTC, and back from 03:00 to 02:00 at 01:00 UTC.
  [
    'in a short night',
    { from: '22:00', to: '06:00', time_zone: BERLIN },
    '2026-03-28T21:00:00Z',
    true,
    '2026-03-29T04:00:00Z',
  ],
  [
    'before a begin that does not occur',
    { from: '02:30', to: '06:00', time_zone: BERLIN },
    '2026-03-29T01:00:00Z',
    false,
    '2026-03-29T01:30:00Z',
  ],
  [
    'between a begin and an end that do not occur',
    { from: '02:15', to: '02:45', time_zone: BERLIN },
    '2026-03-29T01:15:00Z',
    true,
    '2026-03-29T01:45:00Z',
  ],
  [
    'in a long night',
    { from: '22:00', to: '06:00', time_zone: BERLIN },
    '2026-10-24T20:00:00Z',
    true,
    '2026-10-25T05:00:00Z',
  ],
  [
    'from the first of two begins',
    { from: '02:30', to: '06:00', time_zone: BERLIN },
    '2026-10-25T01:15:00Z',
    true,
    '2026-10-25T05:00:00Z',
  ],
  [
    'until the second of two ends',
    { from: '01:00', to: '02:30', time_zone: BERLIN },
    '2026-10-25T00:45:00Z',
    true,
    '2026-10-25T01:30:00Z',
  ],
] as const satisfies readonly (readonly [string, AlertSchedule, string, boolean, string])[]) {
  test(`a schedule ${isActive ? 'is' : 'is not'} in effect ${name}`, () => {
    const found = compileSchedule(schedule as AlertSchedule)(Date.parse(at));
    assert.equal(found.isActive, isActive);
    assert.equal(new Date(found.untilMs).toISOString(), new Date(until).toISOString());
  });
}

test('a rule without a schedule, and one with an empty schedule, are always in effect', () => {
  assert.deepEqual(compileSchedule(undefined)(0), { isActive: true, untilMs: Number.POSITIVE_INFINITY });
  const always = compileSchedule({})(Date.parse('2026-07-01T12:00:00Z'));
  assert.ok(always.isActive && always.untilMs > Date.parse('2026-07-08T00:00:00Z'));
});

test('outside of clock changes a schedule is in effect exactly in its hours, until the time that it names', () => {
  const time = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([h, m]) => `${h}`.padStart(2, '0') + `:${m}`.replace(/:(\d)$/, ':0$1'));
  const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }),
      time,
      time,
      fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/Phoenix'),
      fc.integer({ min: Date.parse('2025-01-01'), max: Date.parse('2027-01-01') }),
      (days, from, to, time_zone, atMs) => {
        const clock = clockOf(time_zone);
        const holds = (ms: number): boolean => {
          const wall = clock.wallMs(ms);
          const minute = Math.floor((wall % 86_400_000) / 60_000);
          const weekday = (offset: number) =>
            WEEKDAYS[new Date(wall + offset).getUTCDay()] as (typeof WEEKDAYS)[number];
          const [begin, end] = [minutes(from), minutes(to)];
          const isToday = days.includes(weekday(0)) && minute >= begin && (end <= begin || minute < end);
          return isToday || (days.includes(weekday(-86_400_000)) && end <= begin && minute < end);
        };
        const schedule = compileSchedule({ days, from, to, time_zone });
        const { isActive, untilMs } = schedule(atMs);
        assert.equal(isActive, holds(atMs));
        assert.ok(untilMs > atMs);
        assert.equal(schedule(untilMs - 1).isActive, isActive);
        const isChange = schedule(untilMs).isActive !== isActive;
        assert.ok(isChange || untilMs - atMs > 7 * 86_400_000, 'it changes then, unless it never does');
      },
    ),
    { seed: 11, numRuns: 300 },
  );
});
