import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type Database from 'better-sqlite3';
import fc from 'fast-check';
import type { StoredRow } from '../../src/core/item.ts';
import { rowAt, rowKey } from '../../src/core/row_bytes.ts';
import { look } from '../../src/model/borrowed.ts';
import { readWritten } from '../../src/store/crash_detection.ts';
import { openFile } from '../../src/store/database_file.ts';
import { NewestRows } from '../../src/store/newest_rows.ts';
import { readStored } from '../../src/store/read_stored.ts';
import { RowLog } from '../../src/store/row_log.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { joinedParts } from '../../src/store/store.ts';
import { packedRows } from '../../src/wire/store_messages.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row, sorted } from './rows.ts';

/** About the size of four rows, so that nearly every commit exceeds it. */
const LONG_BYTES = 2000;
const PAIR = '["tag-1","tag-2"]';

type Step = { readonly do: 'commit'; readonly rows: readonly StoredRow[] } | { readonly do: 'work' | 'crash' | 'fold' };

const anyRow: fc.Arbitrary<StoredRow> = fc
  .tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 9 }))
  .map(([number, atMs, chance]): StoredRow => {
    if (chance === 0) return { kind: 'collision', id: PAIR, startMs: atMs, bodies: `["${atMs}"]` };
    if (chance === 1) return { kind: 'collision', id: PAIR, gone: true };
    const { kind, id } = row(number);
    return chance === 2 ? { kind, id, gone: true } : row(number, { atMs });
  });

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('commit' as const), rows: fc.array(anyRow, { maxLength: 6 }) }),
    },
    { weight: 6, arbitrary: fc.constant({ do: 'work' as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'fold' as const) }) },
  ),
  { maxLength: 60 },
);

function newDatabase(): { path: string; db: Database.Database } {
  const path = join(temporaryFolder(), 'data.dat');
  new SqliteStore(path, randomUUID).close();
  return { path, db: openFile(path) };
}

const logged = (db: Database.Database) => db.prepare('SELECT count(*) FROM row_log').pluck().get();

test('The last row of each object survives a kill, regardless of the times of folds', () => {
  fc.assert(
    fc.property(steps, (history) => {
      let { path, db } = newDatabase();
      let log = new RowLog(db, LONG_BYTES);
      let commits = 1;
      const model = new Map<string, StoredRow>();
      for (const step of history) {
        if (step.do === 'work') log.work();
        else if (step.do === 'fold') log.fold();
        else if (step.do === 'commit') {
          if (step.rows.length > 0) commits++;
          db.transaction(() => log.add(packedRows(step.rows), commits)).immediate();
          for (const each of step.rows) model.set(`${each.kind} ${each.id}`, each);
        } else {
          const copy = join(temporaryFolder(), 'data.dat');
          for (const ending of ['', '-wal']) copyFileSync(path + ending, copy + ending);
          db.close();
          path = copy;
          db = openFile(path);
          log = new RowLog(db, LONG_BYTES);
        }
        assert.equal(readWritten(db)?.commits, commits, step.do);
        const { rows } = joinedParts(readStored(db, []));
        assert.deepEqual(sorted(rows), sorted([...model.values()].filter(({ gone }) => gone !== true)), step.do);
      }
      log.fold();
      assert.equal(logged(db), 0);
      db.close();
    }),
    { seed: 14, numRuns: 60 },
  );
});

test('A long log is folded in pieces while it grows, and its size is bounded', () => {
  const { db } = newDatabase();
  const log = new RowLog(db, LONG_BYTES);
  let most = 0;
  for (let commit = 0; commit < 400; commit++) {
    const rows = Array.from({ length: 10 }, (_, number) => row((commit * 10 + number) % 70, { atMs: commit }));
    db.transaction(() => log.add(packedRows(rows), commit + 2)).immediate();
    log.work();
    most = Math.max(most, logged(db) as number);
  }
  assert.ok(most < 50, `${most} entries`);
  db.close();
});

test('A fold that fails leaves the log unchanged, and is retried with more rows', () => {
  const { db } = newDatabase();
  const log = new RowLog(db, LONG_BYTES);
  let commits = 1;
  const rows = packedRows([row(1), row(2), row(3), row(4), row(5), row(6)]);
  const commit = () => db.transaction(() => log.add(rows, ++commits));
  commit().immediate();
  db.exec("CREATE TRIGGER full BEFORE INSERT ON last_known BEGIN SELECT raise(ABORT, 'the disk is full'); END");
  assert.throws(() => {
    while (log.work());
  }, /the disk is full/);
  assert.deepEqual([logged(db), log.work(), joinedParts(readStored(db, [])).rows.length], [1, false, 6]);
  db.exec('DROP TRIGGER full');
  commit().immediate();
  while (log.work());
  assert.deepEqual([logged(db), joinedParts(readStored(db, [])).rows.length], [0, 6]);
  db.close();
});

test('A store reports that its log cannot be folded, and continues to store rows', () => {
  const path = join(temporaryFolder(), 'data.dat');
  const notices: string[] = [];
  const store = new SqliteStore(path, randomUUID, { nowMs: 0, notice: (text) => notices.push(text) });
  const other = openFile(path);
  other.exec("CREATE TRIGGER full BEFORE INSERT ON last_known BEGIN SELECT raise(ABORT, 'the disk is full'); END");
  other.close();
  const rows = Array.from({ length: 10_000 }, (_, number) => row(number));
  for (let commit = 0; commit < 10; commit++) {
    store.commit({ entities: [], rows });
    while (store.work());
  }
  assert.deepEqual(notices, ['Last locations stay in their log, which grows until this is mended: the disk is full']);
  assert.equal(store.load().rows.length, rows.length);
  store.close();
});

test('NewestRows finds the last row of each of many objects, in the order of the first', () => {
  const newest = new NewestRows();
  const model = new Map<string, StoredRow>();
  for (let batch = 0; batch < 30; batch++) {
    const rows = Array.from({ length: 1000 }, (_, number) => {
      const id = `${(batch * 577 + number * 31) % 9000}`;
      return { ...row(number, { atMs: batch * 1000 + number }), id };
    });
    for (const each of rows) model.set(`${each.kind} ${each.id}`, each);
    newest.add(Buffer.from(look(packedRows(rows).bytes)));
  }
  assert.deepEqual(
    Array.from(newest, ({ buffer, at }) => [rowKey(buffer, at), rowAt(buffer, at)]),
    [...model],
  );
});
