import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { EntityWrite } from '../../src/core/entity_write.ts';
import { StartupError } from '../../src/errors.ts';
import { openFile } from '../../src/store/database_file.ts';
import { migrate } from '../../src/store/migration/migrate.ts';
import { STEPS, type MigrationStep } from '../../src/store/migration/steps.ts';
import { openStore } from '../../src/store/open.ts';
import { readStored } from '../../src/store/read_stored.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { joinedParts } from '../../src/store/store.ts';
import type { Stage } from '../../src/wire/store_messages.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row, sorted } from './rows.ts';
import { HUB_ID, makeVersion1 } from './version_1.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 3, 4, 52);
const BACKUP = backupOf(1);
/** One copy for each version that a file of version 1 passes through. */
const BACKUPS = STEPS.slice(1).map(({ version }) => backupOf(version - 1));
const NEXT = STEPS.length + 1;

const zone = (id: string): EntityWrite => ({ kind: 'zone', id, text: `{"id":"${id}"}` });
const usage: EntityWrite = { kind: 'setting', id: 'usage', text: '{"month":11}' };
const rules: EntityWrite = { kind: 'setting', id: 'locating_rules', text: '[]' };
const ROWS = Array.from({ length: 2000 }, (_, number) => row(number));
const WRITTEN = {
  entities: [zone('b'), usage, zone('a'), rules, { ...zone('c'), kind: 'fence' as const }],
  rows: ROWS,
};

function old(folder: string): string {
  const path = join(folder, 'data.dat');
  makeVersion1(path, WRITTEN);
  return path;
}

test('SqliteStore migrates a file of version 1 to the current version, with all data', () => {
  const path = old(temporaryFolder());
  const store = new SqliteStore(path, randomUUID, { nowMs: NOW_MS });
  const kept = store.load();
  store.close();
  const { entities } = WRITTEN;
  assert.deepEqual(kept.entities, [entities[0], entities[2], entities[4], rules, usage]);
  assert.deepEqual(sorted(kept.rows), sorted(ROWS));
  assert.equal(kept.hubId, HUB_ID);
  assert.deepEqual(schemaOf(path), schemaOf(fresh(temporaryFolder())));
});

test('SqliteStore leaves a verified copy of the previous version, which an older hub could use', (context) => {
  const folder = temporaryFolder();
  new SqliteStore(old(folder), randomUUID, { nowMs: NOW_MS }).close();
  assert.deepEqual(readdirSync(folder).sort(), ['data.dat', ...BACKUPS, 'data.dat.lock'].sort());
  const copy = new Database(join(folder, BACKUP), { readonly: true });
  context.after(() => copy.close());
  assert.deepEqual(copy.pragma('integrity_check', { simple: true }), 'ok');
  assert.equal(copy.pragma('user_version', { simple: true }), 1);
  assert.equal(copy.pragma('application_id', { simple: true }), 0x6f6d6c48);
  assert.deepEqual(copy.prepare('SELECT kind, id, text FROM entity ORDER BY seq').all(), WRITTEN.entities);
  assert.equal(copy.prepare('SELECT count(*) FROM last_known').pluck().get(), ROWS.length);
});

test('A migration is recorded in the file, and a second start repeats none', (context) => {
  const folder = temporaryFolder();
  const path = old(folder);
  for (let start = 0; start < 2; start++) new SqliteStore(path, randomUUID, { nowMs: NOW_MS }).close();
  const db = new Database(path, { readonly: true });
  context.after(() => db.close());
  assert.deepEqual(
    db.prepare('SELECT * FROM migration').all(),
    STEPS.slice(1).map(({ version, name }, index) => {
      return { version, name, at_ms: NOW_MS, backup: join(folder, BACKUPS[index] ?? '') };
    }),
  );
  assert.equal(readdirSync(folder).filter((name) => name.endsWith('.bak')).length, BACKUPS.length);
});

test('A file of version 1 is migrated with the contents of a log that was not written back', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'data.dat');
  const source = join(temporaryFolder(), 'data.dat');
  makeVersion1(source, { entities: [zone('a')] });
  const db = new Database(source);
  db.pragma('wal_autocheckpoint = 0');
  db.exec("INSERT INTO entity (kind, id, text) VALUES ('zone', 'late', '{}')");
  // As after a crash.
  for (const ending of ['', '-wal']) copyFileSync(source + ending, path + ending);
  db.close();
  const store = new SqliteStore(path, randomUUID, { nowMs: NOW_MS });
  assert.deepEqual(
    store.load().entities.map(({ id }) => id),
    ['a', 'late'],
  );
  store.close();
});

const failing: MigrationStep = {
  version: NEXT,
  name: 'Fail after much was done',
  run(db) {
    db.exec('DELETE FROM entity; DELETE FROM last_known; CREATE TABLE half (done TEXT) STRICT');
    throw new Error('the step has met\nwhat it does not know');
  },
};

test('A failed step restores the copy and ends the start with one plain line; earlier steps persist', () => {
  const folder = temporaryFolder();
  const path = old(folder);
  const db = openFile(path);
  const again = () => migrate(db, { file: path, path, newId: randomUUID, nowMs: NOW_MS, steps: [...STEPS, failing] });
  const kept = join(folder, backupOf(STEPS.length));
  assert.throws(again, (error) => {
    assert.ok(error instanceof StartupError);
    assert.equal(
      error.message,
      `Cannot use the database ${path}: the migration to version ${NEXT} has failed: the step has met what it does not know; it was put back as it was, and ${kept} is a copy`,
    );
    return true;
  });
  assert.deepEqual(digest(path), digest(kept));
  const store = new SqliteStore(path, randomUUID);
  assert.equal(store.load().entities.length, WRITTEN.entities.length);
  assert.equal(store.load().rows.length, ROWS.length);
  store.close();
});

test('A step with a damaged result counts as failed', () => {
  const path = old(temporaryFolder());
  const db = openFile(path);
  const damaging: MigrationStep = {
    version: NEXT,
    name: 'Damage an index',
    run(db) {
      db.unsafeMode(true);
      db.pragma('writable_schema = ON');
      db.exec(
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'meta') WHERE name = 'setting'",
      );
      db.pragma('writable_schema = RESET');
    },
  };
  const steps = [...STEPS, damaging];
  assert.throws(
    () => migrate(db, { file: path, path, newId: randomUUID, nowMs: NOW_MS, steps }),
    new RegExp(`migration to version ${NEXT} has failed: .*damaged`),
  );
  new SqliteStore(path, randomUUID).close();
});

test('Nothing is migrated if no copy can be made', () => {
  const folder = temporaryFolder();
  const path = old(folder);
  const before = digest(path);
  // The folder of the copy does not exist.
  const file = join(folder, 'none', 'data.dat');
  const db = openFile(path);
  assert.throws(
    () => migrate(db, { file, path, newId: randomUUID, nowMs: NOW_MS }),
    /version 1 cannot be copied to .*none.*, so it is left as it is: /,
  );
  assert.deepEqual(digest(path), before);
});

test('Steps are reported in order, up to completion', async () => {
  const stages: Stage[] = [];
  const store = await openStore(
    { path: old(temporaryFolder()), startedMs: NOW_MS },
    { stage: (stage) => stages.push(stage) },
  );
  await store.close();
  assert.match(stages[0]?.text ?? '', /^Copying version 1 to .*\.bak$/);
  assert.ok(stages.some(({ text }) => text === `Migrating to version 2: ${STEPS[1]?.name}`));
  const parts = stages.map(({ part }) => part);
  assert.deepEqual(parts, parts.toSorted());
  assert.equal(parts.at(-1), 1);
});

test('The steps are numbered without a gap, and together they create a new file', () => {
  assert.deepEqual(
    STEPS.map(({ version }) => version),
    STEPS.map((_, index) => index + 1),
  );
  const folder = temporaryFolder();
  const stages: Stage[] = [];
  const path = join(folder, 'data.dat');
  const store = new SqliteStore(path, () => 'made', { nowMs: NOW_MS, stage: (stage) => stages.push(stage) });
  assert.deepEqual(store.load(), { entities: [], rows: [], hubId: 'made' });
  store.close();
  // There is nothing to copy.
  assert.deepEqual([stages, readdirSync(folder).sort()], [[], ['data.dat', 'data.dat.lock']]);
});

test('An incomplete copy is not a backup, and is replaced by the next one', () => {
  const folder = temporaryFolder();
  const path = old(folder);
  copyFileSync(path, join(folder, `${BACKUP}.tmp`));
  new SqliteStore(path, randomUUID, { nowMs: NOW_MS }).close();
  assert.ok(existsSync(join(folder, BACKUP)));
  assert.ok(!existsSync(join(folder, `${BACKUP}.tmp`)));
});

test('readKept reads a new file', (context) => {
  const db = new Database(fresh(temporaryFolder()), { readonly: true });
  context.after(() => db.close());
  assert.deepEqual(joinedParts(readStored(db, [])), { entities: [], rows: [] });
});

function backupOf(version: number): string {
  return `data.dat.v${version}.20261121T030452Z.bak`;
}

function fresh(folder: string): string {
  const path = join(folder, 'data.dat');
  new SqliteStore(path, randomUUID).close();
  return path;
}

function schemaOf(path: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    const made = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all() as {
      sql: string | null;
    }[];
    const spaced = made.map((each) => ({ ...each, sql: each.sql?.replaceAll(/\s+/g, ' ') }));
    return [db.pragma('user_version'), spaced];
  } finally {
    db.close();
  }
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
