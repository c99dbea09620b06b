import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { type Borrowed, copied, lend, look } from '../model/borrowed.ts';
import {
  answerArea,
  LARGE,
  type LargeTask,
  LENGTH,
  type Mailbox,
  type MailboxMemory,
  NUMBER,
  NUMBER_AT_START,
  numberAfter,
  newMailboxMemory,
  type WorkerAnswer,
  type WorkerSignal,
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

/** Default size of a thread's young generation. */
const YOUNG_GENERATION_MB = 64;

export interface ThreadOptions {
  readonly workerData?: object;
  /** Size of the memory for a task, and for an answer, that is shared with the worker. Larger ones are transferred. */
  readonly sharedBytes?: number;
  /** Size of the young generation. Objects that exceed it are copied twice before they become garbage. */
  readonly youngGenerationMb?: number;
  /** Whether the worker starts immediately; otherwise `restart` starts it. */
  readonly isNeeded?: boolean;
}

/** Function that starts a thread: openThread, or a replacement without threads. */
export type OpenThread = typeof openThread;

/**
 * Starts a worker from a file of workers/, whose default export is a task loop (workers/task_loop.ts). When the worker
 * dies, its state is lost, and the thread has no worker until `restart`.
 */
export function openThread(
  file: URL,
  { workerData, sharedBytes = 0, youngGenerationMb = YOUNG_GENERATION_MB, isNeeded = true }: ThreadOptions = {},
): Thread {
  let worker: LoopingWorker | undefined;
  let isClosed = false;

  const drop = async (dropped: LoopingWorker | undefined): Promise<void> => {
    if (worker === dropped) worker = undefined;
    await dropped?.terminate();
  };
  const start = (): void => {
    const started: LoopingWorker = new LoopingWorker(file, {
      workerData,
      sharedBytes,
      youngGenerationMb,
      ended: () => void drop(started),
    });
    worker = started;
  };
  if (isNeeded) start();
  const gone = (): Error => new Error(isClosed ? 'The thread is closed' : 'The worker has ended');
  return {
    async signal(word) {
      if (worker === undefined) throw gone();
      await worker.post(word);
    },
    run(bytes) {
      return worker === undefined ? Promise.reject(gone()) : worker.run(bytes);
    },
    async memory() {
      return worker?.memory();
    },
    get isAlive() {
      return worker !== undefined;
    },
    async restart() {
      await drop(worker);
      if (!isClosed) start();
    },
    kill: () => drop(worker),
    close() {
      isClosed = true;
      return drop(worker);
    },
  };
}

interface LoopingWorkerOptions {
  readonly workerData: object | undefined;
  readonly sharedBytes: number;
  readonly youngGenerationMb: number;
  /** The worker has exited. */
  ended(): void;
}

/**
 * A worker in one endless task of a Piscina pool of its own: in a shared pool, a slow shard would block the others.
 * Tasks and answers pass through a mailbox. Each worker has its own, since a terminated one may still write to its
 * memory.
 */
class LoopingWorker {
  readonly #pool: Piscina<Mailbox<MessagePort>, never>;
  readonly #memory: MailboxMemory;
  readonly #port: MessagePort;
  #number = NUMBER_AT_START;
  #running: PromiseWithResolvers<Borrowed> | undefined;
  #end: Error | undefined;

  constructor(file: URL, { workerData, sharedBytes, youngGenerationMb, ended }: LoopingWorkerOptions) {
    this.#memory = newMailboxMemory(sharedBytes);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (answer: WorkerAnswer) => this.#answered(answer));
    this.#pool = new Piscina({
      filename: file.href,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
      workerData,
    });
    // The task fails, too.
    this.#pool.on('error', () => undefined);
    const loop = this.#pool.run({ ...this.#memory, port: port2 }, { transferList: [port2] });
    loop.catch((error: Error) => this.#fail(error));
    for (const worker of this.#pool.threads) worker.once('exit', ended);
  }

  /** See Thread. hot */
  run(lent: Borrowed): Promise<Borrowed> {
    const bytes = look(lent);
    const { task } = this.#memory;
    if (bytes.length > task.length) return this.post(copied(lent));
    task.set(bytes);
    return this.#begin(bytes.length);
  }

  /** Passes a signal, or a task that is transferred. */
  post(large: LargeTask): Promise<Borrowed> {
    this.#port.postMessage(large, large instanceof Uint8Array ? [large.buffer as ArrayBuffer] : []);
    return this.#begin(LARGE);
  }

  /** Memory of the worker; undefined if it has just exited. */
  async memory(): Promise<ThreadMemory | undefined> {
    const found = await this.#pool.threads[0]?.getHeapStatistics().catch(() => undefined);
    if (found === undefined) return undefined;
    const { used_heap_size: heapUsedBytes, total_heap_size: heapTotalBytes, external_memory: externalBytes } = found;
    return { heapUsedBytes, heapTotalBytes, externalBytes };
  }

  async terminate(): Promise<void> {
    await this.#pool.destroy();
    this.#fail(new Error('The worker was terminated'));
  }

  #begin(length: number): Promise<Borrowed> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const { control } = this.#memory;
    Atomics.store(control, LENGTH, length);
    this.#number = numberAfter(this.#number);
    Atomics.store(control, NUMBER, this.#number);
    Atomics.notify(control, NUMBER);
    this.#running = Promise.withResolvers();
    return this.#running.promise;
  }

  // hot
  #answered(answer: WorkerAnswer): void {
    const running = this.#running;
    this.#running = undefined;
    if (typeof answer === 'number') running?.resolve(lend(answerArea(this.#memory, this.#number).subarray(0, answer)));
    else if (answer instanceof Uint8Array) running?.resolve(lend(answer));
    else running?.reject(answer.error);
  }

  #fail(error: Error): void {
    this.#end ??= error;
    this.#port.close();
    this.#running?.reject(this.#end);
    this.#running = undefined;
  }
}
