import { Piscina } from 'piscina';
import { type Borrowed, copied, lend, look } from '../model/borrowed.ts';
import { type Answer, answerArea, type Signal, shareMemory, type Task } from '../wire/shared_memory.ts';

/** A worker thread that turns bytes into bytes, one call at a time. */
export interface Thread {
  /**
   * One run at a time. Copies the bytes before it returns, and lends the answer until the run after the next. Rejects with
   * the worker's error, or when the worker has died, be it long before: who runs something must know that what the worker
   * knew is lost.
   */
  run(bytes: Borrowed): Promise<Borrowed>;
  /** Has the worker do what the word says, besides all runs. Rejects as run does. */
  signal(word: Signal): Promise<void>;
  /** What its JavaScript holds, in bytes; undefined while there is no worker. */
  memory(): Promise<ThreadMemory | undefined>;
  /** Whether the worker that the last run was for is still there: then the run itself has failed. */
  readonly isAlive: boolean;
  /** Puts a new worker in the place of the current one, dead or alive. What that runs is rejected. */
  restart(): Promise<void>;
  /** Ends the worker at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends the worker for good. */
  close(): Promise<void>;
}

export interface ThreadMemory {
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  /** Buffers and WebAssembly memory, as far as the engine accounts for them. */
  readonly externalBytes: number;
}

/**
 * What a thread may fill between two collections of its short-lived values. A shard replaces the place of each object
 * with every location: where that is more than this, all of it is copied twice before it is garbage.
 */
const YOUNG_GENERATION_MB = 64;

export interface ThreadOptions {
  readonly workerData?: object;
  /** Bytes of a task, and of an answer, that lie in memory shared with the worker, `workerData.shared`. Larger ones cross. */
  readonly sharedBytes?: number;
  /** Whether the worker starts at once; otherwise `restart` does it. */
  readonly isNeeded?: boolean;
}

/** How a thread is started: openThread, or what takes its place where there are no threads. */
export type OpenThread = typeof openThread;

type Pool = Piscina<Task, Answer>;

/**
 * Starts a worker from a file of workers/. Each thread is a Piscina of its own: in a shared one a slow shard would
 * block the others, and its queue reorders tasks. A worker that has died takes its Piscina along: one that outlives
 * its first worker queues runs for the next, and keeps them for ever should that one die before it is ready.
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
    // A worker that dies while it is idle is heard of by the next run.
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
      // A worker that has just ended rejects.
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

function runShared(pool: Pool, task: Uint8Array, bytes: Uint8Array): Promise<Answer> {
  task.set(bytes);
  return pool.run(bytes.length);
}

function runAlone(pool: Pool, bytes: Borrowed): Promise<Answer> {
  const own = copied(bytes);
  return pool.run(own, { transferList: [own.buffer] });
}
