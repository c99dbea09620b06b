import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { openToRead } from '../../src/store/database_file.ts';
import { openStore } from '../../src/store/open.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';

const MIB = 1 << 20;
const rowsAt = (atMs: number) => Array.from({ length: 5000 }, (_, number) => row(number, { atMs }));

test('A log that a long read has protected from checkpoints frees its space after the read', async () => {
  const path = join(temporaryFolder(), 'data.dat');
  const store = await openStore({ path });
  await store.commit({ entities: [], rows: rowsAt(1) });
  const reader = openToRead(path);
  reader.exec('BEGIN');
  const before = reader.prepare('SELECT count(*), total(sum) FROM row_log').get();
  for (let commit = 2; commit < 32; commit++) await store.commit({ entities: [], rows: rowsAt(commit) });
  const held = statSync(`${path}-wal`).size;
  assert.ok(held > 64 * MIB, `the log has ${held} bytes`);
  // It reads one snapshot, regardless of concurrent writes.
  assert.deepEqual(reader.prepare('SELECT count(*), total(sum) FROM row_log').get(), before);
  reader.close();
  for (let commit = 32; commit < 48; commit++) await store.commit({ entities: [], rows: rowsAt(commit) });
  const { size } = statSync(`${path}-wal`);
  assert.ok(size < 32 * MIB, `the log has ${size} bytes`);
  await store.close();
});

test('A log that has grown is copied in one pass, and its space is freed', () => {
  const path = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(path, randomUUID);
  // The store thread calls work() after each commit; this test does not.
  for (let commit = 0; commit < 24; commit++) store.commit({ entities: [], rows: rowsAt(commit) });
  assert.ok(statSync(`${path}-wal`).size > 48 * MIB);
  store.work();
  store.commit({ entities: [], rows: [row(1)] });
  assert.ok(statSync(`${path}-wal`).size < 32 * MIB);
  store.close();
  const db = new Database(path, { readonly: true });
  assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  db.close();
});
