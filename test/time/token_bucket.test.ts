import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from '../../src/time/token_bucket.ts';

const open = (perSecond: number, burst: number) => new TokenBucket({ perSecond, burst, nowMs: 0 });

test('TokenBucket permits a burst, and then its rate', () => {
  const bucket = open(1000, 500);
  assert.deepEqual(
    [bucket.take(300, 0), bucket.take(200, 0), bucket.take(100, 0), bucket.take(50, 0)],
    [0, 0, 100, 150],
  );
  assert.equal(bucket.take(10, 150), 10);
});

test('TokenBucket fills up to its size, and not after a backward clock step', () => {
  const bucket = open(1000, 500);
  assert.deepEqual([bucket.take(500, 0), bucket.take(500, 10_000), bucket.take(100, 10_000)], [0, 0, 100]);
  assert.equal(bucket.take(0, 0), 100);
});

test('TokenBucket permits requests larger than its size', () => {
  const bucket = open(1000, 500);
  assert.deepEqual([bucket.take(1500, 0), bucket.take(1, 1000), bucket.take(1, 2000)], [1000, 1, 0]);
});

test('TokenBucket without a rate permits everything', () => {
  const bucket = open(Infinity, 1);
  assert.deepEqual([bucket.take(1e9, 0), bucket.take(1e9, 0)], [0, 0]);
});

test('TokenBucket limits every time span to burst and rate, and is never slower than that', () => {
  const asked = fc.record({ bytes: fc.integer({ min: 1, max: 5000 }), afterMs: fc.integer({ min: 0, max: 3000 }) });
  const cases = fc.array(asked, { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(
      cases,
      fc.integer({ min: 1, max: 20_000 }),
      fc.integer({ min: 1, max: 20_000 }),
      (asks, rate, burst) => {
        const bucket = open(rate, burst);
        let nowMs = 0;
        const passed = asks.map(({ bytes, afterMs }) => {
          nowMs += afterMs;
          return { bytes, askedMs: nowMs, atMs: nowMs + bucket.take(bytes, nowMs) };
        });
        for (const [first, { atMs: fromMs }] of passed.entries()) {
          let bytes = 0;
          for (const one of passed.slice(first)) {
            bytes += one.bytes;
            // The first may have waited for its own bytes before; waits are whole milliseconds.
            const most = burst + ((one.atMs - fromMs + 1) * rate) / 1000 + (passed[first]?.bytes ?? 0);
            assert.ok(bytes <= most + 1e-6, `${bytes} of ${most} bytes`);
          }
        }
        const all = passed.reduce((sum, { bytes }) => sum + bytes, 0);
        const last = passed.at(-1);
        assert.ok(
          (last?.atMs ?? 0) <= (last?.askedMs ?? 0) + Math.ceil((all * 1000) / rate),
          'no longer than all of it takes',
        );
      },
    ),
    { seed: 5, numRuns: 500 },
  );
});

test('TokenBucket grants available tokens, and incurs a debt only on request', () => {
  const bucket = open(10, 3);
  assert.deepEqual(
    [3, 1].map((tokens) => bucket.tryTake(tokens, 0)),
    [true, false],
  );
  assert.equal(bucket.tryTake(2, 199), false);
  assert.equal(bucket.tryTake(2, 200), true);
  assert.equal(bucket.tryTake(1, 100), false);
});
