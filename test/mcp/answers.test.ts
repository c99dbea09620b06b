import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANSWER_MAX_BYTES, ArgumentError, fittingItems, fittingObject, pageOf } from '../../src/mcp/answers.ts';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const items = fc.array(
  fc.record({ id: fc.string({ unit: 'binary' }), note: fc.string({ unit: 'binary', maxLength: 20_000, size: 'max' }) }),
  { maxLength: 30 },
);

test('The pages of a list have each item once, in order, and at most 25 kB', () => {
  fc.assert(
    fc.property(items, (list) => {
      const ids: unknown[] = [];
      for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
        const page = pageOf(list, cursor);
        assert.ok(bytesOf(page) <= ANSWER_MAX_BYTES, `${bytesOf(page)} bytes`);
        assert.ok(page.items.length > 0 || list.length === 0);
        ids.push(...page.items.map((item) => (item as { readonly id: string }).id));
        cursor = page.next_cursor;
      }
      assert.equal(ids.length, list.length);
    }),
    { seed: 1, numRuns: 50, endOnFailure: true },
  );
});

test('An item that does not fit has its id and the length of what is missing', () => {
  const item = { id: 'a', name: 'A', note: 'x'.repeat(30_000) };
  assert.deepEqual(fittingItems([item]), [{ id: 'a', name: 'A', omitted_bytes: bytesOf(item) + 1 }]);
});

test('An object that does not fit lacks its largest members, and names them', () => {
  assert.deepEqual(fittingObject({ a: 1, long: 'x'.repeat(30_000), b: 2 }), { a: 1, b: 2, omitted: ['long'] });
  assert.deepEqual(fittingObject({ a: 1, b: 2 }), { a: 1, b: 2 });
});

test('A cursor that is none is an error', () => {
  for (const cursor of ['', '-1', '1.5', 'next', '9'.repeat(20)])
    assert.throws(() => pageOf([], cursor), ArgumentError);
});
