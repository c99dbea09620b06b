import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredState, StoredPart } from '../../src/core/entity_write.ts';
import { beginReading, type Store } from '../../src/store/store.ts';
import { row } from './rows.ts';

const ENTITY = { kind: 'zone' as const, id: 'a', text: '{}' };

/** A store that returns parts on command, and completes with a value or an error. */
function slowStore() {
  let hear: (part: StoredPart) => void = () => undefined;
  const end = Promise.withResolvers<StoredState>();
  const store: Store = {
    load(read) {
      hear = read ?? hear;
      return end.promise;
    },
    commit: async () => undefined,
    close: async () => undefined,
  };
  return { store, say: (part: StoredPart) => hear(part), end };
}

async function rowsOf({ rows }: ReturnType<typeof beginReading>): Promise<string[]> {
  const found: string[] = [];
  for await (const part of rows) found.push(...part.map(({ id }) => id));
  return found;
}

test('entities are available with the first rows, and rows before all of them are read', async () => {
  const { store, say, end } = slowStore();
  const reading = beginReading(store);
  say({ entities: [ENTITY], rows: [] });
  say({ entities: [], rows: [row(1)] });
  assert.deepEqual(await reading.entities, [ENTITY]);
  const parts = reading.rows[Symbol.asyncIterator]();
  assert.deepEqual((await parts.next()).value, [row(1)]);
  const next = parts.next();
  say({ entities: [], rows: [row(2)] });
  assert.deepEqual((await next).value, [row(2)]);
  const all = { entities: [ENTITY], rows: [row(1), row(2)], hubId: 'x' };
  end.resolve(all);
  assert.equal((await parts.next()).done, true);
  assert.equal(await reading.all, all);
});

test('a store without rows has entities as soon as it is read', async () => {
  const { store, say, end } = slowStore();
  const reading = beginReading(store);
  say({ entities: [ENTITY], rows: [] });
  end.resolve({ entities: [ENTITY], rows: [], hubId: 'x' });
  assert.deepEqual(await reading.entities, [ENTITY]);
  assert.deepEqual(await rowsOf(reading), []);
});

test('an unreadable store rejects requests for entities and readers of rows', async () => {
  const early = slowStore();
  const reading = beginReading(early.store);
  early.end.reject(new Error('broken'));
  await assert.rejects(reading.entities, /broken/);
  await assert.rejects(reading.all, /broken/);

  const late = slowStore();
  const other = beginReading(late.store);
  late.say({ entities: [ENTITY], rows: [row(1)] });
  assert.deepEqual(await other.entities, [ENTITY]);
  late.end.reject(new Error('broken'));
  await assert.rejects(rowsOf(other), /broken/);
  await assert.rejects(other.all, /broken/);
});
