import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BlockPacker, readBlock } from '../../src/cluster/fanout/event_block.ts';
import { MessageError } from '../../src/cluster/messages/codec.ts';
import { DeliveryBatch } from '../../src/fanout/batch.ts';
import { lend, look } from '../../src/model/borrowed.ts';
import { type EventBatch, joined } from '../../src/model/event_batch.ts';
import type { FilterFields } from '../../src/model/topics.ts';
import { diceOf } from '../support/dice.ts';

function batchOf(texts: readonly string[], fields?: readonly FilterFields[]): EventBatch {
  const { bytes, ends } = joined(texts);
  return { variant: 7, bytes: lend(bytes), ends, fields };
}

function textsOf({ bytes, ends }: EventBatch): string[] {
  return new DeliveryBatch(look(bytes), ends).strings;
}

const FIELD = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.boolean(),
  fc.constant(undefined),
);
const EVENTS = fc.array(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.array(FIELD)), { minLength: 1 });

test('readBlock reads any range of events of BlockPacker, with fields and positions and without', () => {
  const packer = new BlockPacker();
  fc.assert(
    fc.property(EVENTS, fc.boolean(), fc.boolean(), fc.nat(), (events, hasFields, isRecorded, cut) => {
      const texts = events.map(([text]) => text);
      const fields = hasFields ? events.map(([, each]) => each) : undefined;
      const positions = { shard: 3, step: 2 ** 33 + cut, indices: Uint32Array.from(texts, (_, i) => 2 * i) };
      const batch = { ...batchOf(texts, fields), ...(isRecorded && { positions }) };
      const at = cut % texts.length;
      const blocks = [
        [0, at],
        [at, texts.length],
      ].filter(([from = 0, to = 0]) => from < to);
      const read = blocks.map(([from = 0, to = 0]) =>
        readBlock(lend(Uint8Array.from(packer.pack(batch, from, to))), 7),
      );
      assert.deepEqual(read.flatMap(textsOf), texts);
      assert.deepEqual(
        read.flatMap((block) => block.fields ?? []),
        fields ?? [],
      );
      assert.deepEqual(
        read.flatMap((block) => [...(block.positions?.indices ?? [])]),
        isRecorded ? [...positions.indices] : [],
      );
      for (const block of read) {
        assert.deepEqual([block.variant, block.positions?.step], [7, isRecorded ? positions.step : undefined]);
      }
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('readBlock rejects malformed blocks with a MessageError', () => {
  const batch = batchOf(
    ['{"a":1}', '{"b":2}'],
    [
      ['a', 1],
      ['b', undefined],
    ],
  );
  const block = Buffer.from(new BlockPacker().pack(batch, 0, 2));
  for (let length = 0; length < block.length; length++) {
    assert.throws(() => readBlock(lend(block.subarray(0, length)), 7), MessageError);
  }
  const dice = diceOf(5);
  for (let i = 0; i < 20_000; i++) {
    const broken = Buffer.from(block);
    for (let flips = 1 + dice(3); flips > 0; flips--) broken[dice(broken.length)] = dice(256);
    try {
      const read = readBlock(lend(broken), 7);
      assert.equal(textsOf(read).length, read.ends.length);
    } catch (error) {
      assert.ok(error instanceof MessageError, String(error));
    }
  }
});
