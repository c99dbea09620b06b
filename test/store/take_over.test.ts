import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { EntityWrite } from '../../src/core/entity_write.ts';
import { STEPS } from '../../src/store/migration/steps.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';
import { HUB_ID, makeVersion1 } from './version_1.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 3, 4, 52);
const ZONE: EntityWrite = { kind: 'zone', id: 'a', text: '{}' };

test('An old config.dat becomes data.dat, migrated, with a copy of it and of each version', () => {
  const folder = temporaryFolder();
  makeVersion1(join(folder, 'config.dat'), { entities: [ZONE], rows: [row(2)] });
  const store = new SqliteStore(join(folder, 'data.dat'), randomUUID, { nowMs: NOW_MS });
  assert.deepEqual(store.load(), { entities: [ZONE], rows: [row(2)], hubId: HUB_ID });
  store.close();
  assert.deepEqual(readdirSync(folder).sort(), [
    'config.dat.20261121T030452Z.bak',
    'data.dat',
    'data.dat.lock',
    ...STEPS.slice(1).map(({ version }) => `data.dat.v${version - 1}.20261121T030452Z.bak`),
  ]);
  const copy = new Database(join(folder, 'config.dat.20261121T030452Z.bak'), { readonly: true });
  assert.equal(copy.pragma('user_version', { simple: true }), 1);
  assert.equal(copy.prepare('SELECT id FROM entity').pluck().get(), 'a');
  copy.close();
});

test('A config.dat next to a data.dat is ignored', () => {
  const folder = temporaryFolder();
  new SqliteStore(join(folder, 'data.dat'), () => 'new').close();
  makeVersion1(join(folder, 'config.dat'), { entities: [ZONE] });
  const before = readFileSync(join(folder, 'config.dat'));
  const store = new SqliteStore(join(folder, 'data.dat'), randomUUID);
  assert.deepEqual(store.load(), { entities: [], rows: [], hubId: 'new' });
  store.close();
  assert.deepEqual(readFileSync(join(folder, 'config.dat')), before);
});

test('A config.dat that is not an SQLite database is ignored', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.dat'), 'color = blue\n');
  new SqliteStore(join(folder, 'data.dat'), randomUUID).close();
  assert.equal(readFileSync(join(folder, 'config.dat'), 'utf8'), 'color = blue\n');
});

test('A folder called config.dat is ignored', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'config.dat'));
  new SqliteStore(join(folder, 'data.dat'), randomUUID).close();
  assert.deepEqual(readdirSync(join(folder, 'config.dat')), []);
});

const REFUSED: readonly { what: string; spoil(path: string): void; says: RegExp }[] = [
  {
    what: 'of another program',
    spoil: (path) => made(path, 'CREATE TABLE zones (id TEXT)'),
    says: /config\.dat: it is a database of another program; without that file the hub starts with an empty database$/,
  },
  {
    what: 'of a newer hub',
    spoil(path) {
      makeVersion1(path, {});
      made(path, 'PRAGMA user_version = 99');
    },
    says: /config\.dat: it was written by a newer hub /,
  },
  {
    what: 'that is damaged',
    spoil: (path) => writeFileSync(path, `SQLite format 3\0${'x'.repeat(5000)}`),
    says: /config\.dat: it is (not a database|damaged)/,
  },
];

for (const { what, spoil, says } of REFUSED) {
  test(`A config.dat ${what} ends the start with one line, untouched, and no data.dat is created`, () => {
    const folder = temporaryFolder();
    const path = join(folder, 'config.dat');
    spoil(path);
    const before = readFileSync(path);
    assert.throws(() => new SqliteStore(join(folder, 'data.dat'), randomUUID), says);
    assert.deepEqual(readFileSync(path), before);
    assert.equal(existsSync(join(folder, 'data.dat')), false);
  });
}

test('A config.dat that another hub uses is rejected', () => {
  const folder = temporaryFolder();
  const other = new SqliteStore(join(folder, 'config.dat'), randomUUID);
  assert.throws(() => new SqliteStore(join(folder, 'data.dat'), randomUUID), /config\.dat: another hub is using it/);
  other.commit({ entities: [ZONE], rows: [] });
  other.close();
});

function made(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}
