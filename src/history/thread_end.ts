import type { MessagePort, Worker } from 'node:worker_threads';
import { interruptDuck, stopDuck } from './duck.ts';

/**
 * The end of a thread in which DuckDB works. One that ends while DuckDB has something under way for it, by terminate() or by
 * an error that nobody catches, takes the whole process with it: DuckDB then calls into what is gone. So such a thread is
 * told to end, and ends when DuckDB is done; and an error waits for that too.
 */
export interface EndThread {
  readonly say: 'end';
}

/** Until DuckDB is told again to break off. */
const AGAIN_MS = 50;

/** For the thread itself, together with its listener: from then on messages come. */
export function endInOrder(
  port: MessagePort | null,
  every: (intervalMs: number, callback: () => void) => () => void,
): void {
  let isEnding = false;
  const end = async (failed: boolean, error?: unknown): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    port?.removeAllListeners('message');
    const stopped = stopDuck();
    interruptDuck();
    const callOff = every(AGAIN_MS, interruptDuck);
    await stopped;
    callOff();
    process.removeAllListeners('uncaughtException');
    if (failed) throw error;
    process.exit(0);
  };
  process.on('uncaughtException', (error) => void end(true, error));
  port?.on('message', ({ say }: { readonly say: unknown }) => {
    if (say === 'end') void end(false);
  });
}

interface Patience {
  /** How long it may take; then nobody waits for it any more, and it ends when it can. */
  readonly patienceMs: number;
  schedule(delayMs: number, callback: () => void): () => void;
}

/** For whoever has started it. Never rejects. */
export function ended(worker: Worker, { patienceMs, schedule }: Patience): Promise<void> {
  return new Promise((resolve) => {
    const callOff = schedule(patienceMs, () => {
      worker.unref();
      resolve();
    });
    worker.once('exit', () => {
      callOff();
      resolve();
    });
    worker.postMessage({ say: 'end' } satisfies EndThread);
  });
}
