import { Worker } from 'node:worker_threads';
import { StartupError } from '../errors.ts';
import type { Stage, StoreReply, StoreRequest, StoreSettings } from '../wire/store_messages.ts';
import type { WideColumnSettings } from './widecolumn/settings.ts';

const STORE_WORKER = new URL('../../workers/store.ts', import.meta.url);
const WIDE_COLUMN_WORKER = new URL('../../workers/wide_column.ts', import.meta.url);

/** What is made there is used at once: a larger one would be filled all the same, and never given back. */
const YOUNG_GENERATION_MB = 12;

/** What a thread is opened for: a file, or a wide-column database. */
export type Place = StoreSettings | WideColumnSettings;

/** The thread has ended: whether it had done what it was asked is not known. */
export class StoreThreadGone extends Error {
  override name = 'StoreThreadGone';
}

/** Who is told of what a thread does besides its answers. */
export interface ThreadWatch {
  /** Attempts that fail are counted here, by their reason. */
  readonly failures?: Map<string, number>;
  /** Told of what takes time while the place is opened. */
  stage?(stage: Stage): void;
  /** Told of what somebody should know of the place. */
  notice?(text: string): void;
}

/** Starts the store's thread. Rejects with a StartupError when the place cannot be used. */
export async function openStoreThread(place: Place, watch: ThreadWatch = {}): Promise<StoreThread> {
  const thread = new StoreThread(place, watch);
  try {
    await thread.opened;
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return thread;
}

interface Waiting {
  resolve(reply: StoreReply): void;
  reject(error: Error): void;
  /** Hears of what comes before the reply. */
  readonly part: (bytes: Uint8Array) => void;
}

/** The worker that owns the file, or the connections. It serves requests in their order, so its replies need no numbers. */
export class StoreThread {
  readonly opened: Promise<StoreReply>;
  readonly #worker: Worker;
  readonly #failures: Map<string, number>;
  #waiting: Waiting[] = [];
  #gone: StoreThreadGone | undefined;

  constructor(place: Place, { failures = new Map(), stage, notice }: ThreadWatch) {
    this.#failures = failures;
    const worker = 'path' in place ? STORE_WORKER : WIDE_COLUMN_WORKER;
    this.#worker = new Worker(worker, {
      name: 'store',
      workerData: place satisfies Place,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (reply: StoreReply) => {
      if (reply.say === 'stage') stage?.(reply.stage);
      else if (reply.say === 'notice') notice?.(reply.text);
      else if (reply.say === 'part') this.#waiting[0]?.part(reply.bytes);
      else this.#answer(reply);
    });
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(undefined));
    this.opened = this.#reply();
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** Hands the bytes over. Rejects with the store's error, or with StoreThreadGone. */
  ask(request: StoreRequest, part?: (bytes: Uint8Array) => void): Promise<StoreReply> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    const entities = request.ask === 'commit' ? request.entities : undefined;
    const transfer = entities === undefined ? [] : [entities.buffer as ArrayBuffer];
    this.#worker.postMessage(request satisfies StoreRequest, transfer);
    return this.#reply(part);
  }

  /** Ends the thread at once, in the middle of what it is doing. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #reply(part: (bytes: Uint8Array) => void = () => undefined): Promise<StoreReply> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject, part }));
  }

  #answer(reply: StoreReply): void {
    const waiting = this.#waiting.shift();
    for (const [reason, count] of reply.failures ?? []) {
      this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + count);
    }
    if (reply.say === 'failed') waiting?.reject(errorOf(reply));
    else waiting?.resolve(reply);
  }

  #end(cause: unknown): void {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    this.#gone ??= new StoreThreadGone(`The store thread has ended${why}`, { cause });
    for (const { reject } of this.#waiting.splice(0)) reject(this.#gone);
  }
}

function errorOf({ startup, message, code }: StoreReply & { say: 'failed' }): Error {
  if (startup) return new StartupError(message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
