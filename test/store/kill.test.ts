import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const CHILD = new URL('./committing_child.ts', import.meta.url).pathname;

test('openStore retains every acknowledged commit when its process is killed during the next one', async () => {
  const path = join(temporaryFolder(), 'data.dat');
  for (const killAfter of [1, 40, 150]) {
    const child = start('commit', path);
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout ?? assert.fail('no output') })) {
      lines.push(line);
      if (lines.length === killAfter) child.kill('SIGKILL');
    }
    const acknowledged = Number(lines.at(-1));
    const store = new SqliteStore(path, randomUUID);
    const { entities, rows } = store.load();
    const { blocks } = store.logs.events.read(0, Infinity);
    store.close();
    const zones = new Set(entities.map(({ id }) => id));
    for (let number = 0; number <= acknowledged; number++) assert.ok(zones.has(`zone-${number}`), `zone-${number}`);
    // Commits are atomic: there are twenty times as many rows as entities.
    assert.equal(rows.length, entities.length * 20);
    const zoneOfEvent = (bytes: Uint8Array) => Buffer.from(bytes).toString().replace('event', 'zone');
    assert.deepEqual(new Set(blocks.map(({ bytes }) => zoneOfEvent(bytes))), zones);
    const database = new Database(path, { readonly: true });
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok');
    database.close();
  }
});

test('SqliteStore rejects a file in use by another process, and accepts it after that process was killed', async () => {
  const path = join(temporaryFolder(), 'data.dat');
  const child = start('hold', path);
  const ended = once(child, 'exit');
  await once(child.stdout ?? assert.fail('no output'), 'data');
  assert.throws(() => new SqliteStore(path, randomUUID), /another hub/);
  child.kill('SIGKILL');
  await ended;
  new SqliteStore(path, randomUUID).close();
});

function start(task: 'commit' | 'hold', path: string): ChildProcess {
  return spawn(process.execPath, [CHILD, task, path], { stdio: ['pipe', 'pipe', 'inherit'] });
}
