import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flusher } from '../../src/shards/flusher.ts';
import type { Shards } from '../../src/shards/shards.ts';

function openFlusher() {
  const store = { nowMs: 1_000_000, pendingRows: 0 };
  let flushes = 0;
  const lane = { flush: () => void flushes++ };
  const flusher = new Flusher({ lanes: [lane, lane] } as unknown as Pick<Shards, 'lanes'>, {
    now: () => store.nowMs,
    pendingRows: () => store.pendingRows,
  });
  /** How many lanes are asked for their rows by a flush after that time. */
  const flushAfter = (ms: number): number => {
    store.nowMs += ms;
    flushes = 0;
    flusher.flush();
    return flushes;
  };
  return { store, flusher, flushAfter };
}

test('Flusher asks all lanes', () => {
  const { flushAfter } = openFlusher();
  assert.deepEqual([flushAfter(200), flushAfter(200)], [2, 2]);
});

test('Flusher waits the longer the more rows there were, for two seconds at most', () => {
  const { flusher, flushAfter } = openFlusher();
  assert.equal(flushAfter(0), 2);
  flusher.brought(6000);
  flusher.brought(4000);
  assert.deepEqual([flushAfter(200), flushAfter(200), flushAfter(100), flushAfter(200)], [0, 0, 2, 2]);
  flusher.brought(1_000_000);
  assert.deepEqual([flushAfter(1999), flushAfter(1)], [0, 2]);
});

test('Flusher leaves the store alone that has not caught up, for two seconds at most', () => {
  const { store, flushAfter } = openFlusher();
  assert.equal(flushAfter(0), 2);
  store.pendingRows = 1;
  assert.deepEqual([flushAfter(200), flushAfter(1799), flushAfter(1)], [0, 0, 2]);
  assert.equal(flushAfter(200), 0);
  store.pendingRows = 0;
  assert.equal(flushAfter(200), 2);
});
