import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { piecesOf, recordsOf } from '../../src/cluster/record_pieces.ts';

const records = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 });

test('records are what their pieces make up, without the last one where its end is missing', () => {
  fc.assert(
    fc.property(records, fc.integer({ min: 1, max: 20 }), fc.nat(3), (all, bytesMax, cut) => {
      const pieces = all.map((record) => piecesOf(record, bytesMax));
      const last = pieces.at(-1)?.length ?? 0;
      const missing = Math.min(cut, Math.max(0, last - 1));
      const kept = pieces.flat().slice(0, missing === 0 ? undefined : -missing);
      const whole = missing === 0 ? all : all.slice(0, -1);
      assert.deepEqual(recordsOf(kept).map(Buffer.from), whole.map(Buffer.from));
    }),
    { seed: 1, numRuns: 500 },
  );
});
