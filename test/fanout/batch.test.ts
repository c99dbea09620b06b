import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DeliveryBatch, PAYLOAD_MAX_BYTES } from '../../src/fanout/batch.ts';

const json = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.integer({ min: 0, max: 40_000 }).map((length) => 'ä'.repeat(length)),
);

test('Batch returns its events, and any selection of them', () => {
  const texts = fc.array(json, { maxLength: 12 }).map((values) => values.map((value) => JSON.stringify(value)));
  fc.assert(
    fc.property(texts, fc.infiniteStream(fc.boolean()), (all, coin) => {
      const places = [...all.keys()].filter(() => coin.next().value);
      const batch = DeliveryBatch.of(all);
      assert.deepEqual(batch.strings, all);
      const chosen = batch.at(places);
      assert.deepEqual(
        chosen.strings,
        places.map((place) => all[place]),
      );
      for (const each of [batch, chosen]) {
        const payloads = each.payloads().map((payload) => Buffer.from(payload).toString());
        assert.equal(payloads.join(','), each.strings.join(','));
        for (const payload of payloads) {
          const isShort = Buffer.byteLength(payload) <= PAYLOAD_MAX_BYTES;
          assert.ok(isShort || JSON.parse(`[${payload}]`).length === 1, 'a long payload is one string');
        }
      }
    }),
    { seed: 3, numRuns: 200 },
  );
});
