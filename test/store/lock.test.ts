import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const CHILD = new URL('./committing_child.ts', import.meta.url).pathname;

/** A process that opens a database, and reports that. */
async function holder(context: TestContext, path: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CHILD, 'hold', path], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => void child.kill('SIGKILL'));
  await once(child.stdout ?? assert.fail('no output'), 'data');
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Each way to get past the lock file, and the resulting path of the database. */
const WAYS: readonly { what: string; go(path: string, folder: string): string }[] = [
  {
    what: 'whose lock was removed',
    go(path) {
      rmSync(`${path}.lock`);
      return path;
    },
  },
  {
    what: 'under a hard link in another folder',
    go(path, folder) {
      linkSync(path, join(folder, 'data.dat'));
      return join(folder, 'data.dat');
    },
  },
  {
    what: 'under a symbolic link in another folder',
    go(path, folder) {
      symlinkSync(path, join(folder, 'data.dat'));
      return join(folder, 'data.dat');
    },
  },
  {
    what: 'in a folder under another name, whose lock was removed',
    go(path, folder) {
      symlinkSync(join(path, '..'), join(folder, 'there'));
      rmSync(`${path}.lock`);
      return join(folder, 'there', 'data.dat');
    },
  },
];

for (const { what, go } of WAYS) {
  test(`SqliteStore rejects the open database of another process, ${what}`, async (context) => {
    const path = join(temporaryFolder(), 'data.dat');
    // It was closed once, so that it has no log that another name would not have.
    new SqliteStore(path, randomUUID).close();
    const child = await holder(context, path);
    const name = go(path, temporaryFolder());
    for (const _ of [1, 2]) {
      assert.throws(() => new SqliteStore(name, randomUUID), {
        name: 'StartupError',
        message: new RegExp(`^Cannot use the database ${name}: another hub is using it`),
      });
    }
    await killed(child);
    const store = new SqliteStore(path, randomUUID);
    store.commit({ entities: [{ kind: 'zone', id: 'a', text: '{}' }], rows: [] });
    store.close();
  });
}

test('SqliteStore starts during a backup that began before its last hub was killed', async (context) => {
  const path = join(temporaryFolder(), 'data.dat');
  const child = await holder(context, path);
  const reader = new Database(path, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM entity').get();
  await killed(child);
  new SqliteStore(path, randomUUID).close();
  reader.close();
});

test('SqliteStore rejects a database in use if the lock is not that of its last hub', () => {
  const path = join(temporaryFolder(), 'data.dat');
  new SqliteStore(path, randomUUID).close();
  const reader = new Database(path, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM entity').get();
  // Renamed instead of deleted, so that its inode is not reused.
  renameSync(`${path}.lock`, `${path}.lock.old`);
  assert.throws(() => new SqliteStore(path, randomUUID), /another hub is using it, or another program$/);
  reader.close();
  new SqliteStore(path, randomUUID).close();
});
