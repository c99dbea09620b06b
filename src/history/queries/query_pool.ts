import { Worker } from 'node:worker_threads';
import { HubError } from '../../errors.ts';
import type { HistoryTopic } from '../../model/history.ts';
import type { FilesWanted, LeasedFiles } from '../files.ts';
import { ended } from '../thread_end.ts';
import type { FromQueryThread, QuerySettings, ToQueryThread } from './query_messages.ts';
import { LOOK_BACK_MS, type Question } from './question.ts';

export interface PoolSettings {
  readonly threads: number;
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

export interface PoolDeps {
  files(wanted: FilesWanted): Promise<LeasedFiles>;
  release(lease: number): void;
  damaged(path: string, why: string): void;
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The answer to a question. */
export interface HistoryAnswer {
  /** In UTF-8. */
  readonly bytes: Uint8Array;
  /** The cursor of the next part; undefined where this is the last. */
  readonly next: string | undefined;
  /** How many files could not be read that may have more to say. */
  readonly damaged: number;
}

const QUERY_WORKER = new URL('../../../workers/history_query.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
/** Questions that may wait for a thread. */
const WAITING_MAX = 64;
/** A question is told to end again and again, and after so many times nobody waits for it. */
const [AGAIN_MS, INTERRUPTS_MAX] = [100, 20] as const;
/** How long the end of a thread may take. */
const PATIENCE_MS = 2000;

interface Asked {
  readonly question: Question;
  resolve(answer: HistoryAnswer): void;
  reject(error: unknown): void;
}

interface Thread {
  readonly worker: Worker;
  underWay: { readonly id: number; readonly asked: Asked; readonly leased: LeasedFiles; stop(): void } | undefined;
}

/**
 * Threads that answer questions about the past: each has a database of its own in memory, and one question at a time. They are
 * started when they are needed. A question that takes longer, or more memory, than it may is given up.
 */
export class QueryPool {
  readonly #settings: PoolSettings;
  readonly #deps: PoolDeps;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Asked[] = [];
  /** Threads that get files for a question. */
  #preparing = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(settings: PoolSettings, deps: PoolDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  /** Rejects with HUB_BAD_REQUEST for a question that is too large, and with HUB_UNAVAILABLE where it is not answered now. */
  ask(question: Question): Promise<HistoryAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || this.#waiting.length >= WAITING_MAX) {
        const why = this.#isClosed ? 'the hub ends' : `${WAITING_MAX} questions wait already`;
        reject(new HubError('HUB_UNAVAILABLE', `Cannot look into the past: ${why}`));
        return;
      }
      this.#waiting.push({ question, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#refused(''));
    const patience = { patienceMs: PATIENCE_MS, schedule: this.#deps.schedule };
    await Promise.all([...this.#threads].map(({ worker }) => ended(worker, patience)));
  }

  #next(): void {
    const busy = [...this.#threads].filter(({ underWay }) => underWay !== undefined).length;
    if (busy + this.#preparing >= this.#settings.threads) return;
    const asked = this.#waiting.shift();
    if (asked === undefined) return;
    this.#preparing++;
    void this.#begin(asked).catch((error: unknown) => {
      this.#preparing--;
      asked.reject(new HubError('HUB_UNAVAILABLE', `Cannot look into the past: ${messageOf(error)}`, { cause: error }));
      this.#next();
    });
  }

  async #begin(asked: Asked): Promise<void> {
    const leased = await this.#deps.files(wantedFor(asked.question));
    this.#preparing--;
    if (this.#isClosed) {
      this.#deps.release(leased.lease);
      asked.reject(this.#refused(''));
      return;
    }
    const thread = [...this.#threads].find(({ underWay }) => underWay === undefined) ?? this.#open();
    const id = ++this.#lastId;
    const { timeoutMs } = this.#settings;
    let interrupts = 0;
    let stop = this.#deps.schedule(timeoutMs, () => interrupt());
    // What the thread is about to begin does not hear of it.
    const interrupt = (): void => {
      thread.worker.postMessage({ say: 'interrupt', id } satisfies ToQueryThread);
      // It answers to nobody then, and is free when it is done.
      if (++interrupts === INTERRUPTS_MAX) asked.reject(this.#refused('it took too long'));
      stop = this.#deps.schedule(AGAIN_MS, interrupt);
    };
    thread.underWay = { id, asked, leased, stop: () => stop() };
    const { files } = leased;
    thread.worker.postMessage({ say: 'question', id, question: asked.question, files } satisfies ToQueryThread);
  }

  #open(): Thread {
    const { memoryMb } = this.#settings;
    const workerData = { memoryMb } satisfies QuerySettings;
    const worker = new Worker(QUERY_WORKER, { name: 'history-query', workerData, resourceLimits: HEAP_MB });
    const thread: Thread = { worker, underWay: undefined };
    this.#threads.add(thread);
    worker.on('message', (message: FromQueryThread) => this.#hear(thread, message));
    let failure = 'it took too long';
    worker.on('error', (error) => {
      failure = String(error);
    });
    worker.on('exit', () => {
      this.#threads.delete(thread);
      this.#fail(thread, failure);
    });
    return thread;
  }

  #hear(thread: Thread, message: FromQueryThread): void {
    const { underWay } = thread;
    if (underWay?.id !== message.id) return;
    if (message.say === 'failure' && !message.isAsked) {
      this.#fail(thread, message.why);
      return;
    }
    if (message.say === 'failure') underWay.asked.reject(new HubError('HUB_BAD_REQUEST', message.why));
    else {
      for (const { path, why } of message.damaged) this.#deps.damaged(path, why);
      const damaged = underWay.leased.damaged + message.damaged.length;
      underWay.asked.resolve({ bytes: message.bytes, next: message.next, damaged });
    }
    this.#done(thread);
  }

  #fail(thread: Thread, why: string): void {
    if (thread.underWay === undefined) return;
    thread.underWay.asked.reject(this.#refused(why));
    this.#done(thread);
  }

  /** What is answered for a question that a thread has not answered, by what it says. */
  #refused(why: string): HubError {
    const { memoryMb, timeoutMs } = this.#settings;
    const narrow = 'ask for a shorter span, fewer objects or a smaller area';
    const bad = (text: string) => new HubError('HUB_BAD_REQUEST', `Cannot look into the past: ${text}: ${narrow}`);
    if (this.#isClosed) return new HubError('HUB_UNAVAILABLE', 'Cannot look into the past: the hub ends');
    if (/INTERRUPT|took too long/i.test(why)) return bad(`it takes more than ${timeoutMs} ms (history_query_timeout)`);
    if (/Out of Memory/i.test(why)) return bad(`it takes more than ${memoryMb} MiB (history_query_memory)`);
    return new HubError('HUB_INTERNAL', `Cannot look into the past: ${why}`);
  }

  #done(thread: Thread): void {
    thread.underWay?.stop();
    if (thread.underWay !== undefined) this.#deps.release(thread.underWay.leased.lease);
    thread.underWay = undefined;
    this.#next();
  }
}

/** The files that a question is answered from. */
export function wantedFor(question: Question): FilesWanted {
  switch (question.ask) {
    case 'places':
    case 'tracks':
    case 'heatmap':
      return spanOf([question.whose], question);
    case 'trips':
      return spanOf(['motions'], question);
    case 'snapshot':
      return { topics: [question.whose], fromMs: question.atMs - question.maxAgeMs, toMs: question.atMs + 1 };
    case 'events':
      return spanOf([question.topic], question);
    default:
      return { topics: ['fence_events'], fromMs: question.fromMs - LOOK_BACK_MS, toMs: question.toMs };
  }
}

function spanOf(topics: readonly HistoryTopic[], { fromMs, toMs }: { fromMs: number; toMs: number }): FilesWanted {
  return { topics, fromMs, toMs };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
