import { Piscina } from 'piscina';
import { type Borrowed, copied, lend, look } from '../model/borrowed.ts';
import {
  type WorkerAnswer,
  answerArea,
  type WorkerSignal,
  shareMemory,
  type WorkerTask,
} from '../wire/shared_memory.ts';

/** A worker thread that maps bytes to bytes, one call at a time. */
export interface Thread {
  /**
   * Runs one task at a time. Copies the bytes before it returns; the answer is borrowed until the run after the next.
   * Rejects with the worker's error, or if the worker has died, even long before: the caller must know that the
   * worker's state is lost.
   */
  run(bytes: Borrowed): Promise<Borrowed>;
  /** Sends a signal to the worker, outside of runs. Rejects as `run` does. */
  signal(word: WorkerSignal): Promise<void>;
  /** Returns its JavaScript heap in bytes; undefined while there is no worker. */
  memory(): Promise<ThreadMemory | undefined>;
  /** Whether the worker of the last run is still alive: then the run itself has failed. */
  readonly isAlive: boolean;
  /** Replaces the current worker, dead or alive. Its running task is rejected. */
  restart(): Promise<void>;
  /** Terminates the worker at once, as a crash would. */
  kill(): Promise<void>;
  /** Terminates the worker permanently. */
  close(): Promise<void>;
}

export interface ThreadMemory {
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  /** Buffers and WebAssembly memory, as far as the engine accounts for them. */
  readonly externalBytes: number;
}

/**
 * Size of a thread's young generation. A shard replaces the position of each object with every location: if these
 * exceed this size, all of them are copied twice before they are garbage.
 */
const YOUNG_GENERATION_MB = 64;

export interface ThreadOptions {
  readonly workerData?: object;
  /**
   * Maximum bytes of a task and of an answer in memory shared with the worker, `workerData.shared`. Larger ones are
   * transferred.
   */
  readonly sharedBytes?: number;
  /** Whether the worker starts at once; otherwise `restart` starts it. */
  readonly isNeeded?: boolean;
}

/** Function that starts a thread: openThread, or a replacement without threads. */
export type OpenThread = typeof openThread;

type Pool = Piscina<WorkerTask, WorkerAnswer>;

/**
 * Starts a worker from a file of workers/. Each thread has its own Piscina: in a shared one a slow shard would block
 * the others, and its queue reorders tasks. A worker that has died is dropped with its Piscina: one that outlives its
 * first worker queues runs for the next, and holds them forever if that one dies before it is ready.
 */
export function openThread(file: URL, { workerData, sharedBytes = 0, isNeeded = true }: ThreadOptions = {}): Thread {
  let pool: Pool | undefined;
  let isClosed = false;
  let shared = shareMemory(0);
  let turns = 0;

  const drop = async (dropped: Pool | undefined): Promise<void> => {
    if (pool === dropped) pool = undefined;
    await dropped?.destroy();
  };
  const start = (): void => {
    // A worker that has died may still write.
    shared = shareMemory(sharedBytes);
    turns = 0;
    const started: Pool = new Piscina({
      filename: file.href,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      workerData: { ...workerData, shared },
    });
    // The next run reports a worker that dies while idle.
    started.on('error', () => undefined);
    for (const worker of started.threads) worker.once('exit', () => void drop(started));
    pool = started;
  };
  if (isNeeded) start();
  const living = (): Pool => {
    if (pool === undefined) throw new Error(isClosed ? 'The thread is closed' : 'The worker has ended');
    return pool;
  };
  return {
    async signal(word) {
      await living().run(word);
    },
    async run(lent) {
      const bytes = look(lent);
      const pool = living();
      const { task } = shared;
      const answer = answerArea(shared, turns++);
      const found = await (bytes.length <= task.length ? runShared(pool, task, bytes) : runAlone(pool, lent));
      return lend(typeof found === 'number' ? answer.subarray(0, found) : found);
    },
    async memory() {
      // A worker that has just exited rejects.
      const found = await pool?.threads[0]?.getHeapStatistics().catch(() => undefined);
      if (found === undefined) return undefined;
      const { used_heap_size: heapUsedBytes, total_heap_size: heapTotalBytes, external_memory: externalBytes } = found;
      return { heapUsedBytes, heapTotalBytes, externalBytes };
    },
    get isAlive() {
      return pool !== undefined;
    },
    async restart() {
      await drop(pool);
      if (!isClosed) start();
    },
    kill: () => drop(pool),
    close() {
      isClosed = true;
      return drop(pool);
    },
  };
}

function runShared(pool: Pool, task: Uint8Array, bytes: Uint8Array): Promise<WorkerAnswer> {
  task.set(bytes);
  return pool.run(bytes.length);
}

function runAlone(pool: Pool, bytes: Borrowed): Promise<WorkerAnswer> {
  const own = copied(bytes);
  return pool.run(own, { transferList: [own.buffer] });
}
