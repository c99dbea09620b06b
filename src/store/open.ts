import { Worker } from 'node:worker_threads';
import {
  packBatch,
  type StoreReply,
  type StoreRequest,
  type StoreSettings,
  unpackKept,
} from '../../workers/store_protocol.ts';
import { StartupError } from '../errors.ts';
import type { Kept, Store, StoreBatch } from './store.ts';

const STORE_WORKER = new URL('../../workers/store.ts', import.meta.url);

/** Opens the SQLite file in a thread of its own. Rejects with a StartupError when the file cannot be used. */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const store = new StoreThread(settings);
  try {
    await store.opened;
  } catch (error) {
    await store.terminate();
    throw error;
  }
  return store;
}

class StoreThread implements Store {
  readonly opened: Promise<StoreReply>;
  readonly #worker: Worker;
  #waiting: { resolve(reply: StoreReply): void; reject(error: Error): void } | undefined;
  #ended: Error | undefined;

  constructor(settings: StoreSettings) {
    this.#worker = new Worker(STORE_WORKER, { workerData: settings satisfies StoreSettings });
    this.#worker.on('message', (reply: StoreReply) => this.#answer(reply));
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('The store thread has ended')));
    this.opened = this.#reply();
  }

  async load(): Promise<Kept> {
    const reply = await this.#ask({ ask: 'load' });
    if (reply.say !== 'loaded') throw new Error(`Cannot load the store: its thread says ${reply.say}`);
    return unpackKept(reply.bytes);
  }

  async commit(batch: StoreBatch): Promise<void> {
    await this.#ask({ ask: 'commit', bytes: packBatch(batch) });
  }

  async close(): Promise<void> {
    await this.#ask({ ask: 'close' });
    await this.terminate();
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(request: StoreRequest): Promise<StoreReply> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const transfer = request.ask === 'commit' ? [request.bytes.buffer as ArrayBuffer] : [];
    this.#worker.postMessage(request satisfies StoreRequest, transfer);
    return this.#reply();
  }

  #reply(): Promise<StoreReply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #answer(reply: StoreReply): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (reply.say !== 'failed') waiting?.resolve(reply);
    else waiting?.reject(reply.startup ? new StartupError(reply.message) : new Error(reply.message));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
