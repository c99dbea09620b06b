import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Ticker } from '../../src/shards/ticker.ts';

/** A simulated clock with timers. */
class Clock {
  nowMs = 0;
  /** Timers fire this much too early, as those of the platform may. */
  readonly early: number;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  constructor(early = 0) {
    this.early = early;
  }

  readonly now = (): number => this.nowMs;

  readonly schedule = (delayMs: number, callback: () => void): (() => void) => {
    assert.ok(delayMs >= 1 && delayMs < 2 ** 31, `a delay that the platform supports, not ${delayMs}`);
    const timer = { atMs: this.nowMs + delayMs - this.early, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get timers(): number {
    return this.#timers.length;
  }

  advanceTo(toMs: number): void {
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > toMs) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.callback();
    }
    this.nowMs = Math.max(this.nowMs, toMs);
  }
}

function openTicker(clock: Clock) {
  const due: string[] = [];
  const ticker = new Ticker<string>({ ...clock, due: (name) => due.push(`${name} ${clock.nowMs}`) });
  return { ticker, due };
}

test('Ticker calls each name at its time, with one timer', () => {
  const clock = new Clock();
  const { ticker, due } = openTicker(clock);
  ticker.set('b', 200);
  ticker.set('a', 100);
  ticker.set('c', 200);
  assert.equal(clock.timers, 1);
  clock.advanceTo(1000);
  assert.deepEqual(due, ['a 100', 'b 200', 'c 200']);
  assert.equal(clock.timers, 0);
});

test('Ticker uses the last setting of a name, and cancels it with Infinity', () => {
  const clock = new Clock();
  const { ticker, due } = openTicker(clock);
  ticker.set('a', 100);
  ticker.set('a', 300);
  ticker.set('b', 100);
  ticker.set('b', Number.POSITIVE_INFINITY);
  clock.advanceTo(1000);
  assert.deepEqual(due, ['a 300']);
});

test('Ticker calls immediately for a time that has passed', () => {
  const clock = new Clock();
  const { ticker, due } = openTicker(clock);
  clock.advanceTo(500);
  ticker.set('a', 100);
  clock.advanceTo(501);
  assert.deepEqual(due, ['a 501']);
});

test('Ticker supports times beyond the maximum of a platform timer', () => {
  const clock = new Clock();
  const { ticker, due } = openTicker(clock);
  ticker.set('a', 2 ** 33);
  clock.advanceTo(2 ** 34);
  assert.deepEqual(due, [`a ${2 ** 33}`]);
});

test('Ticker calls back no sooner than the deadline, even if a timer fires early', () => {
  const clock = new Clock(0.5);
  const { ticker, due } = openTicker(clock);
  ticker.set('a', 10);
  clock.advanceTo(9.9);
  assert.deepEqual(due, []);
  clock.advanceTo(11);
  assert.deepEqual(due, ['a 10']);
});

test('Ticker makes no calls after it is stopped', () => {
  const clock = new Clock();
  const { ticker, due } = openTicker(clock);
  ticker.set('a', 100);
  ticker.stop();
  ticker.set('b', 200);
  clock.advanceTo(1000);
  assert.deepEqual(due, []);
  assert.equal(clock.timers, 0);
});

test('Ticker calls every name exactly at the time of its last setting', () => {
  const settings = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 50 }),
      name: fc.constantFrom('a', 'b', 'c'),
      inMs: fc.option(fc.integer({ min: 1, max: 100 }), { nil: Number.POSITIVE_INFINITY }),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(settings, (steps) => {
      const clock = new Clock();
      const { ticker, due } = openTicker(clock);
      const expected: string[] = [];
      const times = new Map<string, number>();
      const passTo = (toMs: number): void => {
        for (const [name, atMs] of [...times].sort(([, a], [, b]) => a - b)) {
          if (atMs > toMs) continue;
          expected.push(`${name} ${atMs}`);
          times.delete(name);
        }
        clock.advanceTo(toMs);
      };
      for (const { afterMs, name, inMs } of steps) {
        passTo(clock.nowMs + afterMs);
        ticker.set(name, clock.nowMs + inMs);
        times.delete(name);
        if (inMs !== Number.POSITIVE_INFINITY) times.set(name, clock.nowMs + inMs);
      }
      passTo(clock.nowMs + 1000);
      assert.deepEqual(due.sort(), expected.sort());
    }),
    { seed: 1 },
  );
});
