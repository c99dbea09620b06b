import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';

/** Counts turns of the event loop. */
function countTurns(): { now(): number; stop(): void } {
  let turn = 0;
  let next = setImmediate(count);
  function count(): void {
    turn++;
    next = setImmediate(count);
  }
  return { now: () => turn, stop: () => clearImmediate(next) };
}

test('each turn does one piece, of any caller, in the order of calls', async () => {
  const turns = new TaskScheduler();
  const loop = countTurns();
  const done: { who: string; turn: number }[] = [];
  const work = async (who: string): Promise<void> => {
    for (let piece = 0; piece < 3; piece++) {
      await turns.next();
      done.push({ who, turn: loop.now() });
    }
  };
  await Promise.all([work('a'), work('b'), work('c')]);
  loop.stop();
  assert.deepEqual(done.map(({ who }) => who).join(''), 'abcabcabc');
  assert.equal(new Set(done.map(({ turn }) => turn)).size, 9);
});

test('work runs alone until it is done, and continues before other work starts', async () => {
  const turns = new TaskScheduler();
  const seen: string[] = [];
  let goingOn: Promise<void> | undefined;
  const first = turns.alone(async () => {
    seen.push('a');
    await turns.next();
    goingOn = turns.alone(() => void seen.push('a goes on'), { goesOn: true });
    seen.push('a ends');
  });
  const second = turns.alone(async () => {
    seen.push('b');
    await turns.next();
    seen.push('b ends');
  });
  await Promise.all([first, second]);
  await goingOn;
  assert.deepEqual(seen, ['a', 'a ends', 'a goes on', 'b', 'b ends']);
});

test('failed work makes room for the next', async () => {
  const turns = new TaskScheduler();
  const failing = turns.alone(() => Promise.reject(new Error('a fault')));
  const next = turns.alone(() => 'done');
  await assert.rejects(failing, /a fault/);
  assert.equal(await next, 'done');
  assert.equal(await turns.alone(() => 'and again'), 'and again');
});
