import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Lane, type LaneOptions, type BatchGate } from '../../src/lane/lane.ts';

/** An isolated worker: each run waits until the test completes it. */
class Table {
  readonly batches: (readonly number[])[] = [];
  readonly outcomes: (readonly number[])[] = [];
  /** At each outcome: the number of batches started, and the first item that was not done. */
  readonly seen: { readonly batches: number; readonly first: number | undefined }[] = [];
  readonly failures: { readonly message: string; readonly lost: readonly number[] }[] = [];
  /** Work of the outcomes of the next batches. */
  work: () => Promise<void> | undefined = () => undefined;
  #running: { resolve(items: readonly number[]): void; reject(error: Error): void } | undefined;
  readonly lane: Lane<number, readonly number[]>;

  constructor({ pendingMax = 100, batchMax = 100, runsAhead = false, pace }: Partial<LaneOptions> = {}) {
    this.lane = new Lane<number, readonly number[]>(
      {
        run: (items) => {
          assert.equal(this.#running, undefined, 'one batch in flight');
          this.batches.push(items);
          return new Promise((resolve, reject) => {
            this.#running = { resolve, reject };
          });
        },
        outcome: (outcome) => {
          this.outcomes.push(outcome);
          this.seen.push({ batches: this.batches.length, first: this.lane.first });
          return this.work();
        },
        failure: (error, lost) => {
          this.failures.push({ message: (error as Error).message, lost });
        },
      },
      { pendingMax, batchMax, runsAhead, pace },
    );
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  async finish(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.resolve(this.batches.at(-1) ?? []);
    await turn();
  }

  async fail(message: string): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.reject(new Error(message));
    await turn();
  }

  async push(...items: readonly number[]): Promise<void> {
    for (const item of items) this.lane.push(item);
    await turn();
  }

  async finishAll(): Promise<void> {
    while (this.isRunning) await this.finish();
  }
}

/** A pace that delays small batches. */
function paceOf(released: () => Promise<void>): BatchGate {
  return {
    isDue: (isSmall) => isSmall,
    get released() {
      return released();
    },
  };
}

/** Runs everything that is not waiting. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Result of a promise, once it is settled. */
function watch(promise: Promise<void>): { state: string } {
  const watched = { state: 'open' };
  promise.then(
    () => {
      watched.state = 'resolved';
    },
    (error: Error) => {
      watched.state = error.message;
    },
  );
  return watched;
}

test('Lane runs the items of one turn as one batch, and later ones as the next', async () => {
  const table = new Table();
  await table.push(1, 2, 3);
  await table.push(4);
  await table.push(5);
  assert.deepEqual(table.batches, [[1, 2, 3]]);
  await table.finish();
  assert.deepEqual(table.batches, [
    [1, 2, 3],
    [4, 5],
  ]);
  assert.deepEqual(table.outcomes, [[1, 2, 3]]);
});

test('Lane has capacity besides pending items, not counting those in flight', async () => {
  const table = new Table({ pendingMax: 3 });
  assert.equal(table.lane.hasCapacity(3), true);
  assert.equal(table.lane.hasCapacity(4), false);
  await table.push(1, 2, 3);
  assert.equal(table.lane.hasCapacity(3), true);
  await table.push(4, 5);
  assert.equal(table.lane.pending, 2);
  assert.equal(table.lane.hasCapacity(1), true);
  assert.equal(table.lane.hasCapacity(2), false);
});

test('Lane runs the items of all callbacks of one turn as one batch', async () => {
  const table = new Table();
  table.lane.push(1);
  // Each request is handled in a callback of its own, which ends with the microtasks.
  await Promise.resolve();
  await Promise.resolve();
  table.lane.push(2);
  assert.deepEqual(table.batches, []);
  await table.push(3);
  assert.deepEqual(table.batches, [[1, 2, 3]]);
});

test('Lane returns the first and last item that is not done, and the one after the batch in flight', async () => {
  const table = new Table({ batchMax: 2 });
  const { lane } = table;
  assert.deepEqual([lane.first, lane.next, lane.last], [undefined, undefined, undefined]);
  await table.push(1, 2, 3);
  assert.deepEqual([lane.first, lane.next, lane.last], [1, 3, 3]);
  await table.finish();
  assert.deepEqual([lane.first, lane.next, lane.last], [3, undefined, 3]);
  await table.finish();
  assert.deepEqual([lane.first, lane.next, lane.last], [undefined, undefined, undefined]);
});

test('Lane runs one empty batch when it is woken, however often', async () => {
  const table = new Table();
  table.lane.wake();
  table.lane.wake();
  await turn();
  assert.deepEqual(table.batches, [[]]);
  await table.finishAll();
  assert.deepEqual(table.batches, [[]]);
});

test('settled waits for ticks, too', async () => {
  const table = new Table();
  table.lane.wake();
  const settled = watch(table.lane.settled());
  await turn();
  assert.equal(settled.state, 'open');
  await table.finish();
  assert.equal(settled.state, 'resolved');
});

test('settled waits for the work of the outcomes, and for nothing that came later', async () => {
  const table = new Table();
  const commit = Promise.withResolvers<void>();
  table.work = () => commit.promise;
  await table.push(1);
  const settled = watch(table.lane.settled());
  await table.push(2);
  await table.finish();
  assert.equal(settled.state, 'open');
  table.work = () => new Promise(() => undefined);
  await table.finish();
  commit.resolve();
  await turn();
  assert.equal(settled.state, 'resolved');
});

test('settled of an idle lane waits for work in progress, even if its failure was reported to another caller', async () => {
  const table = new Table();
  const commit = Promise.withResolvers<void>();
  table.work = () => commit.promise;
  await table.push(1);
  await table.finish();
  const settled = watch(table.lane.settled());
  assert.equal(settled.state, 'open');
  commit.reject(new Error('disk full'));
  await turn();
  assert.equal(settled.state, 'resolved');
});

test('settled of a busy lane waits for earlier work in progress', async () => {
  const table = new Table();
  const commit = Promise.withResolvers<void>();
  table.work = () => commit.promise;
  await table.push(1);
  await table.finish();
  table.work = () => undefined;
  await table.push(2);
  const settled = watch(table.lane.settled());
  await table.finish();
  assert.equal(settled.state, 'open');
  commit.resolve();
  await turn();
  assert.equal(settled.state, 'resolved');
});

test('settled rejects when the work of its items has failed, after all other work', async () => {
  const table = new Table({ batchMax: 1 });
  const slow = Promise.withResolvers<void>();
  const works = [() => Promise.reject(new Error('disk full')), () => slow.promise];
  table.work = () => works.shift()?.();
  await table.push(1, 2);
  const settled = watch(table.lane.settled());
  await table.finishAll();
  assert.equal(settled.state, 'open');
  slow.resolve();
  await turn();
  assert.equal(settled.state, 'disk full');
});

test('A lost batch is reported, fails its callers, and does not stop the lane', async () => {
  const table = new Table();
  await table.push(1, 2);
  const settled = watch(table.lane.settled());
  await table.fail('out of memory');
  assert.deepEqual(table.failures, [{ message: 'out of memory', lost: [1, 2] }]);
  assert.equal(settled.state, 'out of memory');
  await table.push(3);
  const next = watch(table.lane.settled());
  await table.finish();
  assert.equal(next.state, 'resolved');
  assert.deepEqual(table.outcomes, [[3]]);
});

test('An outcome that cannot be processed is reported without lost items, and does not stop the lane', async () => {
  const table = new Table();
  table.work = () => {
    throw new Error('a fault');
  };
  await table.push(1);
  const settled = watch(table.lane.settled());
  await table.finish();
  assert.deepEqual(table.failures, [{ message: 'a fault', lost: [] }]);
  assert.equal(settled.state, 'a fault');
  table.work = () => undefined;
  await table.push(2);
  await table.finish();
  assert.deepEqual(table.outcomes, [[1], [2]]);
});

test('Lane preserves the order and the bounds of batches, runs one at a time, and settles all callers', async () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('push' as const), count: fc.integer({ min: 1, max: 7 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('finish' as const, 'settle' as const, 'wake' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const) }) },
  );
  const scenes = fc.record({ batchMax: fc.integer({ min: 1, max: 5 }), actions: fc.array(action, { maxLength: 40 }) });
  await fc.assert(
    fc.asyncProperty(scenes, async ({ batchMax, actions }) => {
      const table = new Table({ batchMax });
      const waits: { readonly until: number; readonly done: Promise<boolean> }[] = [];
      let pushed = 0;
      for (const step of actions) {
        if (step.do === 'push') for (let i = 0; i < step.count; i++) table.lane.push(++pushed);
        else if (step.do === 'finish') await table.finish();
        else if (step.do === 'fail') await table.fail('failed');
        else if (step.do === 'wake') table.lane.wake();
        else {
          const until = pushed;
          const countDone = () => [...table.outcomes, ...table.failures.map(({ lost }) => lost)].flat().length;
          const isDone = () => countDone() >= until;
          waits.push({ until, done: table.lane.settled().then(isDone, isDone) });
        }
      }
      await turn();
      await table.finishAll();
      const sent = table.batches.flat();
      assert.deepEqual(
        sent,
        Array.from({ length: pushed }, (_, index) => index + 1),
      );
      assert.ok(table.batches.every(({ length }) => length <= batchMax));
      assert.equal(table.outcomes.flat().length + table.failures.flatMap(({ lost }) => lost).length, pushed);
      assert.deepEqual(await Promise.all(waits.map(({ done }) => done)), Array(waits.length).fill(true));
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('Lane releases a sender while few items wait, and otherwise after a batch was processed', async () => {
  const table = new Table({ batchMax: 4 });
  assert.equal(table.lane.eased(), undefined);
  await table.push(0, 1, 2, 3);
  await table.push(4, 5);
  assert.equal(table.lane.eased(), undefined, 'two wait');
  await table.push(6, 7, 8, 9, 10);
  let eased = 0;
  void table.lane.eased()?.then(() => eased++);
  void table.lane.eased()?.then(() => eased++);
  await table.finish();
  assert.deepEqual([table.batches.length, eased], [2, 0], 'three wait');
  await table.finish();
  assert.deepEqual([table.batches.length, eased], [3, 2]);
  assert.equal(table.lane.eased(), undefined);
});

for (const { runsAhead, batches } of [
  { runsAhead: false, batches: 1 },
  { runsAhead: true, batches: 2 },
]) {
  test(`the next batch ${runsAhead ? 'starts before' : 'waits until'} the outcome of the last is processed`, async () => {
    const table = new Table({ runsAhead });
    await table.push(1);
    await table.push(2, 3);
    await table.finish();
    assert.deepEqual(table.seen, [{ batches, first: 2 }]);
    const settled = watch(table.lane.settled());
    await table.fail('broken');
    assert.deepEqual(table.failures, [{ message: 'broken', lost: [2, 3] }]);
    assert.deepEqual([settled.state, table.lane.done], ['broken', 3]);
    await table.push(4);
    await table.finishAll();
    assert.deepEqual([table.outcomes, table.lane.first], [[[1], [4]], undefined]);
  });
}

test('items that count as several fill a lane, and its batches, like that many items', async () => {
  const batches: (readonly number[])[] = [];
  const lane = new Lane<number, void>(
    {
      weigh: (item) => item,
      run: async (items) => void batches.push(items),
      outcome: () => undefined,
      failure: () => {},
    },
    { pendingMax: 20, batchMax: 10 },
  );
  for (const item of [4, 5, 3, 2]) lane.push(item);
  assert.deepEqual([lane.pending, lane.hasCapacity(6), lane.hasCapacity(7)], [14, true, false]);
  for (const item of [30, 1]) lane.push(item);
  assert.ok(lane.eased() !== undefined);
  await lane.settled();
  assert.deepEqual(batches, [[4, 5], [3, 2], [30], [1]]);
  assert.deepEqual([lane.pending, lane.done, lane.batches, lane.eased()], [0, 45, 4, undefined]);
});

test('A small batch waits for its pace, and later items join it', async () => {
  let waiting = Promise.withResolvers<void>();
  const table = new Table({ runsAhead: true, pace: paceOf(() => waiting.promise) });
  await table.push(1);
  await table.push(2);
  await table.finish();
  assert.deepEqual([table.batches, table.outcomes], [[[1]], [[1]]]);
  await table.push(3);
  waiting.resolve();
  await turn();
  assert.deepEqual(table.batches, [[1], [2, 3]]);
  waiting = Promise.withResolvers();
  await table.push(4);
  await table.finish();
  waiting.reject(new Error('nothing can be stored any more'));
  await turn();
  await table.finishAll();
  assert.deepEqual(table.batches, [[1], [2, 3], [4]]);
});

test('A batch that is more than half full does not wait, unless its pace requires it', async () => {
  let isHeld = false;
  const waiting = Promise.withResolvers<void>();
  const pace = { isDue: (isSmall: boolean) => isSmall || isHeld, released: waiting.promise };
  const table = new Table({ runsAhead: true, batchMax: 4, pace });
  await table.push(1);
  await table.push(2, 3, 4);
  await table.finish();
  assert.deepEqual(table.batches, [[1], [2, 3, 4]]);
  isHeld = true;
  await table.push(5, 6, 7, 8);
  await table.finish();
  assert.deepEqual(table.batches, [[1], [2, 3, 4]]);
  waiting.resolve();
  await turn();
  assert.deepEqual(table.batches, [[1], [2, 3, 4], [5, 6, 7, 8]]);
});
