import { Worker } from 'node:worker_threads';
import { HubError } from '../../errors.ts';
import type { HistoryTopic } from '../../model/history.ts';
import type { FilesWanted, LeasedFiles } from '../files.ts';
import { ended } from '../thread_end.ts';
import type { FromQueryThread, QuerySettings, ToQueryThread } from './query_messages.ts';
import { GAP_MS, LOOK_BACK_MS, type Question } from './question.ts';

export interface PoolSettings {
  readonly threads: number;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** What a thread may take beside its database; 1,024 when left out. */
  readonly heapMb?: number;
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
const [HEAP_MB, YOUNG_MB] = [1024, 32] as const;
/** Questions that may wait for a thread. */
const WAITING_MAX = 64;
/** A question is told to end again and again, and after so many times nobody waits for it. */
const [AGAIN_MS, INTERRUPTS_MAX] = [100, 20] as const;
/** How long the end of a thread may take. */
const PATIENCE_MS = 2000;

interface Asked {
  readonly question: Question;
  /** Aborted when nobody waits for the answer. */
  readonly gone: AbortSignal | undefined;
  /** Once it is settled, these do nothing. */
  resolve(answer: HistoryAnswer): void;
  reject(error: unknown): void;
}

interface UnderWay {
  readonly id: number;
  readonly asked: Asked;
  readonly leased: LeasedFiles;
  /** How often it was told to end. */
  interrupts: number;
  /** Calls off the next time. */
  callOff(): void;
}

interface Thread {
  readonly worker: Worker;
  underWay: UnderWay | undefined;
}

/**
 * Threads that answer questions about the past: each has a database of its own in memory, and one question at a time. They are
 * started when they are needed. A question that takes longer, or more memory, than it may is given up, and so is one whose
 * client has gone.
 *
 *     waiting ──▶ preparing ──▶ under way ──▶ done
 *                 gets files    in a thread   its files are released
 *
 * As many as there are threads are prepared or under way. Whenever one of these is done, whatever has become of it, the next
 * one is taken.
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

  /**
   * Rejects with HUB_BAD_REQUEST for a question that is too large, and with HUB_UNAVAILABLE where it is not answered now, or
   * nobody waits for it any more.
   */
  ask(question: Question, gone?: AbortSignal): Promise<HistoryAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || this.#waiting.length >= WAITING_MAX) {
        const why = this.#isClosed ? 'the hub ends' : `${WAITING_MAX} questions wait already`;
        reject(new HubError('HUB_UNAVAILABLE', `Cannot look into the past: ${why}`));
        return;
      }
      const asked: Asked = { question, gone, resolve, reject };
      if (gone?.aborted === true) {
        reject(nobodyWaits());
        return;
      }
      gone?.addEventListener('abort', () => this.#forget(asked), { once: true });
      this.#waiting.push(asked);
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
    void this.#prepare(asked);
  }

  /** Gets files for a question, and hands it to a thread. Never rejects. */
  async #prepare(asked: Asked): Promise<void> {
    let leased: LeasedFiles | undefined;
    try {
      leased = await this.#deps.files(wantedFor(asked.question));
      if (this.#isClosed) asked.reject(this.#refused(''));
      else if (asked.gone?.aborted !== true) this.#begin(asked, leased);
    } catch (error) {
      asked.reject(new HubError('HUB_UNAVAILABLE', `Cannot look into the past: ${messageOf(error)}`, { cause: error }));
    }
    this.#preparing--;
    if (leased !== undefined && !this.#isUnderWay(asked)) this.#deps.release(leased.lease);
    this.#next();
  }

  #begin(asked: Asked, leased: LeasedFiles): void {
    const thread = [...this.#threads].find(({ underWay }) => underWay === undefined) ?? this.#open();
    const id = ++this.#lastId;
    const { question } = asked;
    thread.worker.postMessage({ say: 'question', id, question, files: leased.files } satisfies ToQueryThread);
    const callOff = this.#deps.schedule(this.#settings.timeoutMs, () => this.#interrupt(thread));
    thread.underWay = { id, asked, leased, interrupts: 0, callOff };
  }

  #isUnderWay(asked: Asked): boolean {
    return [...this.#threads].some(({ underWay }) => underWay?.asked === asked);
  }

  /** Nobody waits for the answer any more. One that is being prepared is not begun. */
  #forget(asked: Asked): void {
    asked.reject(nobodyWaits());
    const place = this.#waiting.indexOf(asked);
    if (place >= 0) this.#waiting.splice(place, 1);
    const thread = [...this.#threads].find(({ underWay }) => underWay?.asked === asked);
    if (thread !== undefined) this.#interrupt(thread);
  }

  /** Ends what a thread has under way. What it is about to begin does not hear of it, so it is told again. */
  #interrupt(thread: Thread): void {
    const { worker, underWay } = thread;
    if (underWay === undefined) return;
    underWay.callOff();
    worker.postMessage({ say: 'interrupt', id: underWay.id } satisfies ToQueryThread);
    // It answers to nobody then, and is free when it is done.
    if (++underWay.interrupts === INTERRUPTS_MAX) underWay.asked.reject(this.#refused('it took too long'));
    underWay.callOff = this.#deps.schedule(AGAIN_MS, () => this.#interrupt(thread));
  }

  #open(): Thread {
    const { memoryMb, heapMb = HEAP_MB } = this.#settings;
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB };
    const workerData = { memoryMb } satisfies QuerySettings;
    const worker = new Worker(QUERY_WORKER, { name: 'history-query', workerData, resourceLimits });
    const thread: Thread = { worker, underWay: undefined };
    this.#threads.add(thread);
    worker.on('message', (message: FromQueryThread) => this.#hear(thread, message));
    let failure = 'its thread has ended';
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
    const { underWay } = thread;
    thread.underWay = undefined;
    underWay?.callOff();
    if (underWay !== undefined) this.#deps.release(underWay.leased.lease);
    this.#next();
  }
}

/** The files that a question is answered from. */
export function wantedFor(question: Question): FilesWanted {
  switch (question.ask) {
    case 'places':
    case 'tracks':
    case 'heatmap':
    case 'objects':
      return spanOf([question.whose], question);
    case 'trips':
      return spanOf(['motions'], question);
    case 'way': {
      // Moments have a place by those before and after them.
      const { whose, fromMs, toMs } = question;
      return spanOf([whose], { fromMs: fromMs - GAP_MS, toMs: toMs + GAP_MS });
    }
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

function nobodyWaits(): HubError {
  return new HubError('HUB_UNAVAILABLE', 'Cannot look into the past: nobody waits for the answer');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
