import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HubError } from '../../src/errors.ts';
import { Cursors } from '../../src/events/event_log.ts';

const own = new Cursors('0b3c1f0e-5d2a-4a7e-9a53-7a1f6c1d2e3f');
const other = new Cursors('7f9d2c11-0000-4a7e-9a53-7a1f6c1d2e3f');

test('a cursor stands for its position, whatever the position', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (position) => {
      assert.equal(own.positionOf(own.at(position), 'after'), position);
    }),
  );
});

test('a cursor with any one character changed is rejected, and the error names it', () => {
  const letters = fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyz-');
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat(), letters, (position, at, letter) => {
      const cursor = own.at(position);
      const i = at % cursor.length;
      const damaged = cursor.slice(0, i) + letter + cursor.slice(i + 1);
      if (damaged === cursor) return;
      assert.throws(() => own.positionOf(damaged, 'after'), isBadCursor(damaged));
    }),
  );
});

for (const found of [
  '',
  'ev',
  'latest',
  '12',
  own.at(3).toUpperCase(),
  `${own.at(3)} `,
  other.at(3),
  'x'.repeat(100),
]) {
  test(`${JSON.stringify(found.slice(0, 30))} is no cursor of this hub`, () => {
    assert.throws(() => own.positionOf(found, 'after'), isBadCursor(found));
  });
}

test('a cursor of another hub is distinguished from a damaged one', () => {
  assert.throws(() => own.positionOf(other.at(3), 'after'), { reason: 'cursor_of_other_hub' });
  assert.throws(() => own.positionOf('ev-1', 'after'), { reason: 'cursor_unknown' });
});

function isBadCursor(found: string): (error: unknown) => boolean {
  return (error) => {
    assert(error instanceof HubError);
    assert.equal(error.status, 400);
    assert(error.message.includes(found.slice(0, 20)), error.message);
    return true;
  };
}
