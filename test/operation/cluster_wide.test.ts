import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snapshotOf } from '../../src/operation/consumption.ts';
import type { UsageShare } from '../../src/operation/hub_queries.ts';
import { ClusterWideUsage } from '../../src/operation/cluster_wide.ts';
import { CURRENT, type KeptMonth } from '../../src/operation/usage.ts';
import { NO_COUNTS } from './open_operation.ts';

const [OCTOBER, NOVEMBER] = [Date.UTC(2026, 9, 5), Date.UTC(2026, 10)];
const CONFIG = snapshotOf({ fences: [], zones: [], trackables: [], providers: [] }, new Set());

function monthOf(id: string, locations: number, fromMs = NOVEMBER): KeptMonth {
  const counts = { ...NO_COUNTS, locationupdates_processed: locations };
  return { id, statisticsId: `s${id}`, fromMs, toMs: fromMs + 1000, uptimeMs: 1000, counts };
}

function shareOf(month: KeptMonth, active: readonly string[] = [], ended: UsageShare['ended'] = []): UsageShare {
  return { month, active: [...active], ended };
}

/** A closed month as stored by a hub. */
function endedOf(id: string, locations: number): readonly [string, string] {
  const { locationupdates_processed: _, ...rest } = NO_COUNTS;
  const range = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' };
  const ids = { id: `s${id}`, instance_id: 'cluster', uptime: 1 };
  const statistics = { ...ids, range, ...rest, locationupdates_processed: locations };
  const head = { id, timestamp_generated: '2026-11-01T00:00:00.000Z', year: 2026, month: 10 };
  return ['usage:2026-10', JSON.stringify({ ...head, config: CONFIG, statistics })];
}

function usageOf(
  stored: Readonly<Record<string, readonly (readonly [string, string])[]>>,
  shares: [string, UsageShare][],
) {
  const texts = new Map(Object.entries(stored).map(([hub, rows]) => [hub, new Map(rows)]));
  const actives: (readonly string[])[] = [];
  const usage = new ClusterWideUsage({
    hubs: { ask: async () => shares.map(([hub, value]) => ({ hub, value })) },
    hubId: 'cluster',
    stored: () => texts,
    config(active) {
      actives.push([...active].toSorted());
      return CONFIG;
    },
    now: () => NOVEMBER + 5000,
  });
  const counted = async () => {
    const months = await usage.all();
    return months.map(({ month, id, statistics }) => [month, id, statistics.locationupdates_processed]);
  };
  return { usage, texts, actives, counted };
}

test('Stored usage counts, including that of departed hubs, and running hubs count up to now', async () => {
  const { counted, actives } = usageOf(
    {
      gone: [[CURRENT, JSON.stringify(monthOf('g', 1))], endedOf('go', 10)],
      // It was not running at the end of its last month.
      older: [[CURRENT, JSON.stringify(monthOf('o', 2, OCTOBER))]],
      here: [[CURRENT, JSON.stringify(monthOf('h', 30))], endedOf('ho', 20), ['licence', '{}']],
    },
    [
      ['new', shareOf(monthOf('n', 400), ['p', 'q'])],
      ['here', shareOf(monthOf('h', 40), ['p'])],
    ],
  );
  assert.deepEqual(await counted(), [
    [10, 'go', 32],
    [11, 'g', 441],
  ]);
  assert.deepEqual(actives, [['p', 'q']]);
});

test('A month that has just ended counts once, before and after it is stored', async () => {
  const before = usageOf({ a: [[CURRENT, JSON.stringify(monthOf('o', 7, OCTOBER))]] }, [
    ['a', shareOf(monthOf('n', 1), [], [[...endedOf('o', 8)]])],
  ]);
  const after = usageOf({ a: [[CURRENT, JSON.stringify(monthOf('n', 0))], endedOf('o', 8)] }, [
    ['a', shareOf(monthOf('n', 1))],
  ]);
  for (const { counted } of [before, after]) {
    assert.deepEqual(await counted(), [
      [10, 'o', 8],
      [11, 'n', 1],
    ]);
  }
});

test('Stored usage is parsed again if it has changed', async () => {
  const { counted, texts, usage } = usageOf({ a: [[CURRENT, JSON.stringify(monthOf('a', 1))]] }, []);
  assert.deepEqual(await counted(), [[11, 'a', 1]]);
  texts.get('a')?.set(CURRENT, JSON.stringify(monthOf('a', 2)));
  assert.deepEqual(await counted(), [[11, 'a', 2]]);
  const months = await usage.all();
  assert.deepEqual(
    months.map(({ id, year, month, statistics }) => [id, year, month, statistics.locationupdates_processed]),
    [['a', 2026, 11, 2]],
  );
});

test('Of old months that are no longer deleted, the last 24 are returned', async () => {
  const rows = Array.from({ length: 40 }, (_, index) => {
    const fromMs = Date.UTC(2020, index);
    return [`hub ${index}`, [[CURRENT, JSON.stringify(monthOf(`${index}`, 1, fromMs))]]] as const;
  });
  const { counted } = usageOf(Object.fromEntries(rows), []);
  const months = await counted();
  assert.deepEqual([months.length, months[0]?.[1], months.at(-1)?.[1]], [25, '15', '39']);
});
