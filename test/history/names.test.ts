import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InternedStrings } from '../../src/history/names.ts';

test('Names assigns one number to each string, in the order of arrival, regardless of surrounding bytes', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.nat(9).map(String),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 400 }), fc.nat(7), (texts, before) => {
      const names = new InternedStrings();
      const known = new Map([['', 0]]);
      for (const each of texts) {
        const number = known.get(each) ?? known.size;
        known.set(each, number);
        const bytes = Buffer.concat([Buffer.alloc(before, 1), Buffer.from(each), Buffer.alloc(before, 2)]);
        assert.equal(names.numberOf(bytes, before, bytes.length - before), number, each);
      }
      assert.deepEqual(names.all, [...known.keys()]);
    }),
    { numRuns: 200, seed: 1 },
  );
});

test('Names finds 100,000 strings again, and estimates their memory', () => {
  const names = new InternedStrings();
  const texts = Array.from({ length: 100_000 }, (_, i) => Buffer.from(`provider ${i}`));
  for (const round of [1, 2]) {
    for (const [i, bytes] of texts.entries()) assert.equal(names.numberOf(bytes, 0, bytes.length), i + 1, `${round}`);
  }
  assert.equal(names.all.length, 100_001);
  assert.ok(names.size > 100_000 * 14 && names.size < 100_000 * 100, `${names.size}`);
});
