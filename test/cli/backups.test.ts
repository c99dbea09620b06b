import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { LastKnownRow } from '../../src/core/item.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { HubProcess, locationOf, randomFrom } from '../durability/hub_process.ts';
import { row } from '../store/rows.ts';
import { makeVersion1 } from '../store/version_1.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { runCliIn, startCliIn } from './run_cli.ts';

const zone = (id: string, text = `{"id":"${id}"}`) => ({ kind: 'zone' as const, id, text });

/** Folder of a stopped hub with some data. */
function filledFolder(...ids: readonly string[]): string {
  const folder = temporaryFolder();
  const store = new SqliteStore(join(folder, 'data.dat'), randomUUID);
  const rows = Array.from({ length: 500 }, (_, number) => row(number));
  store.commit({ entities: ids.map((id) => zone(id)), rows });
  store.close();
  return folder;
}

function zonesIn(path: string): string[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare("SELECT id FROM entity WHERE kind = 'zone' ORDER BY id").pluck().all() as string[];
  } finally {
    db.close();
  }
}

test('backup copies the database of a hub under load, and restore restores everything acknowledged before', async () => {
  const folder = temporaryFolder();
  const hub = await HubProcess.start(folder);
  const acknowledged: string[] = [];
  let isLoading = true;
  const load = Array.from({ length: 3 }, async (_, client) => {
    for (let number = 0; isLoading; number++) {
      const id = randomUUID();
      const { status } = (await hub.post('/trackables', { id, type: 'omlox', name: `${client} ${number}` })) ?? {};
      if (status === 201) acknowledged.push(id);
      await hub.put('/providers/locations', [
        locationOf(`tag ${client}`, number % 100),
        locationOf(`tag ${number}`, 5),
      ]);
    }
  });
  while (acknowledged.length < 100) await hub.get('/health');
  const before = [...acknowledged];
  const backup = join(temporaryFolder(), 'copy.bak');
  const { code, out } = await runCliIn(folder, 'backup', backup);
  assert.match(out, /^Backed up \S+data\.dat to \S+copy\.bak: [\d.]+ MB in [\d.]+ s, checked\n$/);
  assert.equal(code, 0);
  isLoading = false;
  await Promise.all(load);
  await hub.crash();
  assert.deepEqual(readdirSync(join(backup, '..')), ['copy.bak']);

  const other = temporaryFolder();
  const restored = await runCliIn(other, 'restore', backup);
  assert.equal(restored.code, 0, restored.err);
  assert.match(restored.out, /there was no previous database\n$/);
  const second = await HubProcess.start(other);
  const found = new Set((await second.get('/trackables'))?.body);
  assert.deepEqual(
    before.filter((id) => !found.has(id)),
    [],
  );
  await second.crash();
});

test('backup does not overwrite an existing file without permission', async () => {
  const folder = filledFolder('a');
  const to = join(temporaryFolder(), 'copy.bak');
  writeFileSync(to, 'precious');
  const refused = await runCliIn(folder, 'backup', to);
  assert.equal(refused.err, `Cannot write ${to}: it exists already; --overwrite replaces it\n`);
  assert.deepEqual([refused.code, readFileSync(to, 'utf8')], [1, 'precious']);
  assert.equal((await runCliIn(folder, 'backup', to, '--overwrite')).code, 0);
  assert.deepEqual(zonesIn(to), ['a']);
});

test('restore renames the database that it replaces', async () => {
  const folder = filledFolder('old');
  const to = join(temporaryFolder(), 'copy.bak');
  await runCliIn(filledFolder('new'), 'backup', to);
  const { code, out } = await runCliIn(folder, 'restore', to);
  const aside = /the previous one is (\S+)\n$/.exec(out)?.[1] ?? '';
  assert.equal(code, 0);
  assert.deepEqual([zonesIn(join(folder, 'data.dat')), zonesIn(aside)], [['new'], ['old']]);
});

test('restore replaces a damaged database, and deletes its log', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'data.dat'), 'no database at all');
  writeFileSync(join(folder, 'data.dat-wal'), 'its log');
  const from = join(filledFolder('new'), 'data.dat');
  const { code, out, err } = await runCliIn(folder, 'restore', from);
  const aside = /the previous one is (\S+)\n$/.exec(out)?.[1] ?? '';
  assert.deepEqual([code, zonesIn(join(folder, 'data.dat'))], [0, ['new']], err);
  assert.equal(readFileSync(aside, 'utf8'), 'no database at all');
  assert.equal(readFileSync(`${aside}-wal`, 'utf8'), 'its log');
  assert.equal(existsSync(join(folder, 'data.dat-wal')), false);
});

test('A backup or an export that cannot be written fails with one line, and leaves no file', async () => {
  const folder = filledFolder('a');
  const nowhere = join(folder, 'none', 'copy');
  for (const command of ['backup', 'export']) {
    const { code, err } = await runCliIn(folder, command, nowhere);
    assert.match(err.split('\n').at(-2) ?? '', /^Cannot write \S+none\/copy: /);
    assert.equal(code, 1, err);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => !/^data\.dat(\.lock|-wal|-shm)?$/.test(name)),
    [],
  );
});

const NO_BACKUPS: readonly { what: string; make(path: string): void; says: RegExp }[] = [
  { what: 'a file that is not there', make: () => undefined, says: /: there is no such file\n$/ },
  { what: 'a file that is no database', make: (path) => writeFileSync(path, 'x'.repeat(9000)), says: /not a database/ },
  { what: 'an empty file', make: (path) => writeFileSync(path, ''), says: /it is empty/ },
  {
    what: 'a database of another program',
    make: (path) => void new Database(path).exec('CREATE TABLE notes (text TEXT)').close(),
    says: /database of another program/,
  },
];

for (const { what, make, says } of NO_BACKUPS) {
  test(`restore rejects ${what} in one line and changes nothing`, async () => {
    const folder = filledFolder('a');
    const from = join(temporaryFolder(), 'copy.bak');
    make(from);
    const before = readFileSync(join(folder, 'data.dat'));
    const { code, out, err } = await runCliIn(folder, 'restore', from);
    assert.match(err.split('\n').at(-2) ?? '', new RegExp(says.source.replace('\\n$', '$')));
    assert.deepEqual([code, out], [1, '']);
    assert.deepEqual(readFileSync(join(folder, 'data.dat')), before);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('bak') || name.includes('restored')),
      [],
    );
  });
}

test('Commands that need a stopped hub are rejected in one line while a hub runs', async () => {
  const folder = temporaryFolder();
  const hub = await HubProcess.start(folder);
  const backup = join(temporaryFolder(), 'copy.bak');
  const document = join(temporaryFolder(), 'all.json');
  await runCliIn(folder, 'backup', backup);
  await runCliIn(folder, 'export', document);
  for (const args of [
    ['restore', backup],
    ['import', document],
  ]) {
    const { code, err } = await runCliIn(folder, ...args);
    assert.equal(
      err.split('\n').at(-2),
      `Cannot use the database ${join(folder, 'data.dat')}: another hub is using it`,
    );
    assert.equal(code, 1);
  }
  await hub.crash();
});

test('check lists the contents of an intact database, and exits with 0', async () => {
  const folder = filledFolder('a', 'b');
  const { code, out } = await runCliIn(folder, 'check');
  assert.match(out, /^zone 2, last locations 500$/m);
  assert.match(out, /^Note: 500 last locations are of objects that are not there$/m);
  assert.match(out, /\nNo problems found\n$/);
  assert.equal(code, 0);
});

test('check names unreadable rows, and exits with 1', async () => {
  const folder = filledFolder('a');
  const store = new SqliteStore(join(folder, 'data.dat'), randomUUID);
  store.commit({
    entities: [zone('bad', '{"id":'), zone('other', '{"id":"a"}')],
    rows: [
      { ...row(1), gone: false, location: 'x' } as LastKnownRow,
      { kind: 'collision', id: '["a","b"]', startMs: 1, bodies: '[' },
    ],
  });
  store.close();
  const { code, out, err } = await runCliIn(folder, 'check');
  assert.match(out, /^Problem: zone "bad" is no JSON$/m);
  assert.match(out, /^Problem: zone "other" has another id in its text$/m);
  assert.match(out, /^Problem: the last location of trackable "tag-1" cannot be read$/m);
  assert.match(out, /^Problem: the collision of \["a","b"\] cannot be read$/m);
  assert.match(out, /^Note: 1 collisions are of trackables that are not there$/m);
  assert.match(err, /is damaged: restore a backup with npm run hub -- restore FILE\n$/);
  assert.equal(code, 1);
});

test('migrate tries its steps on a copy first, and then applies them', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  makeVersion1(path, { entities: [zone('a')], rows: [row(2)] });
  const before = readFileSync(path);
  const tried = await runCliIn(folder, 'migrate', '--dry-run');
  assert.match(tried.out, /can be migrated \(tested on a copy, nothing was changed\) from version 1 to 8 in/);
  assert.match(tried.out, /\n {2}2\. Keep settings in a table of their own/);
  assert.deepEqual(readFileSync(path), before);
  assert.deepEqual(
    readdirSync(folder).filter((name) => !/^data\.dat(-wal|-shm)?$/.test(name)),
    [],
  );
  const taken = await runCliIn(folder, 'migrate');
  assert.match(taken.out, /was migrated from version 1 to 8 in/);
  assert.match((await runCliIn(folder, 'migrate')).out, /has the current version 8: nothing to migrate/);
  assert.equal(readdirSync(folder).filter((name) => name.endsWith('.bak')).length, 7);
  assert.deepEqual([tried.code, taken.code, zonesIn(path)], [0, 0, ['a']]);
  assert.ok(statSync(path).size > 0);
});

test('A migration that is killed at any moment is complete or has not happened, and the next one completes it', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  const entities = Array.from({ length: 20_000 }, (_, number) => zone(`zone-${number}`));
  makeVersion1(path, { entities, rows: Array.from({ length: 20_000 }, (_, number) => row(number)) });
  const random = randomFrom(7);
  for (let round = 0; round < 3; round++) {
    const { child, finished } = startCliIn(folder, 'migrate');
    // It is in progress from the first line on.
    await Promise.race([finished, once(child.stderr ?? child, 'data')]);
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * 300);
    await finished;
    clearTimeout(timer);
  }
  const store = new SqliteStore(path, randomUUID, { nowMs: Date.now() });
  const kept = store.load();
  store.close();
  assert.deepEqual([kept.entities.length, kept.rows.length], [20_000, 20_000]);
  assert.deepEqual(kept.entities, entities);
  assert.match((await runCliIn(folder, 'check')).out, /\nversion 8 \(current\).*\nNo problems found\n$/s);
});
