import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { piecesOf, recordsOf } from '../../src/cluster/journal/record_pieces.ts';

const records = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 });

test('records are joined from their pieces, except for incomplete ones', () => {
  fc.assert(
    fc.property(records, fc.integer({ min: 1, max: 20 }), fc.nat(30), fc.nat(30), (all, bytesMax, before, behind) => {
      const pieces = all.flatMap((record, of) =>
        piecesOf(record, { bytesMax }).map((piece) => ({ of, piece: Buffer.concat(piece) })),
      );
      const kept = pieces.slice(before, Math.max(before, pieces.length - behind));
      const isWhole = (_: Uint8Array, of: number): boolean => {
        return pieces.every((each) => each.of !== of || kept.includes(each));
      };
      assert.deepEqual(
        recordsOf(kept.map(({ piece }) => piece)).map((record) => Buffer.from(record)),
        all.filter(isWhole).map((record) => Buffer.from(record)),
      );
    }),
    { seed: 1, numRuns: 1000 },
  );
});

test('a record that requires the next one is omitted without it', () => {
  const written = fc.array(fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.boolean()), { maxLength: 8 });
  fc.assert(
    fc.property(written, fc.integer({ min: 1, max: 20 }), fc.nat(30), (all, bytesMax, behind) => {
      const pieces = all.flatMap(([record, isWithNext], of) =>
        piecesOf(record, { bytesMax, isWithNext }).map((piece) => ({ of, piece: Buffer.concat(piece) })),
      );
      const kept = pieces.slice(0, Math.max(0, pieces.length - behind));
      const whole = all.slice(0, pieces[kept.length]?.of ?? all.length);
      const last = whole.findLastIndex(([, isWithNext]) => !isWithNext);
      assert.deepEqual(
        recordsOf(kept.map(({ piece }) => piece)).map((record) => Buffer.from(record)),
        whole.slice(0, last + 1).map(([record]) => Buffer.from(record)),
      );
    }),
    { seed: 1, numRuns: 1000 },
  );
});
