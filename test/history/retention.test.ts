import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryHealth } from '../../src/model/history.ts';
import { runCli, temporaryFile } from '../cli/run_cli.ts';
import { openTestHub } from '../support/running_hub.ts';
import type { TestHub } from '../support/test_hub.ts';
import { Bench, EVERYTHING, NOW_MS } from './recorded_places.ts';

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const WARNING = '199 hub "1 locations are older than history_retention_days and are not recorded in the history"';

function location(ageDays: number, more: object = {}) {
  return {
    ...{ provider_id: 'a', provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326' },
    ...{ position: { type: 'Point', coordinates: [8, 50] }, ...more },
    timestamp_generated: new Date(Date.now() - ageDays * DAY_MS).toISOString(),
  };
}

async function healthOf(hub: TestHub): Promise<HistoryHealth> {
  await hub.settle();
  const leased = await hub.hub.history?.files(EVERYTHING);
  if (leased !== undefined) hub.hub.history?.release(leased.lease);
  return (await hub.get('/health/history')).body;
}

test('Locations older than the retention are accepted with a warning, counted, logged and not recorded', async (t) => {
  const hub = await openTestHub({ history: true, history_retention_days: 30 });
  t.after(hub.close);
  const sendings: readonly [sent: string, path: string, body: unknown][] = [
    ['one scanned from its bytes', '/providers/a/location', location(40)],
    ['a list, scanned from its bytes', '/providers/locations', [location(39), location(1)]],
    ['a list that is parsed', '/providers/locations', [location(38, { elevation_ref: null, unusual: [1] })]],
    ['a long list', '/providers/locations', [location(37), ...Array.from({ length: 3000 }, () => location(1))]],
    ['a proximity', '/providers/b/proximity', undefined],
  ];
  await hub.post('/zones', {
    id: '55555555-5555-4555-8555-555555555555',
    ...{ type: 'rfid', foreign_id: 'gate', position: { type: 'Point', coordinates: [8, 50] }, radius: 1 },
  });
  const proximity = { provider_id: 'b', provider_type: 'rfid', source: 'gate' };
  let last = 0;
  for (const [sent, path, body = { ...proximity, timestamp_generated: location(36).timestamp_generated }] of sendings) {
    const { status, headers } = await hub.put(path, body);
    assert.equal(status, 204, sent);
    assert.equal(headers['warning'], WARNING, sent);
    last++;
  }
  const current = await hub.put('/providers/c/location', { ...location(0), provider_id: 'c' });
  assert.equal(current.headers['warning'], undefined);
  const { topics = [], recorded_since: since = '' } = await healthOf(hub);
  const locations = topics.find(({ topic }) => topic === 'locations');
  // Of the provider's own locations, those that are not outdated count: the three before the first of yesterday, and
  // the gate's.
  assert.equal(locations?.too_old, 3);
  assert.ok(last === sendings.length && (locations?.recorded ?? 0) > 0);
  const ageMs = Date.now() - Date.parse(since);
  assert.ok(ageMs >= 30 * DAY_MS && ageMs < 30 * DAY_MS + 2 * HOUR_MS, since);
  const warnings = hub.logged.filter(({ message }) => message.includes('history_retention_days'));
  assert.equal(warnings.length, 1);
  assert.match((await hub.get(`${hub.origin}/metrics`)).text, /^hub_history_too_old_total\{topic="locations"\} 3$/m);
});

test('A hub that retains history forever records the past without a warning', async (t) => {
  const hub = await openTestHub({ history: true, history_retention_days: null });
  t.after(hub.close);
  const { headers } = await hub.put('/providers/a/location', location(20_000));
  assert.equal(headers['warning'], undefined);
  const { topics = [], recorded_since: since } = await healthOf(hub);
  assert.equal(since, undefined);
  assert.equal(topics.find(({ topic }) => topic === 'locations')?.recorded, 1);
});

test('Recorder warns at the start of each run of outdated rows, and records the others', async (t) => {
  const bench = new Bench(t, { retentionMs: DAY_MS });
  const entry = (id: string, time: string) =>
    JSON.stringify({ id, event_type: 'region_entry', fence_id: 'gate', provider_id: 'a', entry_time: time });
  const send = (): void => {
    bench.add({ id: 'a', timeMs: bench.nowMs - DAY_MS - HOUR_MS }, { id: 'a', timeMs: bench.nowMs });
    bench.recorder.events('fence_events', [entry('old', '2020-01-01T00:00:00Z'), entry('new', '2026-03-01T10:00:00Z')]);
  };
  const warnings = () => bench.notices.filter((text) => text.includes('1 days (history_retention_days)')).length;
  await bench.done();
  send();
  assert.equal(warnings(), 1);
  await bench.pass(30_000);
  send();
  await bench.pass(30_000);
  assert.equal(warnings(), 1);
  for (let quiet = 0; quiet < 2; quiet++) await bench.pass(30_000);
  send();
  await bench.pass(30_000);
  assert.equal(warnings(), 2);
  const { locations, fence_events } = bench.state.topics;
  assert.deepEqual([locations.recorded, locations.tooOld, fence_events.recorded, fence_events.tooOld], [3, 3, 3, 3]);
  const rows = await bench.rows('locations', 'epoch_ms(time)::DOUBLE AS ms');
  assert.ok(rows.every(({ ms }) => Number(ms) >= NOW_MS));
});

test('replay warns before it sends locations that are older than the hub retains, unless it restamps them', async (t) => {
  const hub = await openTestHub({ history: true, history_retention_days: 1 });
  t.after(hub.close);
  const file = temporaryFile('old.ndjson', `${JSON.stringify(location(3))}\n`);
  const replay = (...more: string[]) =>
    runCli('replay', '--locations', file, '--speed', 'max', '--hub', hub.origin, ...more);
  const { code, err } = await replay();
  assert.equal(code, 0, err);
  assert.match(err, /^Warning: locations before \S+Z will not be in the history: .*history_retention_days/);
  assert.doesNotMatch((await replay('--restamp')).err, /Warning/);
});
