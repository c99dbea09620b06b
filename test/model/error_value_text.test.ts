import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ExactNumber } from '../../src/model/lossless_numbers.ts';
import { show } from '../../src/model/error_value_text.ts';

/** The whole JSON, shortened. */
function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

test('A value is displayed as the beginning of its JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => assert.equal(show(value), shortened(value))),
    { numRuns: 5000, seed: 3 },
  );
  for (const value of [
    { a: undefined, b: [undefined, new ExactNumber('1.50')] },
    { toJSON: 'a', a: 1 },
    '',
    'ä"'.repeat(60),
  ]) {
    assert.equal(show(value), shortened(value));
  }
  assert.equal(show(undefined), 'nothing');
});

test('Only the displayed part of a value is read', () => {
  const members: Record<string, unknown> = { list: Array.from({ length: 100 }, (_, i) => i) };
  Object.defineProperty(members, 'more', { enumerable: true, get: () => assert.fail('it was looked at') });
  assert.equal(show(members), shortened({ list: members['list'] }));
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  assert.equal(show(deep), `${'['.repeat(77)}...`);
});
