import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meters, RunningShards, trackable } from './running_shards.ts';

test('The collision worker starts when there is something to evaluate, and misses nothing from before', async (t) => {
  const running = new RunningShards({ shards: 2 });
  t.after(() => running.close());
  running.location('tag 0', meters(0, 0));
  await running.settle();
  assert.equal(await running.collisions.memory(), undefined);
  for (const cart of [0, 1]) running.tell(trackable(`cart ${cart}`, [`tag ${cart}`], { radius: 2 }));
  for (const cart of [0, 1]) running.location(`tag ${cart}`, meters(cart, 0));
  await running.settle();
  assert.ok(await running.collisions.memory());
  const found = running.events.filter(({ topic }) => topic === 'collision_events');
  assert.deepEqual(
    found.map(({ collision_type }) => collision_type),
    ['collision_start'],
  );
  assert.equal(running.counts.workerRestarts, 0);
});

test('The collision worker of a stage that is needed starts before the first motion', async (t) => {
  const running = new RunningShards({ shards: 1 });
  t.after(() => running.close());
  running.collisions.need();
  await running.settle();
  assert.ok(await running.collisions.memory());
});
