import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StartupError } from '../../src/errors.ts';
import { rowSum } from '../../src/store/row_sum.ts';
import { bootId } from '../../src/store/dirty_flag.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { row } from './rows.ts';

const COMMITS = 12;
/** The last commit that was synced to disk. */
const SYNCED = 8;
const FILES = ['', '-wal', '.running'] as const;
const FRAME = 24 + 4096;
const HEADER = 32;

/** Files of a killed hub, and the size of its log after each commit. */
interface Left {
  readonly path: string;
  readonly logAfter: readonly number[];
}

function leftBehind(): Left {
  const running = join(temporaryFolder(), 'data.dat');
  const path = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(running, randomUUID);
  const logAfter = [0];
  for (let commit = 1; commit <= COMMITS; commit++) {
    const zone = { kind: 'zone' as const, id: `zone-${commit}`, text: '{}' };
    const rows = Array.from({ length: 20 }, (_, number) => row(commit * 20 + number));
    store.commit(commit <= SYNCED ? { entities: [zone], rows } : { entities: [], rows });
    logAfter.push(statSync(`${running}-wal`).size);
  }
  for (const ending of FILES) copyFileSync(running + ending, path + ending);
  store.close();
  return { path, logAfter };
}

/** Copies the files into a new folder. */
function copyOf({ path }: Left): string {
  const to = join(temporaryFolder(), 'data.dat');
  for (const ending of FILES) if (existsSync(path + ending)) copyFileSync(path + ending, to + ending);
  return to;
}

/** Starts without a message, and returns the number of existing commits. */
function commitsAfterStart(path: string): number {
  const store = new SqliteStore(path, randomUUID, { nowMs: 0, notice: (text) => assert.fail(text) });
  const { rows } = store.load();
  store.close();
  assert.equal(rows.length % 20, 0, 'a commit is whole');
  return rows.length / 20;
}

function refused(path: string, says: RegExp): void {
  const before = readFileSync(path);
  assert.throws(
    () => new SqliteStore(path, randomUUID),
    (error) => {
      assert.ok(error instanceof StartupError, String(error));
      assert.match(error.message, says);
      assert.match(
        error.message,
        /: npm run hub -- restore FILE .*, npm start -- --accept-loss goes on with what is left$/,
      );
      assert.doesNotMatch(error.message, /\n/);
      return true;
    },
  );
  assert.deepEqual(readFileSync(path), before);
}

/** As if the system had been rebooted since. */
function withPowerLost(path: string): void {
  const { commits, synced } = JSON.parse(readFileSync(`${path}.running`, 'utf8'));
  const boot = 'another';
  const sum = rowSum('mark', boot, `${commits} ${synced}`);
  writeFileSync(`${path}.running`, JSON.stringify({ boot, commits, synced, sum }));
}

test('A start after a crash of the process logs nothing, and loads everything', () => {
  assert.equal(commitsAfterStart(copyOf(leftBehind())), COMMITS);
});

const NUMBERED = { skip: bootId() === '' && 'this system does not number its starts' };

test('A start after a crash of the process fails if the log was truncated anywhere', NUMBERED, () => {
  const left = leftBehind();
  const { length } = readFileSync(`${left.path}-wal`);
  const places = [1, HEADER - 1, HEADER, HEADER + 1, HEADER + FRAME, length >> 1, length - FRAME, length - 1];
  for (const place of [...places, ...left.logAfter.slice(1, -1)]) {
    const path = copyOf(left);
    truncateSync(`${path}-wal`, place);
    refused(path, /the last \d+ of 13 commits are lost, for its log .*data\.dat-wal was cut, is damaged/);
  }
});

test('A start fails wherever a bit of the log has changed', NUMBERED, () => {
  const left = leftBehind();
  const { length } = readFileSync(`${left.path}-wal`);
  for (let part = 0; part < 25; part++) {
    const path = copyOf(left);
    const log = readFileSync(`${path}-wal`);
    const place = Math.floor((part * (length - 1)) / 24);
    log[place] = (log[place] ?? 0) ^ 16;
    writeFileSync(`${path}-wal`, log);
    // The checkpoint number in the header does not affect the frames.
    refused(path, /commits are lost, for its log .* was cut, is damaged before its end/);
  }
});

for (const [how, lose] of [
  ['removed', (path: string) => rmSync(`${path}-wal`)],
  ['emptied', (path: string) => truncateSync(`${path}-wal`, 0)],
] as const) {
  test(`A start fails if the log was ${how}`, () => {
    const path = copyOf(leftBehind());
    lose(path);
    refused(path, /the last \d+ of \d+ commits are lost, for its log .*data\.dat-wal is missing: /);
    // A second attempt fails in the same way.
    refused(path, /commits are lost/);
    const notices: string[] = [];
    const opening = { nowMs: 0, acceptLoss: true, notice: (text: string) => notices.push(text) };
    new SqliteStore(path, randomUUID, opening).close();
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? '', /^Going on without what is lost: the last \d+ of \d+ commits/);
    commitsAfterStart(path);
  });
}

test('A start fails with the log of another time', NUMBERED, () => {
  const left = leftBehind();
  const path = copyOf(left);
  copyFileSync(`${leftBehind().path}-wal`, `${path}-wal`);
  truncateSync(`${path}-wal`, left.logAfter[2]);
  refused(path, /is of another time/);
});

test('An incomplete commit is ignored without a message', () => {
  const path = copyOf(leftBehind());
  const log = readFileSync(`${path}-wal`);
  writeFileSync(`${path}-wal`, Buffer.concat([log, log.subarray(HEADER, HEADER + FRAME + 1000)]));
  assert.equal(commitsAfterStart(path), COMMITS);
});

test('After a power loss, a start succeeds silently if the log ends after the synced part, and fails otherwise', () => {
  const left = leftBehind();
  const certain = left.logAfter[SYNCED] ?? assert.fail();
  const end = left.logAfter.at(-1) ?? assert.fail();
  for (let part = 0; part <= 24; part++) {
    const place = Math.floor((part * end) / 24);
    const path = copyOf(left);
    withPowerLost(path);
    truncateSync(`${path}-wal`, place);
    if (place < certain) refused(path, /the last \d+ of 9 commits are lost/);
    else
      assert.equal(
        commitsAfterStart(path),
        left.logAfter.findLastIndex((length) => length <= place),
      );
  }
});

test('After a power loss, a start ignores garbage after the synced part of the log', () => {
  const left = leftBehind();
  const path = copyOf(left);
  withPowerLost(path);
  const log = readFileSync(`${path}-wal`);
  writeFileSync(`${path}-wal`, log.fill(0, (left.logAfter[SYNCED] ?? 0) + 100, (left.logAfter[SYNCED] ?? 0) + 5000));
  assert.equal(commitsAfterStart(path), SYNCED);
});

test('A regular stop leaves no dirty flag, so that the database can be moved anywhere', () => {
  const path = join(temporaryFolder(), 'data.dat');
  const store = new SqliteStore(path, randomUUID);
  assert.ok(existsSync(`${path}.running`));
  store.close();
  assert.ok(!existsSync(`${path}.running`));
});

test('An unreadable dirty flag does not prevent a start', () => {
  for (const text of ['', 'rubbish', '{"boot":"","commits":99,"synced":99,"sum":0}']) {
    const path = copyOf(leftBehind());
    writeFileSync(`${path}.running`, text);
    assert.equal(commitsAfterStart(path), COMMITS);
  }
});
