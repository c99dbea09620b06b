import type { StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';
import { StartupError } from '../errors.ts';
import {
  commitOf,
  type LogName,
  type Stage,
  type StoreReply,
  type StoreRequest,
  unpackPart,
} from '../wire/store_messages.ts';
import { checkScratch } from './database_path.ts';
import { type EventStore, joinedParts, type Store } from './store.ts';
import { openStoreThread, type StoreTarget, type StoreThread, StoreThreadExited } from './store_thread.ts';

/** Observer of an opened store. */
export interface Watch {
  /** Called with the progress of long operations, such as a migration. */
  stage?(stage: Stage): void;
  /** Called with warnings about the database. */
  notice?(text: string): void;
  /** Called when the thread has exited and a new one is started. */
  restarted?(): void;
}

/** Opens a SQLite file or a wide-column database in its own thread. Rejects with a StartupError. */
export async function openStore(place: StoreTarget, watch: Watch = {}): Promise<ThreadStore> {
  if ('path' in place) checkScratch(place.path, process.env);
  const failures = new Map<string, number>();
  const open = () => {
    const { stage, notice } = watch;
    return openStoreThread(place, { failures, ...(stage && { stage }), ...(notice && { notice }) });
  };
  const reopen = () => {
    watch.restarted?.();
    return open();
  };
  return new ThreadStore(reopen, await open(), failures);
}

/** A store in a thread of its own. If the thread dies, the next call starts a new one. */
export class ThreadStore implements Store {
  readonly #open: () => Promise<StoreThread>;
  #thread: Promise<StoreThread>;
  #closed = false;
  readonly failures: ReadonlyMap<string, number>;
  readonly events: EventStore;
  readonly audit: EventStore;

  constructor(
    open: () => Promise<StoreThread>,
    thread: StoreThread,
    failures: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#open = open;
    this.failures = failures;
    this.#thread = Promise.resolve(thread);
    this.events = this.#eventStore('events');
    this.audit = this.#eventStore('audit');
  }

  async load(): Promise<StoredState> {
    let parts: StoredPart[] = [];
    const hubId = await this.#read((thread) => {
      parts = [];
      return thread.ask({ ask: 'load' }, (part) => parts.push(unpackPart(part)));
    });
    return { ...joinedParts(parts), hubId };
  }

  async read(take: (part: StoredPart) => void): Promise<string> {
    let hasTaken = false;
    return await this.#read((thread) => {
      // Reading cannot restart once the reader has received parts.
      if (hasTaken) throw new StartupError('Cannot read the database: its thread has ended');
      return thread.ask({ ask: 'load' }, (part) => {
        hasTaken = true;
        take(unpackPart(part));
      });
    });
  }

  async #read(question: (thread: StoreThread) => Promise<StoreReply>): Promise<string> {
    const reply = await this.#ask(question);
    if (reply.say !== 'loaded') throw new Error(`Cannot load the store: its thread says ${reply.say}`);
    return reply.hubId;
  }

  async commit(batch: StoreBatch): Promise<void> {
    await this.#ask((thread) => thread.ask(commitOf(batch)));
  }

  #eventStore(log: LogName): EventStore {
    const ask = async <Say extends StoreReply['say']>(request: StoreRequest, say: Say) => {
      const reply = await this.#ask((thread) => thread.ask(request));
      if (reply.say !== say) throw new Error(`Cannot use a log: the store's thread says ${reply.say}`);
      return reply as StoreReply & { readonly say: Say };
    };
    return {
      range: async () => (await ask({ log, ask: 'event range' }, 'event range')).range,
      read: async (after, bytesMax) => (await ask({ log, ask: 'events', after, bytesMax }, 'events')).stored,
      positionAt: async (timeMs) => (await ask({ log, ask: 'event position', timeMs }, 'event position')).position,
      trim: (to) => ask({ log, ask: 'trim events', to }, 'trimmed'),
    };
  }

  /** Terminates the thread immediately, as a crash would; the next call starts a new one. */
  async kill(): Promise<void> {
    await (await this.#thread).terminate();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const thread = await this.#thread.catch(() => undefined);
    if (thread === undefined || thread.isGone) return;
    try {
      await thread.ask({ ask: 'close' });
    } finally {
      await thread.terminate();
    }
  }

  /**
   * Sends a request, and repeats it if the thread dies during the first attempt. Repeating a commit is safe, since
   * commits are idempotent.
   */
  async #ask(question: (thread: StoreThread) => Promise<StoreReply>): Promise<StoreReply> {
    try {
      return await question(await this.#living());
    } catch (error) {
      if (!(error instanceof StoreThreadExited)) throw error;
      return question(await this.#living());
    }
  }

  async #living(): Promise<StoreThread> {
    if (this.#closed) throw new Error('Cannot use the store: it is closed');
    const current = this.#thread;
    const thread = await current.catch(() => undefined);
    if (thread !== undefined && !thread.isGone) return thread;
    // Only the first caller that finds the thread dead starts a new one.
    if (this.#thread === current) this.#thread = this.#open();
    return this.#thread;
  }
}
