import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredPart } from '../../src/core/entity_write.ts';
import { beginReading, loadedFrom, type Store, type StoreReading } from '../../src/store/store.ts';
import { packedRows } from '../../src/wire/store_messages.ts';
import { row } from './rows.ts';

const ENTITY = { kind: 'zone' as const, id: 'a', text: '{}' };
const ENTITIES: StoredPart = { entities: [ENTITY], rows: packedRows([]) };
const rowPart = (number: number): StoredPart => ({ entities: [], rows: packedRows([row(number)]) });

/** A store that returns parts on command, and completes with its id or an error. */
function slowStore() {
  let take: (part: StoredPart) => void = () => undefined;
  const end = Promise.withResolvers<string>();
  const store: Store = {
    load: () => loadedFrom(store),
    read(taken) {
      take = taken;
      return end.promise;
    },
    commit: async () => undefined,
    close: async () => undefined,
  };
  return { store, say: (part: StoredPart) => take(part), end };
}

async function idsIn({ parts }: StoreReading): Promise<string[]> {
  const found: string[] = [];
  for await (const { entities, rows } of parts) found.push(...[...entities, ...rows].map(({ id }) => id));
  return found;
}

test('parts of a store are available while it is read', async () => {
  const { store, say, end } = slowStore();
  const reading = beginReading(store);
  say(ENTITIES);
  say(rowPart(1));
  const parts = reading.parts[Symbol.asyncIterator]();
  assert.deepEqual((await parts.next()).value.entities, [ENTITY]);
  assert.deepEqual([...(await parts.next()).value.rows], [row(1)]);
  const next = parts.next();
  say(rowPart(2));
  assert.deepEqual([...(await next).value.rows], [row(2)]);
  end.resolve('x');
  assert.equal((await parts.next()).done, true);
  assert.equal(await reading.hubId, 'x');
});

test('a store without rows has its entities', async () => {
  const { store, say, end } = slowStore();
  const reading = beginReading(store);
  say(ENTITIES);
  end.resolve('x');
  assert.deepEqual(await idsIn(reading), ['a']);
});

test('an unreadable store fails readers of its parts, even after some', async () => {
  const { store, say, end } = slowStore();
  const reading = beginReading(store);
  say(ENTITIES);
  const found = idsIn(reading);
  end.reject(new Error('broken'));
  await assert.rejects(found, /broken/);
  await assert.rejects(reading.hubId, /broken/);
});
