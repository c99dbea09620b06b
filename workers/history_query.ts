import { constants, setPriority } from 'node:os';
import { Duck } from '../src/history/duck.ts';
import { answer } from '../src/history/queries/answer.ts';
import type { FromQueryProcess, ToQueryProcess } from '../src/history/queries/query_messages.ts';
import { Unanswerable } from '../src/history/queries/query.ts';

/**
 * Process that answers history queries, one at a time. Its argument is the memory of its database in MB. It runs with
 * low priority, so that on a busy machine the threads that process locations get the CPU.
 */
process.title = 'hub-history-query';
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
// Exits when the hub has exited for any reason.
process.on('disconnect', () => process.exit());

let underWay: number | undefined;
const duck = await Duck.open({ memoryMb: Number(process.argv[2]), spillFolder: undefined });
process.on('message', (message: ToQueryProcess) => {
  if (message.say === 'question') void reply(message);
  else if (underWay === message.id) duck.interrupt();
});
send({ say: 'ready' });

async function reply({ id, question, files }: ToQueryProcess & { readonly say: 'question' }): Promise<void> {
  underWay = id;
  try {
    const { text, next, damaged } = await answer(duck, files, question);
    const bytes = new TextEncoder().encode(text);
    send({ say: 'answer', id, bytes, next, damaged });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    send({ say: 'failure', id, why, ...(error instanceof Unanswerable && { problem: error.problem }) });
  } finally {
    underWay = undefined;
  }
}

function send(message: FromQueryProcess): void {
  process.send?.(message);
}
