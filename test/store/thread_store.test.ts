import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { EntityWrite } from '../../src/core/entity_write.ts';
import { ThreadStore } from '../../src/store/open.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { openStoreThread, type StoreThread } from '../../src/store/store_thread.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';

const zone = (id: string): EntityWrite => ({ kind: 'zone', id, text: '{}' });

/** A store whose threads can be terminated by the test. */
async function openKillable() {
  const path = join(temporaryFolder(), 'data.dat');
  const threads: StoreThread[] = [];
  const open = async () => {
    const thread = await openStoreThread({ path });
    threads.push(thread);
    return thread;
  };
  return { path, threads, store: new ThreadStore(open, await open()) };
}

test('ThreadStore reopens its file after its thread has exited', async () => {
  const { threads, store } = await openKillable();
  await store.commit({ entities: [zone('a')], rows: [] });
  await threads[0]?.terminate();
  await store.commit({ entities: [zone('b')], rows: [] });
  assert.deepEqual((await store.load()).entities, [zone('a'), zone('b')]);
  assert.equal(threads.length, 2);
  await store.close();
});

test('ThreadStore repeats the commits during which its thread has exited, in order, on one new thread', async () => {
  const { threads, store } = await openKillable();
  const rows = Array.from({ length: 2000 }, (_, number) => row(number));
  const ids = ['a', 'b', 'c', 'd'];
  const commits = ids.map((id) => store.commit({ entities: [zone(id)], rows }));
  await threads[0]?.terminate();
  await Promise.all(commits);
  const kept = await store.load();
  assert.deepEqual(kept.entities, ids.map(zone));
  assert.equal(kept.rows.length, rows.length);
  assert.equal(threads.length, 2);
  await store.close();
});

test('ThreadStore rejects a partially received read when its thread exits, and continues', async () => {
  const { threads, store } = await openKillable();
  const rows = Array.from({ length: 60_000 }, (_, number) => row(number));
  await store.commit({ entities: [zone('a')], rows });
  let received = 0;
  const loading = store.read(({ entities }) => {
    received += entities.length;
    void threads[0]?.terminate();
  });
  await assert.rejects(loading, { name: 'StartupError', message: 'Cannot read the database: its thread has ended' });
  assert.equal(received, 1);
  assert.equal((await store.load()).rows.length, rows.length);
  await store.close();
});

test('ThreadStore rejects with the reason while its file cannot be reopened, and works once it can', async () => {
  const { path, threads, store } = await openKillable();
  await threads[0]?.terminate();
  const other = new SqliteStore(path, randomUUID);
  await assert.rejects(store.commit({ entities: [zone('a')], rows: [] }), /another hub is using it/);
  other.close();
  await store.commit({ entities: [zone('b')], rows: [] });
  assert.deepEqual((await store.load()).entities, [zone('b')]);
  await store.close();
});

test('ThreadStore passes on the code of an SQLite error', async () => {
  const { path, store } = await openKillable();
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  await assert.rejects(store.commit({ entities: [zone('a')], rows: [] }), { code: 'SQLITE_BUSY' });
  other.close();
  await store.close();
});

test('ThreadStore releases the file when it is closed, with its log written back', async () => {
  const { path, store } = await openKillable();
  await store.commit({ entities: [zone('a')], rows: [row(2)] });
  await Promise.all([store.close(), store.close()]);
  assert.equal(statSync(`${path}-wal`, { throwIfNoEntry: false }), undefined);
  new SqliteStore(path, randomUUID).close();
});

test('ThreadStore keeps the log bounded under sustained load', async () => {
  const { path, store } = await openKillable();
  let largest = 0;
  for (let commit = 0; commit < 40; commit++) {
    const rows = Array.from({ length: 5000 }, (_, number) => row(number, { atMs: 1_700_000_000_000 + commit }));
    await store.commit({ entities: [], rows });
    largest = Math.max(largest, statSync(`${path}-wal`).size);
  }
  await store.close();
  // 40 commits write about 110 MB of pages. The log is written back after a commit once it exceeds 4 MB.
  assert.ok(largest > 2 << 20 && largest < 16 << 20, `the log has grown to ${largest} bytes`);
});
