import { workerData } from 'piscina';
import { look } from '../../src/model/borrowed.ts';
import { answerArea, bytesOf, type SharedMemory } from '../../src/wire/shared_memory.ts';

/**
 * Worker of thread.test.ts. It echoes its input, counts its runs, and obeys the command in the first byte. Small
 * replies use shared memory.
 */
const SLOWLY = 1;
const FAILING = 2;
const DYING = 3;
const SAYING_HOW = 4;

const { shared } = workerData as { readonly shared: SharedMemory };
let runs = 0;

async function echo(task: Uint8Array | number): Promise<Uint8Array | number> {
  const bytes = look(bytesOf(task, shared));
  const area = answerArea(shared, runs++);
  if (bytes[0] === SLOWLY) await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (bytes[0] === FAILING) throw new Error(`failed in run ${runs}`);
  if (bytes[0] === DYING) process.exit(7);
  const answer = new Uint8Array([...bytes, bytes[0] === SAYING_HOW ? Number(typeof task === 'number') : runs]);
  if (answer.length > area.length) return answer;
  area.set(answer);
  return answer.length;
}

export { echo as default };
