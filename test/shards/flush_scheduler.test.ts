import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlushPacer } from '../../src/shards/flush_scheduler.ts';

/** Plays a round with a batch every `everyMs` and this many changed objects initially. Returns rows by batch. */
function round({ changed, everyMs, share = 1 }: { changed: number; everyMs: number; share?: number }): number[] {
  const pacer = new FlushPacer(share);
  const brought: number[] = [];
  let [left, nowMs] = [changed, 1_000_000];
  pacer.begin(nowMs);
  while (pacer.isRunning) {
    const rows = Math.min(left, pacer.flushBudget(nowMs, false));
    left -= rows;
    brought.push(rows);
    pacer.recordBatch({ rows, dirtyCount: left, askedMs: nowMs });
    nowMs += everyMs;
  }
  return brought;
}

const total = (rows: readonly number[]): number => rows.reduce((sum, some) => sum + some, 0);

test('A round of few rows ends with its first batch', () => {
  assert.deepEqual(round({ changed: 100, everyMs: 10 }), [100]);
});

test('A round emits eight rows a millisecond, and its share of that with several shards', () => {
  assert.deepEqual(round({ changed: 500, everyMs: 50 }), [100, 400]);
  assert.deepEqual(round({ changed: 350, everyMs: 100, share: 1 / 8 }), [100, 100, 100, 50]);
});

test('A round of many rows takes about a second', () => {
  const brought = round({ changed: 100_000, everyMs: 10 });
  assert.equal(total(brought), 100_000);
  assert.ok(brought.length <= 102, `${brought.length} batches`);
});

test('A round pauses while the store is behind, for at most two seconds', () => {
  const pacer = new FlushPacer(1);
  pacer.begin(0);
  assert.deepEqual([pacer.flushBudget(0, true), pacer.flushBudget(1999, true)], [0, 0]);
  assert.ok(pacer.flushBudget(2000, true) > 0);
  assert.ok(pacer.flushBudget(0, false) > 0);
});

test('A round ends when as many rows were emitted as objects had changed, or none are left', () => {
  const pacer = new FlushPacer(1);
  pacer.begin(0);
  pacer.recordBatch({ rows: 200, dirtyCount: 300, askedMs: 0 });
  pacer.recordBatch({ rows: 200, dirtyCount: 5000, askedMs: 10 });
  assert.equal(pacer.isRunning, true);
  pacer.recordBatch({ rows: 100, dirtyCount: 5000, askedMs: 20 });
  assert.equal(pacer.isRunning, false);
  pacer.begin(30);
  pacer.recordBatch({ rows: 3, dirtyCount: 500, askedMs: 30 });
  pacer.recordBatch({ rows: 0, dirtyCount: 0, askedMs: 40 });
  assert.equal(pacer.isRunning, false);
  assert.equal(pacer.flushBudget(10_000, false), 0);
});
