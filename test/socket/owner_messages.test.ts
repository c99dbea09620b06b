import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksForHints, ConnectionOwners } from '../../src/socket/owner_messages.ts';

const [B, C] = [{ hub: 'b' }, { hub: 'c', url: 'http://c' }];
const WINDOW = 16;

/** Hints to a client whose messages are hinted at by these, in turn. */
function sentFor(owners: ConnectionOwners, ...hints: readonly ({ readonly hub: string } | undefined)[]) {
  const all = Array.from({ length: WINDOW }, (_, number) => owners.sent(hints[number % hints.length]));
  return all.filter((hint) => hint !== undefined);
}

test('A client gets a hint once another hub owns three quarters of its messages, and again when the hub changes', () => {
  const owners = new ConnectionOwners();
  assert.deepEqual(sentFor(owners, undefined), []);
  assert.deepEqual(sentFor(owners, undefined, B), []);
  assert.deepEqual(sentFor(owners, C, B), []);
  assert.deepEqual(sentFor(owners, undefined, B, B, B), [B]);
  assert.deepEqual(sentFor(owners, B), []);
  assert.deepEqual(sentFor(owners, undefined), []);
  assert.deepEqual(sentFor(owners, B), []);
  assert.deepEqual(sentFor(owners, C), [C]);
  assert.deepEqual(sentFor(owners, B), [B]);
});

test('A client asks for hints with a parameter of its URL', () => {
  const queries = [
    'owner_hints=true',
    'token=x&owner_hints=true',
    '',
    'owner_hints=false',
    'owner_hints',
    'hints=true',
  ];
  assert.deepEqual(queries.filter(asksForHints), ['owner_hints=true', 'token=x&owner_hints=true']);
});
