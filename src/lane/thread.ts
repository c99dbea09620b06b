import { Piscina } from 'piscina';

/** A worker thread that turns bytes into bytes, one call at a time. */
export interface Thread {
  /** Rejects with the worker's error, or when the worker dies. */
  run(bytes: Uint8Array): Promise<Uint8Array>;
  /** Ends the worker at once, as a crash would: what it runs is rejected, and the next run gets a new one, empty. */
  kill(): Promise<void>;
  /** Ends the worker for good: later runs reject. */
  close(): Promise<void>;
}

type Pool = Piscina<Uint8Array, Uint8Array>;

/**
 * Starts a worker from a file of workers/. Each thread is a Piscina of its own: in a shared one a slow shard would
 * block the others, and its queue reorders tasks. A worker that has died takes its Piscina along: one that outlives
 * its first worker queues runs for the next, and keeps them for ever should that one die before it is ready.
 */
export function openThread(file: URL, workerData?: unknown): Thread {
  let pool: Pool | undefined;
  let closed = false;

  const drop = async (dropped: Pool | undefined): Promise<void> => {
    if (pool === dropped) pool = undefined;
    await dropped?.destroy();
  };
  const start = (): Pool => {
    const started: Pool = new Piscina({
      filename: file.href,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData,
    });
    // A worker that dies while it is idle is heard of by the next run.
    started.on('error', () => undefined);
    for (const worker of started.threads) worker.once('exit', () => void drop(started));
    return started;
  };
  pool = start();
  return {
    async run(bytes) {
      if (closed) throw new Error('The thread is closed');
      pool ??= start();
      return pool.run(bytes, { transferList: [bytes.buffer as ArrayBuffer] });
    },
    kill: () => drop(pool),
    close() {
      closed = true;
      return drop(pool);
    },
  };
}
