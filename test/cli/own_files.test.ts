import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { refuseOwnFiles } from '../../src/cli/data/place.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { runCliIn } from './run_cli.ts';

const BACKUP = 'data.dat.v1.20261121T030452Z.bak';

/**
 * Ways to name a file of a database, and the file that each names. `folder` is the hub's, `other` is an empty one. Some
 * are tried with each command, the others with the check that all commands share.
 */
const WAYS: readonly { what: string; name(folder: string, other: string): string; is: string; asWhole?: boolean }[] = [
  { what: 'the database', name: (folder) => join(folder, 'data.dat'), is: 'data.dat', asWhole: true },
  { what: 'its log', name: (folder) => join(folder, 'data.dat-wal'), is: 'data.dat-wal' },
  { what: 'its shared memory', name: (folder) => join(folder, 'data.dat-shm'), is: 'data.dat-shm' },
  { what: 'a journal', name: (folder) => join(folder, 'data.dat-journal'), is: 'data.dat-journal' },
  { what: 'its lock', name: (folder) => join(folder, 'data.dat.lock'), is: 'data.dat.lock' },
  { what: 'the mark of its hub', name: (folder) => join(folder, 'data.dat.running'), is: 'data.dat.running' },
  { what: 'a backup', name: (folder) => join(folder, BACKUP), is: BACKUP },
  {
    what: 'a backup that is still to be made',
    name: (folder) => join(folder, 'data.dat.replaced.20261121T030452Z.bak'),
    is: 'data.dat.replaced.20261121T030452Z.bak',
  },
  { what: 'the copy of a restoration', name: (folder) => join(folder, 'data.dat.restored'), is: 'data.dat.restored' },
  {
    what: 'the database by a roundabout way',
    name: (folder) => `${folder}/./../${basename(folder)}//data.dat`,
    is: 'data.dat',
  },
  {
    what: 'a symbolic link to the database',
    name: (folder, other) => linked(join(folder, 'data.dat'), join(other, 'copy')),
    is: 'data.dat',
  },
  {
    what: 'a symbolic link to a log that is not there',
    name: (folder, other) => linked(join(folder, 'data.dat-journal'), join(other, 'copy')),
    is: 'data.dat-journal',
  },
  {
    what: 'two symbolic links after each other',
    name: (folder, other) => linked(linked(join(folder, 'data.dat-wal'), join(other, 'one')), join(other, 'two')),
    is: 'data.dat-wal',
    asWhole: true,
  },
  {
    what: 'the database in a folder that is a link',
    name: (folder, other) => join(linked(folder, join(other, 'there')), 'data.dat'),
    is: 'data.dat',
  },
  {
    what: 'a hard link to the database',
    name(folder, other) {
      linkSync(join(folder, 'data.dat'), join(other, 'copy'));
      return join(other, 'copy');
    },
    is: 'data.dat',
  },
  {
    what: 'a hard link to a backup',
    name(folder, other) {
      linkSync(join(folder, BACKUP), join(other, 'copy'));
      return join(other, 'copy');
    },
    is: BACKUP,
    asWhole: true,
  },
];

for (const isRunning of [false, true]) {
  test(`No command overwrites a file of the database ${isRunning ? 'of a running' : 'of a stopped'} hub`, async () => {
    const folder = temporaryFolder();
    new SqliteStore(join(folder, 'data.dat'), randomUUID).close();
    const hub = isRunning ? await HubProcess.start(folder) : undefined;
    if (hub === undefined) for (const ending of ['-wal', '-shm']) writeFileSync(join(folder, `data.dat${ending}`), '');
    writeFileSync(join(folder, BACKUP), 'precious');
    const ids: string[] = [];
    for (const { what, name, is, asWhole } of WAYS) {
      const id = randomUUID();
      if ((await hub?.post('/trackables', { id, type: 'omlox' }))?.status === 201) ids.push(id);
      const to = name(folder, temporaryFolder());
      const before = stateOf(folder);
      const database = join(folder, 'data.dat');
      const message = `Cannot write ${to}: it is ${join(folder, is)}, a file of the database ${database}`;
      assert.throws(() => refuseOwnFiles(to, database), { message }, what);
      for (const args of asWhole
        ? [
            ['backup', to, '--overwrite'],
            ['export', to],
          ]
        : []) {
        const { code, out, err } = await runCliIn(folder, ...args);
        assert.deepEqual([code, out, err], [1, '', `${message}\n`], `${what}: ${args.join(' ')}`);
      }
      assert.deepEqual(stateOf(folder), before, what);
    }
    if (hub === undefined) return;
    await hub.crash();
    const again = await HubProcess.start(folder);
    assert.deepEqual(new Set((await again.get('/trackables'))?.body), new Set(ids));
    assert.equal(ids.length, WAYS.length);
    await again.stop();
  });
}

test('Other files in the folder of the database can be written, and are private to their owner', async () => {
  const folder = temporaryFolder();
  new SqliteStore(join(folder, 'data.dat'), randomUUID).close();
  mkdirSync(join(folder, 'backups'));
  for (const to of ['data.dat.mine', 'data.json', join('backups', 'data.dat')]) {
    for (const args of [
      ['backup', join(folder, to), '--overwrite'],
      ['export', join(folder, to)],
    ]) {
      const { code, err } = await runCliIn(folder, ...args);
      assert.equal(code, 0, err);
      assert.ok(process.platform === 'win32' || (statSync(join(folder, to)).mode & 0o777) === 0o600);
    }
  }
});

test('The temporary file of a backup is never a link to the database', async () => {
  const folder = temporaryFolder();
  new SqliteStore(join(folder, 'data.dat'), randomUUID).close();
  const before = readFileSync(join(folder, 'data.dat'));
  for (const command of ['backup', 'export']) {
    const to = join(temporaryFolder(), 'copy');
    symlinkSync(join(folder, 'data.dat'), `${to}.tmp`);
    const { code, err } = await runCliIn(folder, command, to);
    assert.deepEqual([code, existsSync(`${to}.tmp`)], [0, false], err);
    assert.deepEqual(readFileSync(join(folder, 'data.dat')), before);
  }
});

test('restore rejects the database itself, under any name', async () => {
  const folder = temporaryFolder();
  new SqliteStore(join(folder, 'data.dat'), randomUUID).close();
  const hard = join(temporaryFolder(), 'copy');
  linkSync(join(folder, 'data.dat'), hard);
  const soft = linked(join(folder, 'data.dat'), join(temporaryFolder(), 'copy'));
  for (const from of [join(folder, 'data.dat'), hard, soft]) {
    const { code, err } = await runCliIn(folder, 'restore', from);
    assert.match(err, /it cannot be restored from itself\n$/);
    assert.equal(code, 1);
  }
});

function linked(target: string, link: string): string {
  symlinkSync(target, link);
  return link;
}

/** Contents of each file of a stopped hub, and inodes of those of a running one, whose contents change. */
function stateOf(folder: string): unknown {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const { ino } = statSync(path);
      return [name, ino, name === BACKUP ? readFileSync(path, 'utf8') : undefined];
    });
}
