import type { MessagePort, Worker } from 'node:worker_threads';
import { interruptDuck, stopDuck } from './duck.ts';

/**
 * Stops a thread that uses DuckDB. If the thread exited while a statement is in flight, by terminate() or an uncaught
 * error, DuckDB would call into freed memory and crash the process. So the thread is asked to stop and exits when
 * DuckDB is done; an uncaught error waits for that, too.
 */
export interface EndThread {
  readonly say: 'end';
}

/** Interval in which DuckDB is interrupted again. */
const AGAIN_MS = 50;

/** Installs the listener in the thread. Messages arrive from then on. */
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
    const cancel = every(AGAIN_MS, interruptDuck);
    await stopped;
    cancel();
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
  /** Maximum time to wait. The thread then exits on its own. */
  readonly patienceMs: number;
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Stops the thread, from its owner, and resolves when it has exited. Never rejects. */
export function ended(worker: Worker, { patienceMs, schedule }: Patience): Promise<void> {
  return new Promise((resolve) => {
    const cancel = schedule(patienceMs, () => {
      worker.unref();
      resolve();
    });
    worker.once('exit', () => {
      cancel();
      resolve();
    });
    worker.postMessage({ say: 'end' } satisfies EndThread);
  });
}
