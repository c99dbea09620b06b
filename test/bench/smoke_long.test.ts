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

test('bench measures a sink that does not answer, and delivers each event afterwards', { skip }, async () => {
  const result = await bench('--profile', 'dead-sink', '--seconds', '1', '--scale', '0.2');
  const { lost, undelivered, disordered, backlog = 0 } = result;
  assert.deepEqual({ lost, undelivered, disordered }, { lost: 0, undelivered: 0, disordered: 0 });
  assert.ok(backlog > 0, `${backlog} events waited`);
});

test('bench links three hubs, and each publishes each location once', { skip }, async () => {
  const result = await bench('--profile', 'links', '--seconds', '1', '--scale', '0.2', '--rate', '200');
  assert.deepEqual([result['lost'], result['repeated']], [0, 0]);
  assert.ok((result['equal_after_ms'] ?? Number.NaN) > 0);
});
