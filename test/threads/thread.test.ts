import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openThread } from '../../src/lane/thread.ts';
import { lend, look } from '../../src/model/borrowed.ts';

const ECHO = new URL('./echo.ts', import.meta.url);
const NOWHERE = new URL('./nowhere.ts', import.meta.url);
const [PLAIN, SLOWLY, FAILING, DYING, SAYING_HOW] = [0, 1, 2, 3, 4];

function open(t: TestContext, file = ECHO) {
  const thread = openThread(file);
  t.after(() => thread.close());
  return { thread, run: async (...bytes: number[]) => [...look(await thread.run(lend(new Uint8Array(bytes))))] };
}

test('Thread runs in one worker, which retains its state', async (t) => {
  const { run } = open(t);
  // The numbers of tasks wrap around with the third.
  for (let runs = 1; runs <= 6; runs++) assert.deepEqual(await run(PLAIN, 10 + runs), [0, 10 + runs, runs]);
});

test('Thread passes small tasks and replies through shared memory, also after a restart', async (t) => {
  const thread = openThread(ECHO, { sharedBytes: 8 });
  t.after(() => thread.close());
  for (let round = 0; round < 2; round++) {
    for (const length of [1, 7, 8, 9, 1000]) {
      const bytes = new Uint8Array(length).fill(SAYING_HOW);
      const expected = [...bytes, Number(length <= 8)];
      const running = thread.run(lend(bytes));
      // The task was copied when it was sent.
      bytes.fill(PLAIN);
      assert.deepEqual([...look(await running)], expected);
    }
    await thread.restart();
  }
});

test('Thread rejects with the error of a run, and the worker continues', async (t) => {
  const { run } = open(t);
  await assert.rejects(run(FAILING), /failed in run 1/);
  assert.deepEqual(await run(PLAIN), [0, 2]);
});

test('A thread without tasks rests once, and continues', { timeout: 60_000 }, async (t) => {
  const rests = new Int32Array(new SharedArrayBuffer(4));
  const thread = openThread(ECHO, { workerData: { rests } });
  t.after(() => thread.close());
  assert.equal(await Atomics.waitAsync(rests, 0, 0).value, 'ok');
  for (let runs = 1; runs <= 3; runs++) {
    assert.deepEqual([...look(await thread.run(lend(new Uint8Array([PLAIN]))))], [PLAIN, runs]);
  }
  assert.equal(Atomics.load(rests, 0), 1);
});

test('A killed thread rejects its current run and every later one until it is restarted with a new worker', async (t) => {
  const { thread, run } = open(t);
  await run(PLAIN);
  const slow = run(SLOWLY);
  await Promise.all([assert.rejects(slow), thread.kill()]);
  await assert.rejects(run(PLAIN), { message: 'The worker has ended' });
  await thread.restart();
  assert.deepEqual(await run(PLAIN), [0, 1]);
});

test('A thread that exits by itself rejects its current run and every later one', async (t) => {
  const { thread, run } = open(t);
  await assert.rejects(run(DYING), /exited with code: 7/);
  await assert.rejects(run(PLAIN), { message: 'The worker has ended' });
  await thread.restart();
  assert.deepEqual(await run(PLAIN), [0, 1]);
});

test('Thread survives workers that are killed before they are ready', async (t) => {
  const { thread, run } = open(t);
  for (let round = 0; round < 3; round++) {
    const early = run(PLAIN);
    await Promise.all([assert.rejects(early), thread.kill()]);
    await thread.restart();
  }
  assert.deepEqual(await run(PLAIN), [0, 1]);
});

test('A restarted thread rejects its current run', async (t) => {
  const { thread, run } = open(t);
  const slow = run(SLOWLY);
  await Promise.all([assert.rejects(slow), thread.restart()]);
  assert.deepEqual(await run(PLAIN), [0, 1]);
});

test('Thread rejects every run of a worker that cannot start', async (t) => {
  const { run } = open(t, NOWHERE);
  await assert.rejects(run(PLAIN));
  await assert.rejects(run(PLAIN));
});

test('A closed thread rejects its current run and every later one', async (t) => {
  const { thread, run } = open(t);
  const slow = run(SLOWLY);
  await Promise.all([assert.rejects(slow), thread.close()]);
  await assert.rejects(run(PLAIN), { message: 'The thread is closed' });
});
