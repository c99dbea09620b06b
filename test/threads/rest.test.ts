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
  await running.shards.kept();
  const before = await lane?.memory();
  for (let second = 0; second < 15; second++) {
    lane?.flushInBackground();
    running.second++;
  }
  await running.shards.settled();
  const resting = await lane?.memory();
  assert.ok(resting && before && resting.heapUsedBytes >= before.heapUsedBytes, 'a pause of 14 s changes nothing');
  lane?.flushInBackground();
  await running.shards.settled();
  const [location] = (await running.read({ ask: 'provider_location', id: 'tag 7' })) ?? [];
  assert.deepEqual((location as { position: object }).position, { type: 'Point', coordinates: [...meters(199, 7)] });
  const tidied = await lane?.memory();
  assert.ok(tidied && before && tidied.heapUsedBytes < before.heapUsedBytes, `${before?.heapUsedBytes} bytes before`);
});
