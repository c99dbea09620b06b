import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, skip } from './tiny_bench.ts';

const MEMBERS = [
  ...['profile', 'offered_per_s', 'accepted_per_s', 'processed', 'lost', 'events', 'put_p50_ms', 'put_p99_ms'],
  ...['event_p50_ms', 'event_p99_ms', 'hub_cpu_s', 'generator_cpu_s', 'rss_mb', 'bare_per_s', 'ratio_to_bare'],
];

test('bench puts a hub under load, loses nothing, and ends with one JSON object', { skip }, async () => {
  const result = await bench('--profile', 'storm', '--seconds', '0.5', '--scale', '0.02');
  for (const member of MEMBERS) assert.ok(member in result, member);
  const { lost, processed = 0, events, events_missing: missing, outdated } = result;
  assert.deepEqual({ lost, missing, outdated }, { lost: 0, missing: 0, outdated: 0 });
  assert.ok(processed >= 460, `${processed} were processed`);
  assert.equal(events, processed, 'each update is an entry or an exit');
});

test('bench publishes over WebSocket at a given rate', { skip }, async () => {
  const result = await bench('--profile', 'ws', '--seconds', '0.5', '--scale', '0.02', '--rate', '2000');
  assert.equal(result['lost'], 0);
  assert.equal(result['offered_per_s'], 2000);
});

test('bench lists its profiles when an unknown one is requested', async () => {
  await assert.rejects(bench('--profile', 'nonsense'), /Allowed choices are single, batch, ws/);
});
