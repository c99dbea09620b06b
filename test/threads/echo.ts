import { workerData } from 'node:worker_threads';
import { look } from '../../src/model/borrowed.ts';
import { taskLoop } from '../../workers/task_loop.ts';

/**
 * Worker of thread.test.ts. It echoes its input, counts its runs, and obeys the command in the first byte. Small
 * replies use shared memory. `rests`, if given, counts its rests.
 */
const SLOWLY = 1;
const FAILING = 2;
const DYING = 3;
const SAYING_HOW = 4;

const { rests } = (workerData ?? {}) as { readonly rests?: Int32Array };
let runs = 0;

const echo = taskLoop({
  run(lent, area) {
    const bytes = look(lent);
    runs++;
    if (bytes[0] === SLOWLY) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
    if (bytes[0] === FAILING) throw new Error(`failed in run ${runs}`);
    if (bytes[0] === DYING) process.exit(7);
    const isShared = bytes.buffer instanceof SharedArrayBuffer;
    const answer = new Uint8Array([...bytes, bytes[0] === SAYING_HOW ? Number(isShared) : runs]);
    if (answer.length > area.length) return answer;
    area.set(answer);
    return answer.length;
  },
  rest() {
    if (rests === undefined) return;
    Atomics.add(rests, 0, 1);
    Atomics.notify(rests, 0);
  },
  restAfterMs: 1,
});

export { echo as default };
