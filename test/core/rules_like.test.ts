import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { like } from '../../src/core/rules/operators.ts';

suite('like', () => {
  const CASES: readonly (readonly [text: string, pattern: string, matches: boolean])[] = [
    ['', '', true],
    ['', '%', true],
    ['', '_', false],
    ['abc', '%', true],
    ['abc', 'a%c', true],
    ['abc', 'a%b', false],
    ['abc', '_b_', true],
    ['abc', '__', false],
    ['aXbXc', '%x%X%', true],
    ['abab', '%ab', true],
    ['50%', '50%', true],
    ['É', 'é', false],
    ['\u{1F600}', '_', true],
    ['[a]', '[A]', true],
    ['@', '`', false],
    ['a\nb', 'a_b', true],
  ];
  for (const [text, pattern, expected] of CASES) {
    test(`${JSON.stringify(text)} LIKE ${JSON.stringify(pattern)} is ${expected}`, () => {
      assert.equal(like(text, pattern), expected);
    });
  }

  test('like equals a regular expression derived from the pattern', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '%', '_'), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (text, pattern) => {
        const source = pattern.replaceAll('%', '[^]*').replaceAll('_', '[^]');
        assert.equal(like(text, pattern), new RegExp(`^${source}$`, 'iu').test(text));
      }),
      { seed: 11, numRuns: 2000 },
    );
  });

  test('like takes at most length times length steps', () => {
    assert.equal(like('a'.repeat(4000), `${'%a'.repeat(1000)}%b`), false);
  });
});
