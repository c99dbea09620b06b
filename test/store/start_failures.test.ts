import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { StartupError } from '../../src/errors.ts';
import { SCHEMA_VERSION } from '../../src/store/migration/steps.ts';
import { openStore } from '../../src/store/open.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { mountedFolder } from '../durability/full_disk.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';

interface Failure {
  readonly when: string;
  /** Makes a path unusable, and returns the path to open. */
  spoil(folder: string): string;
  readonly says: RegExp;
}

const FAILURES: readonly Failure[] = [
  {
    when: 'its folder is missing',
    spoil: (folder) => join(folder, 'none', 'data.dat'),
    says: /folder .*does not exist/,
  },
  {
    when: 'its folder is a file',
    spoil(folder) {
      writeFileSync(join(folder, 'plain'), '');
      return join(folder, 'plain', 'data.dat');
    },
    says: /plain is not a folder/,
  },
  // No user can create files in /proc, not even root, to whom permission bits do not apply.
  {
    when: 'its folder accepts no files',
    spoil: () => '/proc/data.dat',
    says: /cannot be opened or created|may not be written/,
  },
  {
    when: 'the file is a folder',
    spoil(folder) {
      mkdirSync(join(folder, 'data.dat'));
      return join(folder, 'data.dat');
    },
    says: /it is a folder/,
  },
  {
    when: 'the file is no database',
    spoil: (folder) => written(folder, Buffer.from('these are some notes about tags, kept as text\n'.repeat(400))),
    says: /not a database/,
  },
  {
    when: 'the file is cut off',
    spoil(folder) {
      const path = filled(folder);
      truncateSync(path, 40_960);
      return path;
    },
    says: /it is damaged \(npm run hub -- restore FILE puts a backup in its place\)/,
  },
  {
    when: 'a page of the file is overwritten',
    spoil(folder) {
      const path = filled(folder);
      return written(folder, readFileSync(path).fill(0xa5, 16_384, 45_056));
    },
    says: /it is damaged \(npm run hub -- restore FILE puts a backup in its place\)/,
  },
  {
    when: 'the file belongs to another program',
    spoil: (folder) => database(folder, 'CREATE TABLE notes (text TEXT); PRAGMA application_id = 77'),
    says: /another program/,
  },
  {
    when: 'the file has tables but no owner',
    spoil: (folder) => database(folder, 'CREATE TABLE notes (text TEXT)'),
    says: /another program/,
  },
  {
    when: 'the file was written by a newer hub',
    spoil(folder) {
      filled(folder);
      return database(folder, 'PRAGMA user_version = 99');
    },
    says: new RegExp(`newer hub .*99.*\\b${SCHEMA_VERSION}\\b`),
  },
];

for (const { when, spoil, says } of FAILURES) {
  test(`SqliteStore reports in one line why it cannot start when ${when}, and leaves the file unchanged`, () => {
    const path = spoil(temporaryFolder());
    const before = contents(path);
    assert.throws(
      () => new SqliteStore(path, randomUUID),
      (error) => isLine(error, path, says),
    );
    assert.deepEqual(contents(path), before);
  });
}

test('openStore passes on the StartupError of its thread, and the file can be used afterwards', async () => {
  const path = written(temporaryFolder(), Buffer.from('no database'.repeat(100)));
  await assert.rejects(openStore({ path }), (error) => isLine(error, path, /not a database/));
  writeFileSync(path, '');
  const store = await openStore({ path });
  await store.close();
});

test('SqliteStore rejects opening a file twice, under any of its names', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  const first = new SqliteStore(path, randomUUID);
  const link = join(folder, 'link.dat');
  symlinkSync(path, link);
  for (const name of [path, link]) {
    assert.throws(
      () => new SqliteStore(name, randomUUID),
      (error) => isLine(error, name, /another hub/),
    );
  }
  first.commit({ entities: [{ kind: 'zone', id: 'a', text: '{}' }], rows: [] });
  first.close();
  new SqliteStore(link, randomUUID).close();
});

test('SqliteStore takes over the empty database of a hub that was killed while it created the file', () => {
  const path = database(temporaryFolder(), 'PRAGMA journal_mode = WAL');
  const store = new SqliteStore(path, () => 'made-now');
  assert.equal(store.load().hubId, 'made-now');
  store.close();
});

test('SqliteStore can be read by another program while it is open', () => {
  const path = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(path, randomUUID);
  store.commit({ entities: [], rows: [row(2)] });
  const reader = new Database(path, { readonly: true });
  assert.equal(reader.prepare('SELECT count(*) FROM row_log').pluck().get(), 1);
  reader.close();
  store.close();
});

function isLine(error: unknown, path: string, says: RegExp): true {
  assert.ok(error instanceof StartupError, `not a StartupError: ${String(error)}`);
  assert.match(error.message, says);
  assert.ok(error.message.includes(path), `does not name ${path}: ${error.message}`);
  assert.doesNotMatch(error.message, /[\r\n]|\.$/);
  return true;
}

function written(folder: string, bytes: Buffer): string {
  writeFileSync(join(folder, 'data.dat'), bytes);
  return join(folder, 'data.dat');
}

/** A hub's database of several pages. */
function filled(folder: string): string {
  const path = join(folder, 'data.dat');
  const store = new SqliteStore(path, randomUUID);
  store.commit({ entities: [], rows: Array.from({ length: 500 }, (_, number) => row(number)) });
  store.close();
  return path;
}

function database(folder: string, sql: string): string {
  const path = join(folder, 'data.dat');
  const made = new Database(path);
  made.exec(sql);
  made.close();
  return path;
}

function contents(path: string): Buffer | undefined {
  return existsSync(path) && !path.startsWith('/proc') && !isFolder(path) ? readFileSync(path) : undefined;
}

function isFolder(path: string): boolean {
  return existsSync(join(path, '.'));
}

const isRoot = process.getuid?.() === 0;

test('A database on a read-only or full disk is rejected in plain words', (context) => {
  const disks = [
    { options: 'ro', says: (folder: string) => `its folder ${folder} is on a read-only file system` },
    { options: 'size=4k', says: () => 'the disk is full' },
  ];
  for (const { options, says } of disks) {
    const folder = mountedFolder(context, options);
    if (folder === undefined) return context.skip('no file system can be mounted here');
    const path = join(folder, 'data.dat');
    const message = `Cannot use the database ${path}: ${says(folder)}`;
    assert.throws(() => new SqliteStore(path, randomUUID), { name: 'StartupError', message });
  }
});

/** Output of a process of another user that opens the database. */
function openedAs(uid: number, gid: number, path: string): string {
  const open = `import('${new URL('../../src/store/database_path.ts', import.meta.url)}')
    .then(({ databasePath }) => databasePath(${JSON.stringify(path)}))
    .then(() => 'opened', ({ message }) => message)
    .then((says) => process.stdout.write(says))`;
  return execFileSync(process.execPath, ['-e', open], { uid, gid, encoding: 'utf8' });
}

test('A database of another user is rejected with its owner, its mode and a command', {
  skip: !isRoot && 'only root can run a process as another user',
}, () => {
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  chownSync(folder, 1000, 1000);
  chmodSync(folder, 0o755);
  assert.equal(
    openedAs(4711, 0, path),
    `Cannot use the database ${path}: its folder ${folder} may not be written: it belongs to user 1000 and group 1000 with ` +
      `mode 755, and the hub runs as user 4711 and group 0; to let it, run chgrp -R 0 ${folder} && chmod -R g+rwX ${folder}`,
  );
  chownSync(folder, 1000, 0);
  chmodSync(folder, 0o2770);
  assert.equal(openedAs(4711, 0, path), 'opened');
  writeFileSync(path, '', { mode: 0o600 });
  assert.match(
    openedAs(4711, 0, path),
    /: it may not be read or written: it belongs to user 0 and group 0 with mode 600, /,
  );
  chownSync(path, 4711, 0);
  chmodSync(path, 0o400);
  assert.match(openedAs(4711, 0, path), new RegExp(`; to let it, run chmod u\\+rwX ${path}$`));
});
