import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provider, RunningShards, trackable } from './running_shards.ts';

test('Shards whose steps cannot be committed reject reads and settle while objects migrate between them', async (t) => {
  let isCommitted = true;
  const running = new RunningShards({
    shards: 2,
    commitSteps: () => (isCommitted ? Promise.resolve() : Promise.reject(new Error('sealed'))),
  });
  t.after(() => running.close());
  const tags = [0, 1, 2, 3].map((number) => `tag ${number}`);
  running.tell(...tags.map((tag) => provider(tag)));
  for (const tag of tags) running.location(tag, [0, 0]);
  await running.settle();
  isCommitted = false;
  const refused = assert.rejects(running.read({ ask: 'provider_location', id: 'tag 0' }), {
    code: 'HUB_UNAVAILABLE',
    message: 'Cannot answer: this hub is out of its cluster',
  });
  // One trackable links all tags, so they all migrate to one shard.
  running.tell(trackable('cart', tags));
  await refused;
  await assert.rejects(running.shards.committed(), /sealed/);
});
