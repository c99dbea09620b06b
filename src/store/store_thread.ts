import { Worker } from 'node:worker_threads';
import { StartupError } from '../errors.ts';
import type { PackedPart, Stage, StoreReply, StoreRequest, StoreSettings } from '../wire/store_messages.ts';
import type { WideColumnSettings } from './widecolumn/settings.ts';

const STORE_WORKER = new URL('../../workers/store.ts', import.meta.url);
const WIDE_COLUMN_WORKER = new URL('../../workers/wide_column.ts', import.meta.url);

/**
 * Young generation of the thread's heap. Its objects are short-lived, and a larger one would be filled and never
 * released.
 */
const YOUNG_GENERATION_MB = 12;

/** Settings of a SQLite file or of a wide-column database. */
export type StoreTarget = StoreSettings | WideColumnSettings;

/** The thread has exited before it replied, so the outcome of the request is unknown. */
export class StoreThreadExited extends Error {
  override name = 'StoreThreadExited';
}

/** Observer of a store thread. */
export interface ThreadWatch {
  /** Failed write attempts by reason; the thread increments them. */
  readonly failures?: Map<string, number>;
  /** Called with the progress of long operations while the store is opened. */
  stage?(stage: Stage): void;
  /** Called with warnings about the store. */
  notice?(text: string): void;
}

/** Starts the store's thread. Rejects with a StartupError if the store cannot be opened. */
export async function openStoreThread(place: StoreTarget, watch: ThreadWatch = {}): Promise<StoreThread> {
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
  /** Called with messages that precede the reply. */
  readonly part: (part: PackedPart) => void;
}

/** The worker thread that owns the file or the connections. It serves requests in order, so replies need no ids. */
export class StoreThread {
  readonly opened: Promise<StoreReply>;
  readonly #worker: Worker;
  readonly #failures: Map<string, number>;
  #waiting: Waiting[] = [];
  #gone: StoreThreadExited | undefined;

  constructor(place: StoreTarget, { failures = new Map(), stage, notice }: ThreadWatch) {
    this.#failures = failures;
    const worker = 'path' in place ? STORE_WORKER : WIDE_COLUMN_WORKER;
    this.#worker = new Worker(worker, {
      name: 'store',
      workerData: place satisfies StoreTarget,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (reply: StoreReply) => {
      if (reply.say === 'stage') stage?.(reply.stage);
      else if (reply.say === 'notice') notice?.(reply.text);
      else if (reply.say === 'part') this.#waiting[0]?.part(reply.part);
      else this.#answer(reply);
    });
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(undefined));
    this.opened = this.#reply();
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** Sends a request, transferring its bytes. Rejects with the store's error, or with StoreThreadExited. */
  ask(request: StoreRequest, part?: (part: PackedPart) => void): Promise<StoreReply> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    const entities = request.ask === 'commit' ? request.entities : undefined;
    const transfer = entities === undefined ? [] : [entities.buffer as ArrayBuffer];
    this.#worker.postMessage(request satisfies StoreRequest, transfer);
    return this.#reply(part);
  }

  /** Terminates the thread immediately. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #reply(part: (part: PackedPart) => void = () => undefined): Promise<StoreReply> {
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
    this.#gone ??= new StoreThreadExited(`The store thread has ended${why}`, { cause });
    for (const { reject } of this.#waiting.splice(0)) reject(this.#gone);
  }
}

function errorOf({ startup, message, code }: StoreReply & { say: 'failed' }): Error {
  if (startup) return new StartupError(message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
