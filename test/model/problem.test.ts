import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grouped, problemOf } from '../../src/problem.ts';

for (const [value, text] of [
  [0, '0'],
  [12, '12'],
  [123, '123'],
  [1234, '1,234'],
  [-1234, '-1,234'],
  [-123456, '-123,456'],
  [1234567, '1,234,567'],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991'],
] as const) {
  test(`${value} with thousands separators is ${text}`, () => assert.equal(grouped(value), text));
}

test('The message of a problem names the field, the rule and the value found', () => {
  const problem = problemOf('below_minimum', { path: 'exit_delay', minimum: -1, found: '-3000' });
  assert.equal(String(problem), 'exit_delay: must be >= -1, found -3000');
  assert.equal(String(problem.at('fences[2].exit_delay')), 'fences[2].exit_delay: must be >= -1, found -3000');
});

test('The message of a problem shortens long values', () => {
  const problem = problemOf('below_minimum', { path: 'radius', minimum: 0, found: '-'.repeat(1000) });
  assert.equal(String(problem), `radius: must be >= 0, found ${'-'.repeat(77)}...`);
});
