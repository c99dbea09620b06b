import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fenceAround, meters, RunningShards, trackable } from './running_shards.ts';

const TIMEOUT = { timeout: 10_000 };

const running = new RunningShards({ shards: 2, batchMax: 1 });
after(() => running.close());

test('No deadline fires before an earlier location that is still queued in the lane', async () => {
  running.tell(fenceAround('fence', [0, 0], 20, TIMEOUT));
  for (const second of [0, 8, 16, 24]) {
    running.second = second;
    running.location('tag', meters(0, 0));
  }
  // All locations are queued while the clock advances.
  running.second = 100;
  await running.settle();
  assert.deepEqual(running.crossings(), ['entry provider tag fence', 'exit provider tag fence']);
  const [, exit] = running.events.filter(({ topic }) => topic === 'fence_events');
  assert.equal(exit?.['exit_time'], '2026-03-01T12:00:34.000Z');
});

test('No deadline fires before an earlier location that is queued behind a migration', async () => {
  const before = running.crossings().length;
  for (let index = 0; index < 8; index++) running.location(`tag ${index}`, meters(0, 0));
  await running.settle();
  running.second = 108;
  // Some tags migrate, and all locations wait for the migration.
  for (let index = 0; index < 8; index++) running.tell(trackable(`trackable ${index}`, [`tag ${index}`]));
  for (let index = 0; index < 8; index++) running.location(`tag ${index}`, meters(0, 0));
  running.second = 112;
  for (const { lane } of running.shards.lanes) lane.wake();
  await running.settle();
  const crossings = running.crossings().slice(before);
  assert.deepEqual(
    crossings.filter((crossing) => crossing.startsWith('exit')),
    [],
  );
});
