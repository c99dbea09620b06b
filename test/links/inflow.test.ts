import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inflow } from '../../src/links/inflow.ts';
import type { PassedItem } from '../../src/links/passage.ts';
import { problemOf } from '../../src/problem.ts';
import { errorWith } from '../support/errors.ts';

const item = (object: number, n: number, topic: PassedItem['topic'] = 'location_updates'): PassedItem => {
  return { topic, key: `${topic} ${object}`, value: { object, n } };
};

/** An inflow whose hub accepts, or not, as the test says. */
function open() {
  const batches: (readonly object[])[] = [];
  const problems: string[] = [];
  const delays: number[] = [];
  const timers: (() => void)[] = [];
  const hub = { isFull: false, committed: undefined as Promise<void> | undefined, rejects: 0 };
  const inflow = new Inflow({
    accept(_topic, values) {
      if (hub.isFull) throw errorWith('HUB_UNAVAILABLE', 'full');
      batches.push(values);
      return {
        problems: Array.from({ length: hub.rejects }, () => problemOf('no_location')),
        committed: hub.committed,
      };
    },
    schedule(delayMs, callback) {
      delays.push(delayMs);
      timers.push(callback);
      return () => undefined;
    },
    problem: (why) => void problems.push(why),
  });
  /** Lets all timers fire, and everything that follows. */
  const run = async () => {
    for (let timer = timers.shift(); timer !== undefined; timer = timers.shift()) {
      timer();
      await new Promise(setImmediate);
    }
  };
  return { inflow, hub, batches, problems, delays, run };
}

test('Items that arrive together form one batch, and a topic has batches of its own', async () => {
  const { inflow, batches, run } = open();
  inflow.add([item(1, 1), item(2, 1)]);
  inflow.add([item(1, 2), item(1, 3, 'proximity_updates'), item(1, 4)]);
  await run();
  assert.deepEqual(
    batches.map((batch) => batch.map((value) => (value as { n: number }).n)),
    [[1, 1, 2], [3], [4]],
  );
  assert.deepEqual([inflow.counts.accepted, inflow.size], [5, 0]);
});

test('While a batch is being committed, the next one waits', async () => {
  const { inflow, hub, batches, run } = open();
  const commit = Promise.withResolvers<void>();
  hub.committed = commit.promise;
  inflow.add([item(1, 1)]);
  await run();
  inflow.add([item(1, 2)]);
  inflow.add([item(1, 3)]);
  await run();
  assert.deepEqual([batches.length, inflow.counts.accepted, inflow.size], [1, 0, 3]);
  commit.resolve();
  await new Promise(setImmediate);
  await run();
  assert.deepEqual([batches.length, batches[1]?.length, inflow.counts.accepted], [2, 2, 3]);
});

test('A batch that the hub cannot accept or commit is repeated after a delay', async () => {
  const { inflow, hub, delays, run } = open();
  hub.isFull = true;
  hub.committed = Promise.reject(errorWith('HUB_UNAVAILABLE', 'not committed'));
  hub.committed.catch(() => undefined);
  inflow.add([item(1, 1)]);
  const running = run();
  await new Promise(setImmediate);
  assert.deepEqual([delays.at(-1), inflow.size], [100, 1]);
  hub.isFull = false;
  await new Promise(setImmediate);
  hub.committed = undefined;
  await running;
  assert.deepEqual([inflow.counts.accepted, inflow.size], [1, 0]);
});

test('A full queue keeps the newest item of each object, and then drops the oldest', async () => {
  const { inflow, hub, batches, run } = open();
  hub.isFull = true;
  inflow.add(Array.from({ length: 30_000 }, (_, i) => item(i % 10, i)));
  assert.ok(inflow.size <= 20_000);
  hub.isFull = false;
  await run();
  const newest = new Map(batches.flat().map((value) => [(value as { object: number }).object, value]));
  assert.deepEqual([...newest.values()].map((value) => (value as { n: number }).n).sort(), [
    ...Array.from({ length: 10 }, (_, i) => 29_990 + i),
  ]);
  hub.isFull = true;
  inflow.add(Array.from({ length: 30_000 }, (_, i) => item(i, 0)));
  assert.ok(inflow.size <= 20_000);
  hub.isFull = false;
  await run();
  const { accepted, superseded, dropped } = inflow.counts;
  assert.equal(accepted + superseded + dropped, 60_000);
  assert.ok(dropped > 0 && superseded > 0);
});

test('Rejected items are counted with their reason, and closing drops what waits', async () => {
  const { inflow, hub, problems, run } = open();
  hub.rejects = 1;
  inflow.add([item(1, 1), item(2, 1)]);
  await run();
  assert.deepEqual([inflow.counts.accepted, inflow.counts.rejected, problems.length], [1, 1, 1]);
  inflow.add([item(1, 2)]);
  await inflow.close();
  inflow.add([item(1, 3)]);
  assert.deepEqual([inflow.counts.dropped, inflow.size], [1, 0]);
});
