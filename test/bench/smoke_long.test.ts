import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOSQUITTO } from '../../bench/process/mosquitto.ts';
import { bench, skip } from './tiny_bench.ts';

const noBroker = MOSQUITTO === undefined ? 'there is no mosquitto' : skip;

test('bench sends locations through a broker, and finds all of them', { skip: noBroker }, async () => {
  const result = await bench('--profile', 'mqtt', '--seconds', '0.5', '--scale', '0.02', '--rate', '2000');
  const { lost, published_lost: published, lists_lost: lists, seen_per_s: seen = 0 } = result;
  assert.deepEqual({ lost, published, lists }, { lost: 0, published: 0, lists: 0 });
  assert.ok(seen > 0 && (result['bare_per_s'] ?? 0) > 0);
});

test('bench queries a day of the past', { skip }, async () => {
  const result = await bench('--profile', 'past', '--scale', '0.005');
  assert.equal(result['rows'], 6 * 86_400);
  for (const name of ['trackable_hour', 'snapshot', 'fence_day']) assert.ok((result[`${name}_max_ms`] ?? 0) > 0, name);
});
