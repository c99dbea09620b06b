import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { MemoryStore } from '../../src/store/memory.ts';
import { openStore } from '../../src/store/open.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { copiedRows } from '../../src/wire/store_messages.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { testStoreContract } from './contract.ts';

testStoreContract({
  name: 'MemoryStore',
  place() {
    const store = new MemoryStore(randomUUID());
    return { open: async () => store.reopen() };
  },
});

testStoreContract({
  name: 'SqliteStore',
  place() {
    const path = join(temporaryFolder(), 'data.dat');
    return { open: async () => later(new SqliteStore(path, randomUUID)) };
  },
});

testStoreContract({
  name: 'openStore',
  place() {
    const path = join(temporaryFolder(), 'data.dat');
    return { open: () => openStore({ path }) };
  },
});

/** Adapts the synchronous store to the interface of the others. */
function later(store: SqliteStore): Store {
  return {
    load: async () => store.load(),
    async read(take) {
      for (const { entities, rows } of store.parts()) take({ entities, rows: copiedRows(rows) });
      return store.hubId;
    },
    commit: async (batch) => store.commit(batch),
    close: async () => store.close(),
  };
}
