import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/store/backup.ts';
import { restore } from '../../src/store/restore.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';
import { makeVersion1 } from './version_1.ts';

const POSIX = { skip: process.platform === 'win32' && 'file modes are meaningless here' };

/** Names of the files in a folder, with their modes. */
function modesIn(folder: string): Record<string, string> {
  const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
  return Object.fromEntries(modes);
}

function allPrivate(folder: string, ...names: readonly string[]): void {
  const modes = modesIn(folder);
  for (const name of names) assert.ok(name in modes, `there is no ${name}`);
  assert.deepEqual(modes, Object.fromEntries(Object.keys(modes).map((name) => [name, '600'])));
}

test('A new database and its files are private to their owner, with any umask', POSIX, (context) => {
  const before = process.umask(0);
  context.after(() => process.umask(before));
  const folder = temporaryFolder();
  const store = new SqliteStore(join(folder, 'data.dat'), randomUUID);
  store.commit({ entities: [], rows: [row(1)] });
  allPrivate(folder, 'data.dat', 'data.dat-wal', 'data.dat-shm', 'data.dat.lock', 'data.dat.running');
  store.close();
});

test('Copies of a migration, a backup and a restoration are private to their owner', POSIX, async (context) => {
  const before = process.umask(0);
  context.after(() => process.umask(before));
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  makeVersion1(path, { rows: [row(1)] });
  new SqliteStore(path, randomUUID).close();
  writeFileSync(join(folder, 'copy.tmp'), 'of another program');
  await backUp(path, join(folder, 'copy'), { progress: () => undefined });
  restore(path, join(folder, 'copy'), { nowMs: 0 });
  allPrivate(folder, 'data.dat', 'data.dat.v1.19700101T000000Z.bak', 'copy', 'data.dat.replaced.19700101T000000Z.bak');
});

test('A start makes files private that others could read, and logs it in one line', POSIX, () => {
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  new SqliteStore(path, randomUUID).close();
  writeFileSync(`${path}.v1.19700101T000000Z.bak`, '', { mode: 0o644 });
  writeFileSync(join(folder, 'hub_config.yaml'), '', { mode: 0o644 });
  chmodSync(path, 0o640);
  const notices: string[] = [];
  new SqliteStore(path, randomUUID, { nowMs: 0, notice: (text) => notices.push(text) }).close();
  assert.equal(notices.length, 1);
  // SQLite gives its log the mode of the database.
  assert.match(
    notices[0] ?? '',
    /^Others could use data\.dat \(640\), .*data\.dat\.v1\.19700101T000000Z\.bak \(644\): now the owner alone can$/,
  );
  assert.equal(modesIn(folder)['data.dat'], '600');
  // Other files are not changed.
  assert.equal(modesIn(folder)['hub_config.yaml'], '644');
  new SqliteStore(path, randomUUID, { nowMs: 0, notice: (text) => assert.fail(text) }).close();
  assert.ok(existsSync(path));
});
