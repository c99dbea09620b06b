import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { lend, look } from '../../src/model/borrowed.ts';
import { readStoredRecord } from '../../src/wire/journal_record.ts';
import { shardReply } from '../../workers/shard_reply.ts';
import { square } from '../support/hall.ts';
import { fence, inHall, ShardHarness, T0, zone } from '../support/shard_harness.ts';

test('The record of a step with a position has its fence events, and so have its batches', async () => {
  for (const position of [{ shard: 1, step: 8 }, undefined]) {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'dock' })));
    const items = harness.items(1, inHall(1, [5, 5]));
    const batch = { nowMs: T0 + 1000, items, flushBudget: 0, recordedWith: { config: 4 }, position };
    const { record, outcome, events: batches } = shardReply(harness.shard, batch, lend(new Uint8Array(3)));
    assert.ok(record);
    const read = readStoredRecord(look(record), zstdDecompressSync);
    assert.ok(read.kind === 'step');
    assert.deepEqual([read.config, read.step.effects.length > 0], [4, true]);
    const events = read.fenceEvents?.map(({ event: [[, , provider], text], shard, step, index }) => {
      return [provider, JSON.parse(text).fence_id, shard, step, index];
    });
    assert.deepEqual(events, position && [['tag', 'dock', 1, 8, 0]]);
    const positions = batches.flatMap((batch) => (batch.positions === undefined ? [] : [batch.positions]));
    assert.deepEqual(positions, position === undefined ? [] : [{ ...position, indices: Uint32Array.of(0) }]);
    assert.ok(!('fenceEvents' in outcome), 'they do not cross to the front thread a second time');
  }
});
