import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { HISTORY_TOPICS, type HistoryTopic } from '../../src/model/history.ts';
import { openTestHub } from '../support/running_hub.ts';
import { PostgresServer, whyNoPostgres } from './postgres_server.ts';
import { ANNA, walk } from './walk.ts';

const skip = whyNoPostgres() ?? false;
const ALL = { topics: HISTORY_TOPICS, fromMs: 0, toMs: Number.POSITIVE_INFINITY };
const LOOK_MS = 100;

async function countsIn(client: pg.Client): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const topic of HISTORY_TOPICS) {
    const { rows } = await client
      .query(`SELECT count(*)::int AS count FROM omlox_history.${topic}`)
      .catch(() => ({ rows: [] }));
    counts[topic] = (rows[0] as { count?: number } | undefined)?.count ?? 0;
  }
  return counts;
}

test('Recorded rows are in PostgreSQL exactly once, regardless of failures of the server', { skip }, async (t) => {
  const server = await PostgresServer.start();
  t.after(() => server.close());
  const hub = await openTestHub({
    ...{ history: true, history_flush_interval: 200, timescaledb_host: 'localhost', timescaledb_port: server.port },
    timescaledb_user: 'hub',
  });
  t.after(hub.close);
  const { history } = hub.hub;
  assert.ok(history);
  const recorded = () =>
    Object.fromEntries(HISTORY_TOPICS.map((topic: HistoryTopic) => [topic, history.counts(topic).recorded]));
  const arrives = async (): Promise<void> => {
    history.release((await history.files(ALL)).lease);
    for (;;) {
      const client = await server.client();
      const counts = await countsIn(client);
      await client.end();
      if (HISTORY_TOPICS.every((topic) => (counts[topic] ?? 0) >= (recorded()[topic] ?? 0))) {
        assert.deepEqual(counts, recorded());
        return;
      }
      await delay(LOOK_MS);
    }
  };
  await walk(hub, 10);
  await arrives();
  await server.kill();
  await walk(hub, 10);
  history.release((await history.files(ALL)).lease);
  await server.go();
  await arrives();
  const client = await server.client();
  const { rows } = await client.query(
    'SELECT id, longitude, latitude, source, zone_id FROM omlox_history.locations ORDER BY time, id LIMIT 1',
  );
  assert.deepEqual(rows, [{ id: 'a', longitude: 8, latitude: 50, source: 'hall', zone_id: null }]);
  const { rows: events } = await client.query('SELECT event FROM omlox_history.fence_events WHERE event_type = $1', [
    'region_exit',
  ]);
  assert.equal(JSON.parse(events[0].event).event_type, 'region_exit');

  // An erasure reaches the copy.
  const { motions, fence_events: fenceEvents } = await countsIn(client);
  const { body: erased } = await hub.delete(`/trackables/${ANNA}/history`);
  assert.ok(erased.motions > 0 && erased.fence_events > 0);
  const left = { motions: (motions ?? 0) - erased.motions, fence_events: (fenceEvents ?? 0) - erased.fence_events };
  for (;;) {
    const counts = await countsIn(client);
    if (counts['motions'] === left.motions && counts['fence_events'] === left.fence_events) break;
    await delay(LOOK_MS);
  }
  await client.end();
});

test('An unavailable database is reported, and affects nothing else', { skip }, async (t) => {
  const hub = await openTestHub({
    history: true,
    history_flush_interval: 200,
    timescaledb_host: '127.0.0.1',
    timescaledb_port: 1,
  });
  t.after(hub.close);
  await walk(hub, 3);
  while (!hub.logged.some(({ message }) => message === 'The history cannot be copied into the database'))
    await delay(LOOK_MS);
  const { status } = await hub.get('/history/snapshot');
  assert.equal(status, 200);
});
