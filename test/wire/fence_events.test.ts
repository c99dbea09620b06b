import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { lend, look } from '../../src/model/borrowed.ts';
import { unpackJournalRecord } from '../../src/wire/journal_record.ts';
import { shardReply } from '../../workers/shard_reply.ts';
import { square } from '../support/hall.ts';
import { fence, inHall, ShardHarness, T0, zone } from '../support/shard_harness.ts';

test('The record of a step has its fence events where it is to tell them', async () => {
  for (const tells of [true, false]) {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'dock' })));
    const items = harness.items(1, inHall(1, [5, 5]));
    const batch = { nowMs: T0 + 1000, items, flushBudget: 0, recordedWith: { config: 4, tells } };
    const { record, outcome } = shardReply(harness.shard, batch, lend(new Uint8Array(3)));
    assert.ok(record);
    const read = unpackJournalRecord(zstdDecompressSync(look(record)));
    assert.ok(read.kind === 'step');
    assert.deepEqual([read.config, read.step.effects.length > 0], [4, true]);
    const events = read.fenceEvents?.map(([[, , provider], text]) => [provider, JSON.parse(text).fence_id]);
    assert.deepEqual(events, tells ? [['tag', 'dock']] : undefined);
    assert.ok(!('fenceEvents' in outcome), 'they do not cross to the front thread a second time');
  }
});
