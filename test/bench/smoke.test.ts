import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MOSQUITTO } from '../../bench/process/mosquitto.ts';

const CLI = new URL('../../bench/cli.ts', import.meta.url).pathname;
const MEMBERS = [
  ...['profile', 'offered_per_s', 'accepted_per_s', 'processed', 'lost', 'events', 'put_p50_ms', 'put_p99_ms'],
  ...['event_p50_ms', 'event_p99_ms', 'hub_cpu_s', 'generator_cpu_s', 'rss_mb', 'bare_per_s', 'ratio_to_bare'],
];

/** Runs the benchmark on a tiny scene, whose numbers are meaningless. */
async function bench(...args: readonly string[]): Promise<Record<string, number>> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args, '--json']);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

const skip = existsSync('/proc/self/stat') ? false : 'there is no /proc to read CPU times from';

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

const noBroker = MOSQUITTO === undefined ? 'there is no mosquitto' : skip;

test('bench sends locations by way of a broker, and finds all of them', { skip: noBroker }, async () => {
  const result = await bench('--profile', 'mqtt', '--seconds', '0.5', '--scale', '0.02', '--rate', '2000');
  const { lost, published_lost: published, lists_lost: lists, seen_per_s: seen = 0 } = result;
  assert.deepEqual({ lost, published, lists }, { lost: 0, published: 0, lists: 0 });
  assert.ok(seen > 0 && (result['bare_per_s'] ?? 0) > 0);
});

test('bench asks about a day of the past', { skip }, async () => {
  const result = await bench('--profile', 'past', '--scale', '0.005');
  assert.equal(result['rows'], 6 * 86_400);
  for (const name of ['trackable_hour', 'snapshot', 'fence_day']) assert.ok((result[`${name}_max_ms`] ?? 0) > 0, name);
});

test('bench says what it can measure when it is asked for something else', async () => {
  await assert.rejects(bench('--profile', 'nonsense'), /Allowed choices are single, batch, ws/);
});
