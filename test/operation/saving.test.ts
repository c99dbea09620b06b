import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Arrivals } from '../../src/operation/arrivals.ts';
import { snapshotOf } from '../../src/operation/consumption.ts';
import { Saving, Usage } from '../../src/operation/usage.ts';
import { NO_COUNTS } from './open_operation.ts';

const DECEMBER = Date.UTC(2026, 11);

/** Saving with a settable clock, and the timers that it has requested. */
function openSaving(startMs: number) {
  const clock = { nowMs: startMs, refusing: false };
  const now = (): number => clock.nowMs;
  const kept: string[][] = [];
  const problems: unknown[] = [];
  const timers: { readonly delayMs: number; readonly callback: () => void; cancelled: boolean }[] = [];
  const arrivals = new Arrivals(() => undefined);
  const usage = new Usage({
    now,
    elapsed: now,
    newId: () => 'id',
    hubId: 'hub',
    counts: () => NO_COUNTS,
    config: () => snapshotOf({ fences: [], zones: [], trackables: [], providers: [] }, arrivals.active),
    monthBegun: () => arrivals.beginMonth(),
    month: undefined,
    ended: new Map(),
    async keep(writes) {
      if (clock.refusing) throw new Error('The disk is full');
      kept.push(writes.map(({ name }) => name));
    },
  });
  const saving = new Saving(usage, {
    now,
    schedule(delayMs, callback) {
      const timer = { delayMs, callback, cancelled: false };
      timers.push(timer);
      return () => {
        timer.cancelled = true;
      };
    },
    problem: (error) => void problems.push(error),
    arrivals,
    exists: (id) => id !== 'deleted',
  });
  const fire = async (): Promise<void> => {
    const timer = timers.at(-1);
    clock.nowMs += timer?.delayMs ?? 0;
    timer?.callback();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, saving, arrivals, kept, problems, timers, fire };
}

describe('Saving', () => {
  test('saves every minute, when a month ends, and at the end', async () => {
    const { saving, timers, kept, fire } = openSaving(DECEMBER - 90_000);
    saving.start();
    await fire();
    await fire();
    await fire();
    assert.deepEqual(
      timers.map(({ delayMs }) => delayMs),
      [60_000, 30_000, 60_000, 60_000],
    );
    assert.deepEqual(kept, [['usage'], ['usage:2026-11', 'usage'], ['usage']]);
    await saving.close();
    assert.deepEqual([kept.length, timers.at(-1)?.cancelled], [4, true]);
  });

  test('reports a failure and continues', async () => {
    const { saving, clock, kept, problems, timers, fire } = openSaving(0);
    saving.start();
    clock.refusing = true;
    await fire();
    assert.deepEqual([problems.length, kept.length, timers.length], [1, 0, 2]);
    clock.refusing = false;
    await fire();
    assert.deepEqual([problems.length, kept], [1, [['usage']]]);
  });

  test('drops active providers that were deleted', async () => {
    const { saving, arrivals, fire } = openSaving(0);
    arrivals.wereActive(['deleted', 'kept']);
    saving.start();
    await fire();
    assert.deepEqual([...arrivals.active], ['kept']);
  });
});
