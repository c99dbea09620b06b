import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { StoredRow } from '../../src/core/item.ts';
import type { EntityWrite, StoredState } from '../../src/core/entity_write.ts';
import { StartupError } from '../../src/errors.ts';
import { reportOn } from '../../src/store/report.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row, sorted } from './rows.ts';
import { makeVersion1 } from './version_1.ts';

const PLACES = 250;

const entity = (kind: EntityWrite['kind'], id: string) => ({ kind, id, text: `{"id":"${id}","name":"Name of ${id}"}` });
const ENTITIES = [entity('zone', 'hall'), entity('fence', 'dock'), entity('trackable', 'cart'), entity('zone', 'yard')];
const SETTING: EntityWrite = { kind: 'setting', id: 'usage', text: '{"month":"eleventh"}' };
const PAIR: StoredRow = { kind: 'collision', id: '["cart","lift"]', startMs: 5, bodies: '["where they met"]' };
/** Tags with a last location: enough that a third of the file is data, although the pages of both logs are empty. */
const TAGS = 90;
const ROWS = [...Array.from({ length: TAGS }, (_, number) => row(number)), PAIR];

function filled(): string {
  const path = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(path, () => 'the-id-of-this-hub');
  store.commit({ entities: [...ENTITIES, SETTING], rows: ROWS });
  store.close();
  // Excludes free pages of the row log, which are never read.
  const db = new Database(path);
  db.exec('VACUUM');
  db.close();
  return path;
}

/** Database of a killed hub, whose rows are still in the log. */
function killed(): string {
  const [path, copy] = [join(temporaryFolder(), 'data.dat'), join(temporaryFolder(), 'data.dat')];
  const store = new SqliteStore(path, () => 'the-id-of-this-hub');
  store.commit({ entities: ENTITIES, rows: ROWS.slice(0, 30) });
  store.commit({ entities: [], rows: ROWS.slice(30) });
  const db = new Database(path);
  db.pragma('wal_checkpoint(FULL)');
  db.close();
  copyFileSync(path, copy);
  store.close();
  return copy;
}

/** Changes one character of the first occurrence of a string in the file. */
function change(path: string, text: string): void {
  const bytes = readFileSync(path);
  const place = bytes.indexOf(text);
  assert.ok(place > 0, `${text} is not in the file`);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** State that a start loads. */
function served(path: string, more: { acceptLoss?: boolean; notice?(text: string): void } = {}): StoredState {
  const store = new SqliteStore(path, randomUUID, { nowMs: 0, ...more });
  try {
    return store.load();
  } finally {
    store.close();
  }
}

const DAMAGES: readonly { what: string; text: string; names: string; gone: (kept: StoredState) => boolean }[] = [
  {
    what: 'an entity',
    text: 'Name of dock',
    names: 'fence "dock" (entity)',
    gone: ({ entities }) => entities.length === 4 && entities.every(({ id }) => id !== 'dock'),
  },
  {
    what: 'a last location',
    text: '8.400012',
    names: 'last location of provider "tag-12" (last_known)',
    gone: ({ rows }) => rows.length === TAGS && rows.every(({ id }) => id !== 'tag-12'),
  },
  {
    what: 'a membership',
    text: '[["fence-24"',
    names: 'last location of provider "tag-24" (last_known)',
    gone: ({ rows }) => rows.length === TAGS && rows.every(({ id }) => id !== 'tag-24'),
  },
  {
    what: 'a collision',
    text: 'where they met',
    names: 'collision of ["cart","lift"] (collision)',
    gone: ({ rows }) => rows.length === TAGS && rows.every(({ kind }) => kind !== 'collision'),
  },
  {
    what: 'a setting',
    text: 'eleventh',
    names: 'setting "usage" (setting)',
    gone: ({ entities }) => entities.length === 4 && entities.every(({ kind }) => kind !== 'setting'),
  },
];

for (const { what, text, names, gone } of DAMAGES) {
  test(`A start names ${what} that has changed in the file, and continues without it with acceptLoss`, () => {
    const path = filled();
    change(path, text);
    const message =
      `Cannot use the database ${path}: 1 damaged row, ${names}: npm run hub -- restore FILE puts a backup in its place, ` +
      'npm start -- --accept-loss goes on with what is left';
    for (const _ of [1, 2]) assert.throws(() => served(path), new StartupError(message));
    const notices: string[] = [];
    const kept = served(path, { acceptLoss: true, notice: (said) => notices.push(said) });
    assert.deepEqual(notices, [`1 damaged row, ${names}: left out`]);
    assert.ok(gone(kept));
    // Then the damage has been removed.
    assert.deepEqual(served(path), kept);
    const db = new Database(path, { readonly: true });
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    db.close();
  });
}

test('A start names rows in the log that have changed in the file, and continues without them with acceptLoss', () => {
  const path = killed();
  const { counts, problems } = reportOn(path);
  assert.deepEqual([counts.get('last locations'), problems], [TAGS, []]);
  change(path, '8.400012');
  const names = 'last locations that were written together, entry 2 (row_log)';
  assert.deepEqual(reportOn(path).problems, [`${names} has changed since it was written`]);
  assert.throws(() => served(path), new RegExp(`1 damaged row, ${names.replaceAll(/[()]/g, '\\$&')}: npm`));
  const notices: string[] = [];
  const kept = served(path, { acceptLoss: true, notice: (said) => notices.push(said) });
  assert.deepEqual([notices, kept.rows.length], [[`1 damaged row, ${names}: left out`], ROWS.length - 30]);
  assert.deepEqual(inOrder(served(path)), inOrder(kept));
});

test('The check names blocks of the logs that have changed in the file', () => {
  const path = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(path, randomUUID);
  for (const first of [7, 10, 13]) {
    const bytes = Buffer.from(`events from ${first} on`);
    const block = { first, count: 3, timeMs: first };
    const entries = Buffer.from(`entries from ${first} on`);
    store.commit({ entities: [], rows: [], events: { ...block, bytes }, audit: { ...block, bytes: entries } });
  }
  store.close();
  assert.deepEqual(reportOn(path).problems, []);
  const segment = `${path}.events-0000000000000007`;
  change(segment, 'events from 10 on');
  change(path, 'entries from 13 on');
  assert.deepEqual(reportOn(path).problems, [
    `events 10 to 12 are lost: the block of 17 bytes at offset 32 of ${segment} has changed since it was written`,
    'audit entries 13 to 15 are lost: their block has changed since it was written',
  ]);
});

test('A start names ten of many damaged rows, and their number', () => {
  const path = filled();
  const db = new Database(path);
  db.exec("UPDATE last_known SET location = location || ' '");
  db.close();
  assert.throws(
    () => served(path),
    /: 90 damaged rows, last location of (.*, ){9}last location of \S+ "tag-9" .* and 80 more: npm/,
  );
});

test('A start fails if the id of the hub has changed in the file', () => {
  const path = filled();
  change(path, 'the-id-of-this-hub');
  assert.throws(() => served(path), /1 damaged row, the file's own "hub_id" \(meta\): npm/);
  served(path, { acceptLoss: true });
  served(path);
});

for (const [name, make] of [
  ['For any changed bit of the file, a start serves the stored data or reports in one line that it cannot', filled],
  ['Whatever bit of the file of a hub that was killed changes, the same holds', killed],
] as const) {
  test(name, () => {
    const path = make();
    const copy = join(temporaryFolder(), 'data.dat');
    const bytes = readFileSync(path);
    const whole = inOrder(served(path));
    let refusals = 0;
    for (let number = 0; number < PLACES; number++) {
      const place = Math.floor((number * bytes.length) / PLACES) + (number % 7);
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ (1 << (number % 8));
      for (const ending of ['-wal', '-shm', '.running']) rmSync(copy + ending, { force: true });
      writeFileSync(copy, changed);
      try {
        assert.deepEqual(inOrder(served(copy)), whole, `bit ${number % 8} of byte ${place}`);
      } catch (error) {
        assert.ok(error instanceof StartupError, `byte ${place}: ${String(error)}`);
        assert.doesNotMatch(error.message, /\n/);
        refusals++;
      }
    }
    // The rest of the file is free, or in indexes, which the check verifies.
    assert.ok(refusals > PLACES / 3, `only ${refusals} of ${PLACES} were detected`);
  });
}

test('A migration adds a checksum to each existing row', () => {
  const path = join(temporaryFolder(), 'data.dat');
  makeVersion1(path, {
    entities: [...ENTITIES, SETTING],
    rows: Array.from({ length: 60 }, (_, number) => row(number)),
  });
  const kept = served(path);
  assert.deepEqual([kept.entities.length, kept.rows.length], [5, 60]);
  change(path, 'Name of hall');
  assert.throws(() => served(path), /zone "hall" \(entity\)/);
});

test('Rows that are overwritten, deleted and written again have correct checksums', () => {
  const path = filled();
  const copy = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(path, randomUUID);
  const changed = [row(3, { atMs: 1_800_000_000_000.5 }), { kind: 'provider', id: 'tag-4', gone: true } as const];
  store.commit({ entities: [{ ...entity('zone', 'hall'), text: '{"id":"hall","name":"倉庫 🚚"}' }], rows: changed });
  store.commit({ entities: [{ ...SETTING, text: undefined }], rows: [row(4), PAIR] });
  store.close();
  copyFileSync(path, copy);
  const kept = served(copy);
  assert.deepEqual([kept.entities.length, kept.rows.length], [4, ROWS.length]);
});

function inOrder({ entities, rows, hubId }: StoredState) {
  return { entities, rows: sorted(rows), hubId };
}
