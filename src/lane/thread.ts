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
   * Runs a task; one at a time. Copies the bytes before it returns. The answer is borrowed until the run after the
   * next. Rejects with the worker's error, or if the worker has died since the last run, because its state is lost.
   */
  run(bytes: Borrowed): Promise<Borrowed>;
  /** Sends a signal to the worker, not during a run. Rejects like `run`. */
  signal(word: WorkerSignal): Promise<void>;
  /** Returns the memory of the worker; undefined while there is no worker. */
  memory(): Promise<ThreadMemory | undefined>;
  /** Whether the worker of the last run is still alive. If so, a rejected run failed by itself. */
  readonly isAlive: boolean;
  /** Replaces the current worker, dead or alive. A running task is rejected. */
  restart(): Promise<void>;
  /** Terminates the worker immediately, like a crash. */
  kill(): Promise<void>;
  /** Terminates the worker permanently. */
  close(): Promise<void>;
}

export interface ThreadMemory {
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  /** Memory of buffers and WebAssembly, as far as the engine accounts for it. */
  readonly externalBytes: number;
}

/**
 * Size of a thread's young generation. A shard replaces the position of each object with every location. If all
 * positions exceed this size, they are copied twice before they become garbage.
 */
const YOUNG_GENERATION_MB = 64;

export interface ThreadOptions {
  readonly workerData?: object;
  /**
   * Size of the memory for a task, and for an answer, that is shared with the worker as `workerData.shared`. Larger
   * ones are transferred.
   */
  readonly sharedBytes?: number;
  /** Whether the worker starts immediately; otherwise `restart` starts it. */
  readonly isNeeded?: boolean;
}

/** Function that starts a thread: openThread, or a replacement without threads. */
export type OpenThread = typeof openThread;

type Pool = Piscina<WorkerTask, WorkerAnswer>;

/**
 * Starts a worker from a file of workers/. Each thread has its own Piscina pool: in a shared pool, a slow shard would
 * block the others, and the queue would reorder tasks. When a worker dies, its pool is dropped as well: a pool queues
 * runs for the next worker and holds them forever if that worker dies before it is ready.
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
    // A terminated worker may still write to its memory.
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
    // If a worker dies while idle, the next run rejects.
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
      // The request rejects if the worker has just exited.
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
