import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { HealthSource, HubSockets, SocketHealth } from '../../src/model/health.ts';
import type { UsageCounter } from '../../src/model/usage.ts';
import { snapshotOf } from '../../src/operation/consumption.ts';
import { type HubMonth, joinedMonths, joinedSockets, joinedSources } from '../../src/operation/merge_answers.ts';
import { statisticsOf } from '../../src/operation/usage.ts';
import { square } from '../support/hall.ts';
import { NO_COUNTS } from './open_operation.ts';

const NOTHING = { zones: [], trackables: [], providers: [] };
const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString();
const zone = { id: 'z', type: 'uwb', number_of_updates: 0 } as const;
const [early, late]: readonly [HealthSource, HealthSource] = [
  { ...zone, number_of_updates: 3, last_update_received: at(1), last_update_type: 'ws' },
  { ...zone, type: 'gps', number_of_updates: 5, last_update_received: at(2), last_update_type: 'rest' },
];
const down = { reconnects: 4, hub: 'a' };
const open = { reconnects: 0, connection_established: at(3), uptime: 7, hub: 'b' };

describe('joinedSources', () => {
  for (const [what, one, other, expected] of [
    ['adds up, and has the latest', early, late, { ...late, number_of_updates: 8 }],
    ['is unchanged by an empty list', early, zone, early],
    ['is empty for no lists', zone, zone, zone],
    ['has the connection of the hub that has one', early, { ...zone, ...open }, { ...early, ...open }],
    ['keeps a closed one', { ...late, ...down }, early, { ...late, number_of_updates: 8, ...down }],
    ['prefers an open one', { ...late, ...down }, { ...zone, ...open }, { ...late, ...open }],
  ] as [string, HealthSource, HealthSource, HealthSource][]) {
    test(what, () => {
      assert.deepEqual(joinedSources([[one], [other]]), [expected]);
      assert.deepEqual(joinedSources([[other], [one]]), [expected]);
    });
  }

  test('has each source once, in the order of first occurrence', () => {
    const named = (...ids: string[]) => ids.map((id) => ({ ...early, id }));
    const joined = joinedSources([named('c', 'a'), [], named('b', 'a'), named('c', 'd')]);
    assert.deepEqual(
      joined.map(({ id, number_of_updates: updates }) => [id, updates]),
      [
        ['c', 6],
        ['a', 6],
        ['b', 3],
        ['d', 3],
      ],
    );
    assert.deepEqual(joinedSources([]), []);
  });

  test('returns the same counts for any order of joining hubs', () => {
    const source = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      type: fc.constant('uwb' as const),
      number_of_updates: fc.nat(100),
      last_update_received: fc.nat(50).map(at),
    });
    const list = fc.uniqueArray(source, { selector: ({ id }) => id });
    fc.assert(
      fc.property(list, list, list, (a, b, c) => {
        const all = joinedSources([a, b, c]);
        assert.deepEqual(joinedSources([joinedSources([a, b]), c]), all);
        assert.deepEqual(joinedSources([a, joinedSources([b, c])]), all);
      }),
      { seed: 1 },
    );
  });
});

test('joinedSockets sums counts, has the latest times, and names the hubs', () => {
  const counts = {
    number_of_subscribers: 4,
    number_of_subscribers_locations: 1,
    number_of_subscribers_trackable_motions: 2,
    number_of_subscribers_fence_events: 0,
    number_of_subscribers_collision_events: 1,
  };
  const ofHub = (hub: string): HubSockets => ({ hub, number_of_clients: 2, waiting_bytes: 0, topics: [] });
  const a: SocketHealth = { ...counts, number_of_clients: 2, last_fence_event_sent: at(9), hubs: [ofHub('a')] };
  const b: SocketHealth = {
    ...{ ...counts, number_of_clients: 3, last_fence_event_sent: at(8), last_collision_event_sent: at(1) },
    hubs: [ofHub('b')],
  };
  assert.deepEqual(joinedSockets([a, b]), {
    number_of_clients: 5,
    number_of_subscribers: 8,
    number_of_subscribers_locations: 2,
    number_of_subscribers_trackable_motions: 4,
    number_of_subscribers_fence_events: 0,
    number_of_subscribers_collision_events: 2,
    last_fence_event_sent: at(9),
    last_collision_event_sent: at(1),
    hubs: [ofHub('a'), ofHub('b')],
  });
  assert.deepEqual(joinedSockets([a]), a);
});

describe('joinedMonths', () => {
  const NOVEMBER = Date.UTC(2026, 10);
  const NOW = { timestamp_generated: at(50), config: configOf(1, 0) };

  function configOf(fences: number, active: number) {
    const config = snapshotOf({ fences: Array.from({ length: fences }, () => square()), ...NOTHING }, new Set());
    return { ...config, locationproviders_no_active: active };
  }

  function monthOf(id: string, counts: Partial<Record<UsageCounter, number>>, more: Partial<HubMonth> = {}): HubMonth {
    const [fromMs, toMs] = [NOVEMBER + id.length * 1000, NOVEMBER + 60_000 * id.length];
    const kept = { id, statisticsId: `s${id}`, fromMs, toMs, uptimeMs: toMs - fromMs };
    const statistics = statisticsOf({ ...kept, counts: { ...NO_COUNTS, ...counts } }, 'cluster');
    return { id, year: 2026, month: 11, statistics, ...more };
  }

  test('sums counters, and takes the ids of the first', () => {
    const joined = joinedMonths(
      [
        monthOf('a', { locationupdates_processed: 5, locationupdates_sent: 1 }),
        monthOf('bb', { locationupdates_processed: 7 }),
      ],
      NOW,
    );
    const [{ id, statistics, config, timestamp_generated } = assert.fail('no month')] = joined;
    assert.deepEqual([joined.length, id, statistics.id, statistics.instance_id], [1, 'a', 'sa', 'cluster']);
    assert.deepEqual([statistics.locationupdates_processed, statistics.locationupdates_sent], [12, 1]);
    assert.deepEqual(statistics.range, { from: '2026-11-01T00:00:01.000Z', to: '2026-11-01T00:02:00.000Z' });
    assert.equal(statistics.uptime, 118, 'that of the longest-running hub');
    assert.deepEqual({ config, timestamp_generated }, NOW);
  });

  test('has the configuration of the latest report, and the maximum of active objects', () => {
    const ended = [
      monthOf('a', {}, { timestamp_generated: at(2), config: configOf(3, 4) }),
      monthOf('b', {}, { timestamp_generated: at(1), config: configOf(2, 6) }),
      monthOf('c', { locationupdates_sent: 1 }),
    ];
    const [{ config, timestamp_generated, statistics } = assert.fail('no month')] = joinedMonths(ended, NOW);
    assert.deepEqual([config.fences.length, config.locationproviders_no_active, timestamp_generated], [3, 6, at(2)]);
    assert.equal(statistics.locationupdates_sent, 1);
  });

  test('distinguishes months, the earliest first', () => {
    const months = [
      monthOf('c', {}, { year: 2027, month: 1 }),
      monthOf('b', {}, { month: 12 }),
      monthOf('a', {}),
      monthOf('d', {}, { month: 12 }),
    ];
    assert.deepEqual(
      joinedMonths(months, NOW).map(({ year, month, id }) => [year, month, id]),
      [
        [2026, 11, 'a'],
        [2026, 12, 'b'],
        [2027, 1, 'c'],
      ],
    );
  });
});
