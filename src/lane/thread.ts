import { Piscina } from 'piscina';

/** A worker thread that turns bytes into bytes, one call at a time. */
export interface Thread {
  /** Rejects with the worker's error, or when the worker dies. */
  run(bytes: Uint8Array): Promise<Uint8Array>;
  /** Ends the worker at once. The next run gets a new one, which knows nothing. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a worker from a file of workers/. Each thread is a Piscina of its own: in a shared one a slow shard would
 * block the others, and its queue reorders tasks.
 */
export function openThread(file: URL, options: { readonly name: string; readonly workerData: unknown }): Thread {
  const pool = new Piscina<Uint8Array, Uint8Array>({
    filename: file.href,
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    workerData: options.workerData,
  });
  // A worker that dies while idle reports here; the next run starts another.
  pool.on('error', () => undefined);
  return {
    run: (bytes) => pool.run(bytes, { transferList: [bytes.buffer as ArrayBuffer] }),
    async kill() {
      await Promise.all(pool.threads.map((worker) => worker.terminate()));
    },
    close: () => pool.destroy(),
  };
}
