import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoredRow } from '../../src/core/item.ts';
import type { EntityWrite, StoredPart, StoreBatch } from '../../src/core/entity_write.ts';
import { joinedParts, type Store } from '../../src/store/store.ts';
import { row, sorted } from './rows.ts';

/** Opens a kind of store. Within a test, all calls of `open` open the same contents, which are empty at first. */
export interface StoreKind {
  readonly name: string;
  /** Why it cannot be tested here; false if it can. */
  readonly skip?: string | false;
  place(context: TestContext): { open(): Promise<Store> };
}

const zone = (id: string, text: string | undefined = `{"id":"${id}"}`): EntityWrite => ({ kind: 'zone', id, text });
const batch = ({ entities = [], rows = [] }: Partial<StoreBatch>): StoreBatch => ({ entities, rows });

const TEXTS: readonly (readonly [name: string, id: string, text: string])[] = [
  ['of many scripts', 'Zürich-東京-🏭', '{"name":"Halle ß, ホール, قاعة, 🏗️"}'],
  ['with quotes and line feeds', `it's "quoted"`, '{"a":"line\\nend","b":"\'; DROP TABLE entity; --"}'],
  ['with a zero character', 'a\0b', '{"a":"\\u0000"}\0'],
  ['of one megabyte', 'large', JSON.stringify({ text: 'é'.repeat(500_000) })],
  ['that are empty', '', ''],
];

/** Runs the contract tests for a kind of store. */
export function testStoreContract({ name, skip = false, place }: StoreKind): void {
  const testStore = (sentence: string, body: (open: () => Promise<Store>) => Promise<void>) =>
    test(`${name} ${sentence}`, { skip }, (context) => body(place(context).open));

  for (const [which, id, text] of TEXTS) {
    testStore(`returns strings ${which}`, async (open) => {
      const written = zone(id, text);
      await useThenReopen(open, (store) => store.commit(batch({ entities: [written] })));
      assert.deepEqual((await loaded(open)).entities, [written]);
    });
  }

  testStore('is empty at first and retains its hub id', async (open) => {
    const first = await useThenReopen(open, (store) => store.load());
    assert.deepEqual([first.entities, first.rows], [[], []]);
    assert.match(first.hubId, /^[0-9a-f-]{36}$/);
    assert.equal((await loaded(open)).hubId, first.hubId);
  });

  testStore('lists entities in the order of creation, across kinds, even after later changes', async (open) => {
    const made: EntityWrite[] = [zone('b'), { kind: 'fence', id: 'b', text: '1' }, zone('a'), zone('c')];
    await useThenReopen(open, async (store) => {
      for (const entity of made) await store.commit(batch({ entities: [entity] }));
      await store.commit(batch({ entities: [zone('b', '"new"')] }));
    });
    assert.deepEqual((await loaded(open)).entities, [zone('b', '"new"'), ...made.slice(1)]);
  });

  testStore('deletes entities, and appends one that is created again', async (open) => {
    await useThenReopen(open, async (store) => {
      await store.commit(batch({ entities: [zone('a'), zone('b'), zone('c')] }));
      const gone = (id: string): EntityWrite => ({ kind: 'zone', id, text: undefined });
      await store.commit(batch({ entities: [gone('a'), gone('b'), gone('unknown'), zone('a')] }));
    });
    assert.deepEqual((await loaded(open)).entities, [zone('c'), zone('a')]);
  });

  testStore('replaces and deletes settings', async (open) => {
    const setting = (id: string, text: string | undefined): EntityWrite => ({ kind: 'setting', id, text });
    await useThenReopen(open, async (store) => {
      await store.commit(batch({ entities: [setting('a', '1'), setting('b', '2')] }));
      await store.commit(batch({ entities: [setting('a', undefined), setting('b', '3'), setting('c', undefined)] }));
    });
    assert.deepEqual((await loaded(open)).entities, [setting('b', '3')]);
  });

  testStore('retains the row of a deleted entity until the batch deletes it', async (open) => {
    const provider: EntityWrite = { kind: 'provider', id: 'tag-2', text: '{}' };
    await useThenReopen(open, async (store) => {
      await store.commit(batch({ entities: [provider], rows: [row(2)] }));
      await store.commit(batch({ entities: [{ ...provider, text: undefined }] }));
      assert.deepEqual((await store.load()).rows, [row(2)]);
      await store.commit(batch({ rows: [{ kind: 'provider', id: 'tag-2', gone: true }] }));
    });
    assert.deepEqual(await loaded(open).then(({ entities, rows }) => [entities, rows]), [[], []]);
  });

  testStore('replaces rows by kind and id, with their memberships', async (open) => {
    const later = row(4, { atMs: 1_700_000_009_000 });
    const other = { ...row(4), kind: 'trackable' as const };
    await useThenReopen(open, async (store) => {
      await store.commit(batch({ rows: [row(4), other, row(5)] }));
      await store.commit(batch({ rows: [later, { kind: 'trackable', id: 'tag-5', gone: true }] }));
    });
    assert.deepEqual(sorted((await loaded(open)).rows), sorted([later, other]));
  });

  testStore('stores collisions next to rows, replaces them by their ids, and deletes ended ones', async (open) => {
    const collision = (id: string, startMs: number): StoredRow => {
      return { kind: 'collision', id, startMs, bodies: `["é ${startMs}"]` };
    };
    await useThenReopen(open, async (store) => {
      await store.commit(batch({ rows: [row(4), collision('["a","b"]', 1.5), collision('["a","c"]', 2)] }));
      await store.commit(
        batch({ rows: [collision('["a","b"]', 3), { kind: 'collision', id: '["a","c"]', gone: true }] }),
      );
      await assert.rejects(store.commit(batch({ rows: [collision('["b","c"]', Number.NaN)] })));
    });
    assert.deepEqual(sorted((await loaded(open)).rows), sorted([row(4), collision('["a","b"]', 3)]));
  });

  testStore('stores 10,000 rows of one batch', async (open) => {
    const rows = Array.from({ length: 10_000 }, (_, number) => row(number));
    await useThenReopen(open, (store) => store.commit(batch({ rows })));
    assert.deepEqual(sorted((await loaded(open)).rows), sorted(rows));
  });

  testStore('is read in parts that are complete together, all entities before the first row', async (open) => {
    const entities = Array.from({ length: 6000 }, (_, number) => zone(`z${number}`));
    const rows = Array.from({ length: 6000 }, (_, number) => row(number));
    await useThenReopen(open, (store) => store.commit(batch({ entities, rows })));
    const parts: StoredPart[] = [];
    const hubId = await useThenReopen(open, (store) => store.read((part) => parts.push(part)));
    const all = await loaded(open);
    assert.deepEqual(all.entities, entities);
    const joined = joinedParts(parts);
    assert.deepEqual([joined.entities, hubId], [entities, all.hubId]);
    // A wide-column database returns rows in any order.
    assert.deepEqual(sorted(joined.rows), sorted(rows));
    const firstRows = parts.findIndex((part) => part.rows.count > 0);
    assert.ok(parts.slice(firstRows + 1).every((part) => part.entities.length === 0));
  });

  testStore('accepts an empty batch', async (open) => {
    await useThenReopen(open, (store) => store.commit(batch({})));
    assert.deepEqual((await loaded(open)).entities, []);
  });

  testStore('applies nothing of a batch that fails, and accepts the next', async (open) => {
    const before = batch({ entities: [zone('a')], rows: [row(2)] });
    await useThenReopen(open, async (store) => {
      await store.commit(before);
      const bad = { ...row(6), eventTimeMs: Number.NaN };
      const entities = [zone('a', '"changed"'), zone('b')];
      await assert.rejects(store.commit(batch({ entities, rows: [row(2, { atMs: 1 }), row(4), bad] })));
      await store.commit(batch({ entities: [zone('c')] }));
    });
    const { entities, rows } = await loaded(open);
    assert.deepEqual(entities, [zone('a'), zone('c')]);
    assert.deepEqual(rows, before.rows);
  });

  testStore('serves calls in order, without a caller waiting for another', async (open) => {
    await useThenReopen(open, async (store) => {
      const first = store.commit(batch({ entities: [zone('a')] }));
      const between = store.load();
      await Promise.all([first, store.commit(batch({ rows: [row(2)] }))]);
      const { entities, rows } = await between;
      assert.deepEqual([entities, rows], [[zone('a')], []]);
      assert.deepEqual((await store.load()).rows, [row(2)]);
    });
  });

  testStore('rejects calls after it was closed', async (open) => {
    const store = await open();
    await store.close();
    await assert.rejects(store.load());
    await assert.rejects(store.commit(batch({ entities: [zone('a')] })));
  });
}

async function useThenReopen<T>(open: () => Promise<Store>, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await open();
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function loaded(open: () => Promise<Store>): ReturnType<Store['load']> {
  return useThenReopen(open, (store) => store.load());
}
