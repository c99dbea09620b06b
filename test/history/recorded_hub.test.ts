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

test('A hub with history records each location, motion and event that its subscribers get', async (t) => {
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
