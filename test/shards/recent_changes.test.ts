import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentChanges } from '../../src/shards/recent_changes.ts';
import type { ConfigCommand } from '../../src/shards/shard_commands.ts';
import { provider, trackable } from '../threads/running_shards.ts';

function fence(name: string | undefined): ConfigCommand {
  const entity = { id: 'f', region: { type: 'Point' as const, coordinates: [0, 0] }, radius: 1, ...(name && { name }) };
  return { kind: 'fence', id: 'f', entity: name === undefined ? undefined : entity };
}

/** A provider with this name. */
function tag(name: string | undefined): ConfigCommand {
  return name === undefined ? { kind: 'provider', id: 'p', entity: undefined } : provider('p', { name });
}

const THOSE = { providers: ['p'], trackables: ['t'] };
const NOTHING = { zones: [], fences: [], rules: false };

test('Changes of objects since a record are undone from the last, and applied again from the first', () => {
  const changes = new RecentChanges(() => 0);
  changes.note({ config: 5, commands: [tag('a'), provider('q')] });
  const later = [
    { config: 7, commands: [tag('b'), trackable('t', ['p'])] },
    { config: 8, commands: [tag(undefined), provider('q', { name: 'other' })] },
    { config: 9, commands: [tag('c')] },
    { config: 10, commands: [trackable('u', [])] },
  ];
  for (const each of later) changes.note(each);
  assert.deepEqual(changes.since(9, THOSE), { undo: { config: 9, commands: [] }, reapply: [], surroundings: NOTHING });
  // After the last of them, everything is known.
  const reapply = [
    { config: 8, commands: [tag(undefined)] },
    { config: 10, commands: [tag('c')] },
  ];
  const undo = { config: 7, commands: [provider('p'), tag('b')] };
  assert.deepEqual(changes.since(7, THOSE), { undo, reapply, surroundings: NOTHING });
  const none = { kind: 'trackable', id: 't', entity: undefined };
  assert.deepEqual(changes.since(5, THOSE), {
    undo: { config: 5, commands: [provider('p'), tag('b'), none, tag('a')] },
    reapply: [later[0], ...reapply],
    surroundings: NOTHING,
  });
  assert.deepEqual(changes.objectsSince(5), { providers: ['p', 'q'], trackables: [] });
});

test('State around objects is restored as it was at a record, regardless of the number of changes', () => {
  const changes = new RecentChanges(() => 0);
  changes.note({ config: 5, commands: [fence('a')] });
  changes.note({ config: 6, commands: [fence('b')] });
  changes.note({ config: 7, commands: [fence(undefined)] });
  changes.note({ config: 8, commands: [fence('c'), { kind: 'rules', rules: [] }] });
  const { undo, reapply, surroundings } = changes.since(5, THOSE);
  assert.deepEqual([undo.commands, reapply], [[], []]);
  const before = fence('a').kind === 'fence' && (fence('a') as ConfigCommand & { kind: 'fence' }).entity;
  assert.deepEqual(surroundings, { zones: [], fences: [['f', before]], rules: true });
  assert.deepEqual(changes.since(7, THOSE).surroundings.fences, [['f', undefined]]);
});

test('State from startup, and changes older than a minute, are not undone', () => {
  let nowMs = 0;
  const changes = new RecentChanges(() => nowMs);
  changes.note({ config: 5, commands: [tag('a')] });
  changes.note({ config: 6, commands: [tag('b')] });
  assert.deepEqual(changes.since(2, THOSE).undo, { config: 5, commands: [tag('a')] });
  nowMs = 61_000;
  changes.note({ config: 7, commands: [tag('c')] });
  assert.deepEqual(changes.since(2, THOSE).undo, { config: 6, commands: [tag('b')] });
});

test('A provider that may have been located before its creation exists anyway, without members of its own', () => {
  const changes = new RecentChanges(() => 0);
  changes.note({ config: 1, commands: [] });
  changes.note({ config: 2, commands: [provider('p', { fence_timeout: 5 })] });
  assert.deepEqual(changes.since(1, THOSE).undo.commands, [provider('p')]);
});
