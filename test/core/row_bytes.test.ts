import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoredRow } from '../../src/core/item.ts';
import { isOfSameObject, keyOf, ofKey, RowWriter, rowHash, rowKey } from '../../src/core/row_bytes.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { packedRows } from '../../src/wire/store_messages.ts';

const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((each) => each.isWellFormed());
const time = fc.double({ noNaN: true, noDefaultInfinity: true });
const kind = fc.constantFrom('provider' as const, 'trackable' as const);
const row: fc.Arbitrary<StoredRow> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('provider', 'trackable', 'collision'),
    id: text,
    gone: fc.constant(true as const),
  }),
  fc.record({ kind: fc.constant('collision' as const), id: text, startMs: time, bodies: text }),
  fc.record({
    kind,
    id: text,
    receivedMs: time,
    eventTimeMs: time,
    location: text,
    memberships: fc.array(fc.tuple(text, fc.integer())),
  }),
);

test('Rows survive serialization, and are found by their owner', () => {
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const packed = packedRows(rows);
      assert.deepEqual([packed.count, [...packed]], [rows.length, rows.map((each) => ({ ...each }))]);
      assert.equal(packedRows(packed), packed);
    }),
    { seed: 3, numRuns: 500 },
  );
});

test('Rows of one object have one key and one hash, regardless of their content', () => {
  fc.assert(
    fc.property(row, row, (a, b) => {
      const buffer = new RowWriter(newRecordBuffer);
      buffer.row(a);
      const [atA, atB] = [0, buffer.size];
      buffer.row(b);
      const isSame = a.kind === b.kind && a.id === b.id;
      assert.equal(isOfSameObject(buffer, atA, buffer, atB), isSame);
      assert.equal(rowKey(buffer, atA) === rowKey(buffer, atB), isSame);
      if (isSame) assert.equal(rowHash(buffer, atA), rowHash(buffer, atB));
      assert.deepEqual(ofKey(keyOf(a.kind, a.id)), [a.kind, a.id]);
    }),
    { seed: 4, numRuns: 500 },
  );
});

test('A row with an invalid time is reported by name', () => {
  const bad: StoredRow = {
    kind: 'trackable',
    id: 'cart',
    receivedMs: 1,
    eventTimeMs: Number.NaN,
    location: '{}',
    memberships: [],
  };
  assert.throws(
    () => packedRows([bad]).checkTimes(),
    /Cannot keep the row of trackable "cart": a time is not a number/,
  );
});
