import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentChanges } from '../../src/shards/recent_changes.ts';
import type { Configured } from '../../src/shards/shard_commands.ts';
import { provider, trackable } from '../threads/running_shards.ts';

function fence(name: string | undefined): Configured {
  const entity = { id: 'f', region: { type: 'Point' as const, coordinates: [0, 0] }, radius: 1, ...(name && { name }) };
  return { kind: 'fence', id: 'f', entity: name === undefined ? undefined : entity };
}

test('What has changed since a record is undone from the last change on, and told again from the first', () => {
  const changes = new RecentChanges(() => 0);
  changes.note({ config: 5, commands: [fence('a')] });
  const later = [
    { config: 7, commands: [fence('b'), trackable('t', ['p'])] },
    { config: 8, commands: [fence(undefined)] },
    { config: 9, commands: [fence('c')] },
  ];
  for (const each of later) changes.note(each);
  assert.deepEqual(changes.since(9), { undo: { config: 9, commands: [] }, again: [] });
  assert.deepEqual(changes.since(7), {
    undo: { config: 7, commands: [fence(undefined), fence('b')] },
    again: later.slice(1),
  });
  const { undo, again } = changes.since(5);
  const none = { kind: 'trackable', id: 't', entity: undefined };
  assert.deepEqual(undo, { config: 5, commands: [fence(undefined), fence('b'), none, fence('a')] });
  assert.deepEqual(again, later);
});

test('What there was when the hub began, and what has changed a minute ago, is not undone', () => {
  let nowMs = 0;
  const changes = new RecentChanges(() => nowMs);
  changes.note({ config: 5, commands: [fence('a')] });
  changes.note({ config: 6, commands: [fence('b')] });
  assert.deepEqual(changes.since(2).undo, { config: 5, commands: [fence('a')] });
  nowMs = 61_000;
  changes.note({ config: 7, commands: [fence('c')] });
  assert.deepEqual(changes.since(2).undo, { config: 6, commands: [fence('b')] });
});

test('A provider whose locations may have come before it is there all the same, with nothing of its own', () => {
  const changes = new RecentChanges(() => 0);
  changes.note({ config: 1, commands: [] });
  changes.note({ config: 2, commands: [provider('p', { fence_timeout: 5 })] });
  assert.deepEqual(changes.since(1).undo.commands, [provider('p')]);
});
