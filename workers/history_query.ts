import { parentPort, workerData } from 'node:worker_threads';
import { Duck } from '../src/history/duck.ts';
import { shareFlight } from '../src/history/flight.ts';
import { answer } from '../src/history/queries/answer.ts';
import type { FromQueryThread, QuerySettings, ToQueryThread } from '../src/history/queries/query_messages.ts';
import { Unanswerable } from '../src/history/queries/query.ts';
import { endInOrder } from '../src/history/thread_end.ts';
import { every } from '../src/time/clock.ts';

/** Thread that answers history queries, one after the other. */
const { memoryMb, flight } = workerData as QuerySettings;
shareFlight(flight);
const duck = await Duck.open({ memoryMb, spillFolder: undefined });
let underWay: number | undefined;

endInOrder(parentPort, every);
parentPort?.on('message', (message: ToQueryThread) => {
  if (message.say === 'question') void reply(message);
  else if (message.say === 'interrupt' && underWay === message.id) duck.interrupt();
});

tell({ say: 'ready' });

async function reply({ id, question, files }: ToQueryThread & { readonly say: 'question' }): Promise<void> {
  underWay = id;
  try {
    const { text, next, damaged } = await answer(duck, files, question);
    const bytes = new TextEncoder().encode(text);
    tell({ say: 'answer', id, bytes, next, damaged });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell({ say: 'failure', id, why, isAsked: error instanceof Unanswerable });
  } finally {
    underWay = undefined;
  }
}

function tell(message: FromQueryThread): void {
  parentPort?.postMessage(message, 'bytes' in message ? [message.bytes.buffer] : []);
}
