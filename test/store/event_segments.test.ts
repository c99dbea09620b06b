import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { backUp } from '../../src/store/backup.ts';
import { segmentPath, segmentsOf } from '../../src/store/event_segments.ts';
import { migrate } from '../../src/store/migration/migrate.ts';
import { STEPS } from '../../src/store/migration/steps.ts';
import { reportOn } from '../../src/store/report.ts';
import { restore } from '../../src/store/restore.ts';
import { bytesSum, rowSum } from '../../src/store/row_sum.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';

const MIB = 1 << 20;
/** Two of such blocks do not fit into a segment. */
const LARGE = 9 * MIB;

/** Size of a frame with 100 bytes. */
const FRAME_BYTES = 108;

interface Commit {
  readonly isSynced?: boolean;
  readonly bytes?: number;
}

/** Commits a row and an event, or an entity as well, at a position. */
function commit(store: SqliteStore, position: number, { isSynced = false, bytes = 100 }: Commit = {}): void {
  const entities = isSynced ? [{ kind: 'zone' as const, id: `z${position}`, text: `{"id":"z${position}"}` }] : [];
  const events = { first: position, count: 1, timeMs: position, bytes: Buffer.alloc(bytes, `event ${position} `) };
  store.commit({ entities, rows: [row(position)], events });
}

function positionsIn(store: SqliteStore): number[] {
  const { blocks } = store.logs.events.read(0, Infinity);
  for (const { first, bytes } of blocks) {
    assert.ok(Buffer.from(bytes.subarray(0, 20)).toString().startsWith(`event ${first} `), `the bytes of ${first}`);
  }
  return blocks.map(({ first }) => first);
}

function opened(path: string, options: { acceptLoss?: boolean; notice?(text: string): void } = {}): SqliteStore {
  return new SqliteStore(path, randomUUID, { nowMs: 0, ...options });
}

/** Positions of the events after a start, and the number of rows. */
function afterStart(path: string, options?: Parameters<typeof opened>[1]): readonly [number[], number] {
  const store = opened(path, options);
  const found = [positionsIn(store), store.load().rows.length] as const;
  store.close();
  return found;
}

function pathFor(): string {
  return join(temporaryFolder(), 'data.dat');
}

/** Copies the files of a hub as a crash leaves them. */
function crashed(from: string): string {
  const to = pathFor();
  for (const name of readdirSync(dirname(from))) {
    if (!/(-shm|\.lock)$/.test(name)) copyFileSync(join(dirname(from), name), join(dirname(to), name));
  }
  return to;
}

/** Makes a crash look like a power failure. */
function losePower(path: string): void {
  const { commits, synced } = JSON.parse(readFileSync(`${path}.running`, 'utf8'));
  const boot = 'another boot';
  const sum = rowSum('mark', boot, `${commits} ${synced}`);
  writeFileSync(`${path}.running`, JSON.stringify({ boot, commits, synced, sum }));
}

test('events of committed rows, and no others, are in the log after a crash at any commit', () => {
  const path = pathFor();
  const store = opened(path);
  for (let position = 1; position <= 6; position++) {
    commit(store, position, { isSynced: position % 2 === 0 });
    const copy = crashed(path);
    // The bytes of a commit that the crash prevented.
    appendFileSync(segmentPath(copy, 1), Buffer.alloc(50, 'half a frame'));
    const expected = Array.from({ length: position }, (_, index) => index + 1);
    assert.deepEqual(afterStart(copy), [expected, position]);
    const next = opened(copy);
    commit(next, 10);
    assert.deepEqual(positionsIn(next), [...expected, 10]);
    assert.equal(statSync(segmentPath(copy, 1)).size, (position + 1) * FRAME_BYTES);
    next.close();
    assert.deepEqual(reportOn(copy).problems, []);
  }
  store.close();
});

test('the bytes of a failed commit are overwritten, and those of a replaced one are ignored', (context) => {
  const path = pathFor();
  const store = opened(path);
  context.after(() => store.close());
  const failing = { first: 1.5, count: 1, timeMs: 1, bytes: Buffer.alloc(10) };
  const events = { first: 1, count: 1, timeMs: 1, bytes: Buffer.alloc(50, 'lost') };
  // The audit log rejects a position that is no integer.
  assert.throws(() => store.commit({ entities: [], rows: [], events, audit: failing }));
  assert.deepEqual(segmentsOf(path), []);
  commit(store, 2);
  const { size } = statSync(segmentPath(path, 2));
  assert.throws(() => store.commit({ entities: [], rows: [], events: { ...events, first: 3 }, audit: failing }));
  commit(store, 3);
  assert.equal(statSync(segmentPath(path, 2)).size, 2 * size);
  assert.equal(reportOn(path).eventBytes, 2 * size);
  commit(store, 3, { bytes: 200 });
  assert.deepEqual(positionsIn(store), [2, 3]);
  assert.equal(store.logs.events.range().bytes, 300);
});

test('after a power failure, commits whose events did not reach the disk are reverted, and no others', () => {
  const path = pathFor();
  const store = opened(path);
  const ends: number[] = [];
  for (let position = 1; position <= 12; position++) {
    commit(store, position, { isSynced: position <= 4 });
    ends.push(statSync(segmentPath(path, 1)).size);
  }
  for (let reached = 4; reached <= 12; reached++) {
    const copy = crashed(path);
    const end = ends[reached - 1] as number;
    const bytes = readFileSync(segmentPath(copy, 1));
    // Some file systems write the size first, and zeros for bytes that were lost.
    if (reached % 2 === 0) truncateSync(segmentPath(copy, 1), end);
    else writeFileSync(segmentPath(copy, 1), bytes.fill(0, end));
    losePower(copy);
    const expected = Array.from({ length: reached }, (_, index) => index + 1);
    assert.deepEqual(afterStart(copy, { notice: (text) => assert.fail(text) }), [expected, reached]);
    assert.deepEqual(
      readdirSync(dirname(copy)).filter((name) => name.includes('rehearsal')),
      [],
    );
  }
  store.close();
});

for (const [what, harm] of [
  ['missing', (path: string) => rmSync(path)],
  ['cut', (path: string) => truncateSync(path, 150)],
  ['changed', (path: string) => writeFileSync(path, readFileSync(path).fill(1, 130, 131))],
] as const) {
  for (const isPowerLost of [false, true]) {
    const when = isPowerLost ? 'a power failure' : 'a crash';
    test(`if a segment with synced events is ${what} after ${when}, a start names it, and goes on without them if asked`, () => {
      const running = pathFor();
      const store = opened(running);
      for (const position of [1, 2, 3]) commit(store, position, { isSynced: true });
      const path = crashed(running);
      store.close();
      const segment = segmentPath(path, 1);
      harm(segment);
      if (isPowerLost) losePower(path);
      const says = new RegExp(
        `events up to position \\d are lost, because the block of 100 bytes at offset \\d+ of ${segment} .*--accept-loss`,
      );
      assert.throws(() => opened(path), says);
      const notices: string[] = [];
      const kept = what === 'changed' ? [3] : [];
      const found = afterStart(path, { acceptLoss: true, notice: (text) => notices.push(text) });
      assert.deepEqual([found, notices.length], [[kept, 3], 1]);
      const next = opened(path);
      assert.equal(next.logs.events.range().newest, 3);
      commit(next, 4);
      assert.deepEqual(positionsIn(next), [...kept, 4]);
      next.close();
    });
  }
}

test('segments are deleted once no row refers to them', () => {
  const path = pathFor();
  const store = opened(path);
  for (const position of [1, 2, 3, 4]) commit(store, position, { bytes: LARGE });
  assert.deepEqual(segmentsOf(path), [1, 2, 3, 4]);
  const { events } = store.logs;
  while (events.trim({ beforeMs: 0, bytesMax: 2 * LARGE }).hasMore);
  assert.deepEqual(
    [segmentsOf(path), positionsIn(store)],
    [
      [3, 4],
      [3, 4],
    ],
  );
  const copy = crashed(path);
  // A crash before the deletion.
  writeFileSync(segmentPath(copy, 2), 'old');
  assert.deepEqual(afterStart(copy), [[3, 4], 4]);
  assert.deepEqual(segmentsOf(copy), [3, 4]);
  while (events.trim({ all: 10 }).hasMore);
  assert.deepEqual([segmentsOf(path), positionsIn(store)], [[], []]);
  commit(store, 11);
  assert.deepEqual([segmentsOf(path), positionsIn(store)], [[11], [11]]);
  store.close();
  assert.deepEqual(afterStart(path), [[11], 5]);
});

test('a backup is one file with all events, also while the hub removes them, and is restored with them', async () => {
  const path = pathFor();
  const store = opened(path);
  for (const position of [1, 2, 3]) commit(store, position, { bytes: LARGE });
  const backup = join(temporaryFolder(), 'hub.bak');
  let removals = 0;
  await backUp(path, backup, {
    progress() {
      if (removals++ > 0) return;
      while (store.logs.events.trim({ all: 3 }).hasMore);
      assert.deepEqual(segmentsOf(path), []);
    },
  });
  assert.ok(removals > 0);
  commit(store, 4);
  store.close();
  assert.deepEqual(readdirSync(dirname(backup)), ['hub.bak']);
  assert.deepEqual(reportOn(backup).problems, []);
  const { replaced } = restore(path, backup, { nowMs: 0 });
  assert.deepEqual(segmentsOf(path), []);
  assert.deepEqual(afterStart(path), [[1, 2, 3], 3]);
  const store2 = opened(path);
  commit(store2, 5);
  assert.deepEqual(positionsIn(store2), [1, 2, 3, 5]);
  store2.close();
  // The replaced database can be restored, with its own events.
  assert.deepEqual(segmentsOf(replaced ?? ''), [4]);
  restore(path, replaced ?? '', { nowMs: 1 });
  assert.deepEqual(afterStart(path), [[4], 4]);
});

test('events of a database of version 7 stay where they are, and new ones go to segments', () => {
  const path = pathFor();
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  migrate(db, { file: path, path, nowMs: 0, newId: randomUUID, steps: STEPS.slice(0, 7) });
  const bytes = Buffer.alloc(100, 'event 1 ');
  db.prepare('INSERT INTO event_log VALUES (1, 1, 1, 0, ?, ?)').run(bytes, bytesSum(bytes));
  db.close();
  const store = opened(path);
  commit(store, 2);
  assert.deepEqual([positionsIn(store), segmentsOf(path), store.logs.events.range().bytes], [[1, 2], [2], 200]);
  while (store.logs.events.trim({ beforeMs: 2, bytesMax: Infinity }).hasMore);
  assert.deepEqual([positionsIn(store), segmentsOf(path)], [[2], [2]]);
  store.close();
  assert.deepEqual(reportOn(path).problems, []);
});
