import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { guarded, quoted, unguarded } from '../../src/model/csv.ts';

for (const [text, field] of [
  ['=1+1', "'=1+1"],
  ['+49 170 0000000', "'+49 170 0000000"],
  ['-Reserve-', "'-Reserve-"],
  ['@home', "'@home"],
  ['\t=1', "'\t=1"],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
  ['Cart =1', 'Cart =1'],
  ['', ''],
] as const) {
  test(`guarded returns ${JSON.stringify(field)} for ${JSON.stringify(text)}, and unguarded inverts it`, () => {
    assert.deepEqual([guarded(text), unguarded(field)], [field, text]);
  });
}

test('Any string is guarded from formulas and read back', () => {
  const text = fc.array(fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', 'a', '1'), { maxLength: 6 });
  fc.assert(
    fc.property(text, (characters) => {
      const written = guarded(characters.join(''));
      assert.doesNotMatch(written, /^[=+\-@\t\r]/);
      assert.equal(unguarded(written), characters.join(''));
    }),
    { seed: 21, numRuns: 2000 },
  );
});

test('quoted quotes values that a reader would split or trim', () => {
  const fields = ['a', 'a,b', 'a;b', 'a"b', 'a\nb', ' a', 'a ', '\ta'].map(quoted);
  assert.deepEqual(fields, ['a', '"a,b"', '"a;b"', '"a""b"', '"a\nb"', '" a"', '"a "', '"\ta"']);
});
