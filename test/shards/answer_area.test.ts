import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LastKnownRow } from '../../src/core/item.ts';
import { lend, look } from '../../src/model/borrowed.ts';
import { packInto, type ShardReply, unpackShardReply } from '../../src/wire/messages.ts';
import { packedRows } from '../../src/wire/store_messages.ts';

const TEXTS = [
  '',
  'ü',
  'ü'.repeat(20),
  '日本'.repeat(40),
  `${'a'.repeat(30)}é`,
  '😀'.repeat(300),
  `${'x'.repeat(70_000)}ß`,
];

function replyWith(text: string): ShardReply {
  const location = JSON.stringify({ text });
  const row: LastKnownRow = {
    kind: 'provider',
    id: text,
    receivedMs: 1,
    eventTimeMs: 2,
    location,
    memberships: [[text, 3]],
  };
  const counts = { processed: 1, outdated: 0, rejected: 0, outliers: 0, entries: 0, exits: 0, motions: 0 };
  const answers = [[1, { texts: [text] }]] as const;
  return {
    outcome: {
      rows: packedRows([row]),
      backgroundRows: packedRows([row]),
      effects: lend(Buffer.from(text)),
      dirtyCount: 0,
      answers,
      zoneMoves: [],
      counts,
      nextDeadlineMs: Infinity,
    },
    events: [
      { variant: 1, bytes: lend(Buffer.from(text)), ends: new Uint32Array([3]), fields: [[text, undefined, 4]] },
    ],
    motions: undefined,
  };
}

function plain({ outcome, events, motions }: ShardReply): unknown {
  return {
    outcome: {
      ...outcome,
      rows: [...outcome.rows],
      backgroundRows: [...outcome.backgroundRows],
      effects: Buffer.from(look(outcome.effects)).toString(),
    },
    motions,
    events: events.map((block) => ({ ...block, bytes: Buffer.from(look(block.bytes)).toString() })),
  };
}

for (const text of TEXTS) {
  test(`an answer with a string of ${text.length} characters is read from shared memory, and its strings stay valid`, () => {
    const area = new Uint8Array(new SharedArrayBuffer(1 << 20));
    const length = packInto(area, replyWith(text));
    assert.equal(typeof length, 'number');
    const reply = unpackShardReply(lend(area.subarray(0, length as number)));
    assert.deepEqual(plain(reply), plain(replyWith(text)));
    const { answers } = reply.outcome;
    area.fill(0);
    assert.deepEqual(answers, replyWith(text).outcome.answers, 'the next answer may have the same offset');
  });
}

test('an answer that does not fit into shared memory is sent as a message', () => {
  const area = new Uint8Array(new SharedArrayBuffer(1000));
  const bytes = packInto(area, replyWith('x'.repeat(2000)));
  assert.ok(bytes instanceof Uint8Array);
  assert.deepEqual(plain(unpackShardReply(lend(bytes))), plain(replyWith('x'.repeat(2000))));
});
