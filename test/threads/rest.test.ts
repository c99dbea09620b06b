import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { meters, provider, RunningShards } from './running_shards.ts';

const running = new RunningShards({ shards: 1 });
// A thread's memory report does not prevent the process from exiting.
const awake = setInterval(() => undefined, 1000);
after(() => {
  clearInterval(awake);
  return running.close();
});

test('A worker that is idle for 15 s after a load releases memory, and retains its state', async () => {
  const [lane] = running.shards.lanes;
  running.tell(...Array.from({ length: 100 }, (_, index) => provider(`tag ${index}`)));
  for (let round = 0; round < 200; round++) {
    running.second++;
    for (let index = 0; index < 100; index++) running.location(`tag ${index}`, meters(round, index));
    await running.shards.settled();
  }
  await running.shards.committed();
  const before = await lane?.memory();
  for (let second = 0; second < 15; second++) {
    assert.equal(running.shards.flushInBackground(), true, 'memory is still to be released');
    running.second++;
  }
  await running.shards.settled();
  const resting = await lane?.memory();
  assert.ok(resting && before && resting.heapUsedBytes >= before.heapUsedBytes, 'a pause of 14 s changes nothing');
  assert.equal(running.shards.flushInBackground(), false, 'nothing is left to do');
  await running.shards.settled();
  const [location] = (await running.read({ ask: 'provider_location', id: 'tag 7' })) ?? [];
  assert.deepEqual((location as { position: object }).position, { type: 'Point', coordinates: [...meters(199, 7)] });
  const tidied = await lane?.memory();
  assert.ok(tidied && before && tidied.heapUsedBytes < before.heapUsedBytes, `${before?.heapUsedBytes} bytes before`);
});

test('A hub at rest has no periodic work until the next step of a shard, and flushes its rows then', async () => {
  const { shards } = running;
  await shards.committed();
  assert.equal(shards.flushInBackground(), false);
  const step = shards.nextStep();
  running.location('tag 1', meters(1, 1));
  await step;
  assert.equal(shards.flushInBackground(), true);
  await shards.settled();
  for (let round = 0; shards.flushInBackground(); round++) {
    assert.ok(round < 10, 'rounds end');
    running.second++;
    await shards.settled();
  }
});
