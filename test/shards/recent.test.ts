import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item, LastKnownRow } from '../../src/core/item.ts';
import { Recent } from '../../src/shards/recent.ts';
import { packBatch } from '../../workers/protocol.ts';
import { itemOf, locationAt, T0 } from '../support/shard_harness.ts';

/** A location of a provider that is received at a second and was generated then or at another. */
function location(provider: string, second: number, generated = second): Item {
  const telling = locationAt(generated, 9, 50, { provider_id: provider });
  return itemOf(telling, second, T0 + second * 1000);
}

function batchOf(items: readonly Item[]): Uint8Array {
  return packBatch({ nowMs: T0, items, flushBudget: 0 });
}

function noted(...items: readonly Item[]): string[] {
  const recent = new Recent();
  recent.hold(batchOf(items), items);
  recent.note();
  return recent.items().map(({ providerId: id, seq }) => `${id} ${seq}`);
}

const LATER = { seq: 9, receivedMs: T0 + 9000 };

test('Recent keeps the last location of each provider, in the order in which they came', () => {
  assert.deepEqual(noted(location('a', 1), location('b', 2), location('a', 3), location('c', 4)), [
    'b 2',
    'a 3',
    'c 4',
  ]);
});

test('Recent keeps the newest of a provider, not one that came later but was outdated', () => {
  assert.deepEqual(noted(location('a', 1), location('a', 5), location('a', 6, 2)), ['a 5']);
  assert.deepEqual(noted(location('a', 1, 99), location('a', 2, 1)), ['a 2'], 'a clock that runs ahead');
  assert.deepEqual(noted(location('a', 4, 3), location('a', 5, 3)), ['a 5'], 'equal keys');
});

const GONE: readonly { readonly by: string; readonly item: Item }[] = [
  { by: 'its deletion', item: { ...LATER, kind: 'forget', id: 'a' } },
  { by: 'the deletion of its provider', item: { ...LATER, kind: 'provider', id: 'a', entity: undefined } },
  { by: 'its move to another shard', item: { ...LATER, kind: 'exportState', id: 1, providers: ['a'], trackables: [] } },
  {
    by: 'its arrival from another shard',
    item: { ...LATER, kind: 'importState', state: { providers: [{ id: 'a' }], trackables: [] } },
  },
];

for (const { by, item } of GONE) {
  test(`Recent drops a location by ${by}, and takes the next`, () => {
    assert.deepEqual(noted(location('a', 1), location('b', 2), item), ['b 2']);
    assert.deepEqual(noted(location('a', 1), item, location('a', 10)), ['a 10']);
  });
}

test('Recent keeps a location over a change of its provider', () => {
  const change: Item = { ...LATER, kind: 'provider', id: 'a', entity: { id: 'a', type: 'uwb' } };
  assert.deepEqual(noted(location('a', 1), change), ['a 1']);
});

test('heardOf gives rows the time at which their object was heard of last', () => {
  const recent = new Recent();
  const two = [location('a', 7), location('b', 8)];
  recent.hold(batchOf(two), two);
  recent.note();
  const row = (kind: 'provider' | 'trackable', id: string): LastKnownRow => {
    return { kind, id, receivedMs: T0 + 2000, eventTimeMs: T0, location: '{}', memberships: [] };
  };
  const rows = [row('provider', 'a'), row('provider', 'c'), row('trackable', 'cart'), row('trackable', 'lift')];
  const heard = recent.heardOf(rows, (trackable) => (trackable === 'cart' ? ['a', 'b', 'c'] : ['c']));
  assert.deepEqual(
    heard.map((of) => of.gone !== true && (of.receivedMs - T0) / 1000),
    [7, 2, 8, 2],
  );
});

test('Recent drops what came before the mark when its rows are handed out, and nothing sooner', () => {
  const recent = new Recent();
  const note = (...items: readonly Item[]): void => {
    recent.hold(batchOf(items), items);
    recent.note();
  };
  const found = (): string[] => recent.items().map(({ providerId: id, seq }) => `${id} ${seq}`);
  note(location('a', 1), location('b', 2));
  recent.mark();
  note(location('a', 3));
  assert.deepEqual(found(), ['b 2', 'a 3']);
  recent.mark();
  note(location('c', 4));
  assert.deepEqual(found(), ['b 2', 'a 3', 'c 4'], 'the first round is not over');
  recent.dropMarked();
  assert.deepEqual(found(), ['a 3', 'c 4']);
  recent.mark();
  recent.dropMarked();
  assert.deepEqual(found(), []);
});

test('Recent forgets a batch that was held and has not finished', () => {
  const recent = new Recent();
  for (const item of [location('a', 1), location('b', 2)]) recent.hold(batchOf([item]), [item]);
  recent.note();
  assert.deepEqual(
    recent.items().map(({ seq }) => seq),
    [2],
  );
});
