import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { HISTORY_TOPICS, type HistoryHealth, type HistoryTopic } from '../../src/model/history.ts';
import { openTestHub } from '../support/running_hub.ts';
import type { TestHub } from '../support/test_hub.ts';
import { EVERYTHING, rowsBelow } from './recorded_places.ts';
import { walk } from './walk.ts';

const TOPICS_OF: Readonly<Record<HistoryTopic, string>> = {
  locations: 'location_updates',
  motions: 'trackable_motions',
  fence_events: 'fence_events',
  collision_events: 'collision_events',
};

function rowsOf(hub: TestHub, topic: HistoryTopic): Promise<readonly Record<string, unknown>[]> {
  return rowsBelow(join(hub.folder, 'history'), topic);
}

test('A hub with history records each location, motion and event that its subscribers receive', async (t) => {
  const hub = await openTestHub({ history: true, history_properties: true });
  t.after(hub.close);
  const recorders = await Promise.all(HISTORY_TOPICS.map((topic) => hub.subscribe(TOPICS_OF[topic])));
  await walk(hub, 20);
  await hub.hub.history?.files(EVERYTHING);
  for (const [i, topic] of HISTORY_TOPICS.entries()) {
    const rows = await rowsOf(hub, topic);
    assert.ok(rows.length > 0, topic);
    assert.equal(rows.length, recorders[i]?.events.length, topic);
  }
  const locations = await rowsOf(hub, 'locations');
  assert.deepEqual(
    locations.filter(({ id }) => id === 'b').map(({ properties }) => properties),
    Array.from({ length: 20 }, (_, turn) => `{"turn":${turn}}`),
  );
  const events = await rowsOf(hub, 'fence_events');
  const byId = (texts: readonly unknown[]) =>
    texts.map((text) => JSON.parse(String(text))).sort((a, b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(
    byId(events.map(({ event }) => event)),
    byId((recorders[2]?.events ?? []).map((event) => JSON.stringify(event))),
  );
  const { state, topics } = JSON.parse((await hub.get('/health/history')).text) as HistoryHealth;
  assert.equal(state, 'ok');
  assert.deepEqual(
    topics?.map(({ recorded }) => recorded),
    recorders.map(({ events: each }) => each.length),
  );
});

test('A hub writes all recorded rows before it exits', async (t) => {
  const hub = await openTestHub({ history: true, history_flush_interval: 600_000 }, {});
  t.after(hub.close);
  await walk(hub, 3);
  await hub.hub.close();
  assert.equal((await rowsOf(hub, 'locations')).length, 9);
});

test('A stationary object is in snapshots and heat maps, although history_min_distance thins its rows', async (t) => {
  const hub = await openTestHub({ history: true, history_min_distance: 5 });
  t.after(hub.close);
  const [fromMs, count, everyMs] = [Date.now() - 600_000, 300, 2000];
  const at = (ms: number): string => new Date(fromMs + ms).toISOString();
  await hub.put(
    '/providers/locations',
    Array.from({ length: count }, (_, i) => ({
      ...{ provider_id: 'p', provider_type: 'uwb', source: 's', crs: 'EPSG:4326' },
      ...{ position: { type: 'Point', coordinates: [8, 50] }, timestamp_generated: at(i * everyMs) },
    })),
  );
  await hub.settle();
  await hub.hub.history?.files(EVERYTHING);
  const rows = (await rowsOf(hub, 'locations')).length;
  assert.ok(rows < count / 10, `${rows} rows`);
  for (const ms of [100_000, 300_000, 598_000]) {
    const { body } = await hub.get(`/history/snapshot?kind=provider&at=${at(ms)}`);
    assert.deepEqual(
      (body.objects as { id: string }[]).map(({ id }) => id),
      ['p'],
    );
  }
  const { body } = await hub.get(`/analytics/heatmap?kind=provider&from=${at(0)}&to=${at(600_000)}&cell=10`);
  const seconds = (body.cells as { seconds: number }[]).reduce((sum, cell) => sum + cell.seconds, 0);
  assert.ok(seconds > 560 && seconds <= 600, `${seconds} s`);
});
