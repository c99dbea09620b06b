import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item, LastKnownRow } from '../../src/core/item.ts';
import type { Borrowed } from '../../src/model/borrowed.ts';
import { ReplayLog } from '../../src/shards/replay_log.ts';
import { packBatch } from '../../src/wire/messages.ts';
import { itemOf, locationAt, T0 } from '../support/shard_harness.ts';

/** A location of a provider that is received at a second and was generated then or at another. */
function location(provider: string, second: number, generated = second): Item {
  const command = locationAt(generated, 9, 50, { provider_id: provider });
  return itemOf(command, second, T0 + second * 1000);
}

function batchOf(items: readonly Item[]): Borrowed {
  return packBatch({ nowMs: T0, items, flushBudget: 0 });
}

function noted(...items: readonly Item[]): string[] {
  const log = new ReplayLog();
  log.hold(batchOf(items), items);
  log.note();
  return log.items().map(({ providerId: id, seq }) => `${id} ${seq}`);
}

const LATER = { seq: 9, receivedMs: T0 + 9000 };

test('ReplayLog keeps the last location of each provider, in the order in which they came', () => {
  assert.deepEqual(noted(location('a', 1), location('b', 2), location('a', 3), location('c', 4)), [
    'b 2',
    'a 3',
    'c 4',
  ]);
});

test('ReplayLog keeps the newest of a provider, not one that came later but was outdated', () => {
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
  test(`ReplayLog drops a location by ${by}, and takes the next`, () => {
    assert.deepEqual(noted(location('a', 1), location('b', 2), item), ['b 2']);
    assert.deepEqual(noted(location('a', 1), item, location('a', 10)), ['a 10']);
  });
}

test('ReplayLog keeps a location over a change of its provider', () => {
  const change: Item = { ...LATER, kind: 'provider', id: 'a', entity: { id: 'a', type: 'uwb' } };
  assert.deepEqual(noted(location('a', 1), change), ['a 1']);
});

test('heardOf gives rows the time at which their object was heard of last', () => {
  const log = new ReplayLog();
  const two = [location('a', 7), location('b', 8)];
  log.hold(batchOf(two), two);
  log.note();
  const row = (kind: 'provider' | 'trackable', id: string): LastKnownRow => {
    return { kind, id, receivedMs: T0 + 2000, eventTimeMs: T0, location: '{}', memberships: [] };
  };
  const rows = [row('provider', 'a'), row('provider', 'c'), row('trackable', 'cart'), row('trackable', 'lift')];
  const heard = log.heardOf(rows, (trackable) => (trackable === 'cart' ? ['a', 'b', 'c'] : ['c']));
  assert.deepEqual(
    heard.map((of) => of.gone !== true && (of.receivedMs - T0) / 1000),
    [7, 2, 8, 2],
  );
});

test('ReplayLog drops what came before the mark when its rows are handed out, and nothing sooner', () => {
  const log = new ReplayLog();
  const note = (...items: readonly Item[]): void => {
    log.hold(batchOf(items), items);
    log.note();
  };
  const found = (): string[] => log.items().map(({ providerId: id, seq }) => `${id} ${seq}`);
  note(location('a', 1), location('b', 2));
  log.mark();
  note(location('a', 3));
  assert.deepEqual(found(), ['b 2', 'a 3']);
  log.mark();
  note(location('c', 4));
  assert.deepEqual(found(), ['b 2', 'a 3', 'c 4'], 'the first round is not over');
  log.dropMarked();
  assert.deepEqual(found(), ['a 3', 'c 4']);
  log.mark();
  log.dropMarked();
  assert.deepEqual(found(), []);
});

test('ReplayLog forgets a batch that was held and has not finished', () => {
  const log = new ReplayLog();
  for (const item of [location('a', 1), location('b', 2)]) log.hold(batchOf([item]), [item]);
  log.note();
  assert.deepEqual(
    log.items().map(({ seq }) => seq),
    [2],
  );
});
