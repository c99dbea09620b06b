import { Worker } from 'node:worker_threads';
import { HubError } from '../../errors.ts';
import type { HistoryTopic } from '../../model/history.ts';
import type { FilesWanted, HistoryFile, LeasedFiles } from '../files.ts';
import { FLIGHT_WORDS, grounded } from '../flight.ts';
import { ended } from '../thread_end.ts';
import type { FromQueryThread, QuerySettings, ToQueryThread } from './query_messages.ts';
import { EVER, GAP_MS, LOOK_BACK_MS, type Span, type ThreadQuery } from './query.ts';

export interface PoolSettings {
  readonly threads: number;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** Most heap of a thread besides its database, in MB; 1,024 by default. */
  readonly heapMb?: number;
}

export interface PoolDeps {
  files(wanted: FilesWanted): Promise<LeasedFiles>;
  release(lease: number): void;
  damaged(path: string, why: string): void;
  schedule(delayMs: number, callback: () => void): () => void;
  readonly log: { warn(message: string, facts?: object): void };
}

/** Response to a query. */
export interface HistoryAnswer {
  /** UTF-8. */
  readonly bytes: Uint8Array;
  /** Cursor of the next page; undefined on the last one. */
  readonly next: string | undefined;
  /** Number of unreadable files that may contain further rows. */
  readonly damaged: number;
  /** Hubs of the cluster whose rows are missing; empty without a cluster. */
  readonly missingHubs?: readonly string[];
}

const QUERY_WORKER = new URL('../../../workers/history_query.ts', import.meta.url);
const [HEAP_MB, YOUNG_MB] = [1024, 32] as const;
/** Most queries that wait for a thread. */
const WAITING_MAX = 64;
/** DuckDB is interrupted again and again; a thread that does not answer after that many times is terminated. */
const [AGAIN_MS, INTERRUPTS_MAX] = [100, 5] as const;
/** Most time that a query waits for a thread, as a multiple of the query timeout, as it may follow slow ones. */
const WAIT_TIMES = 2;
/** Most time for a thread to start, which does not count for a query. */
const START_MS = 10_000;
/** Most time for a thread to stop. */
const PATIENCE_MS = 2000;
/** A thread that was idle for that long is stopped: its database and its heap take a hundred megabytes and more. */
export const IDLE_MS = 20_000;

interface PendingQuery {
  readonly question: ThreadQuery;
  /** Files besides those of this hub. */
  readonly others: readonly HistoryFile[];
  /** Whether it was answered or rejected. Later answers are ignored. */
  isSettled: boolean;
  resolve(answer: HistoryAnswer): void;
  reject(error: unknown): void;
}

interface RunningQuery {
  readonly id: number;
  readonly asked: PendingQuery;
  readonly leased: LeasedFiles;
  /** Number of interrupts sent to DuckDB. */
  interrupts: number;
  /** Cancels the next interrupt. */
  cancel(): void;
}

interface Thread {
  readonly worker: Worker;
  /** Memory shared with the thread: see flight.ts. */
  readonly flight: Int32Array;
  isReady: boolean;
  underWay: RunningQuery | undefined;
  /** Cancels stopping the idle thread. */
  cancelEnd(): void;
}

/**
 * Pool of threads that answer queries on the history. Each has its own database in memory, and one query at a time.
 * Threads start on demand, and stop when they have been idle for IDLE_MS.
 *
 *     waiting ──▶ preparing ─────▶ in flight ──▶ done
 *                 leases files     in a thread   releases its files
 *
 * As many queries as there are threads are prepared or in flight. When one of them is done, with any outcome, the next
 * one is taken.
 *
 * A query is rejected when it has waited for twice `timeoutMs`, when it was in flight for `timeoutMs`, or when its
 * client disconnects. Its thread is free when the query ends: DuckDB is interrupted, and a thread kept busy by
 * JavaScript is terminated and replaced.
 */
export class QueryPool {
  readonly #settings: PoolSettings;
  readonly #deps: PoolDeps;
  readonly #threads = new Set<Thread>();
  readonly #waiting: PendingQuery[] = [];
  /** Number of queries for which files are being leased. */
  #preparing = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(settings: PoolSettings, deps: PoolDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  /**
   * Answers a query. Rejects with HUB_BAD_REQUEST if it is too large, and with HUB_UNAVAILABLE if it cannot be answered
   * now or its client has disconnected.
   */
  ask(question: ThreadQuery, gone?: AbortSignal, others: readonly HistoryFile[] = []): Promise<HistoryAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || this.#waiting.length >= WAITING_MAX) {
        reject(unavailable(this.#isClosed ? 'the hub ends' : `${WAITING_MAX} questions wait already`));
        return;
      }
      if (gone?.aborted === true) {
        reject(clientLeft());
        return;
      }
      const { timeoutMs } = this.#settings;
      const settle = (how: () => void): void => {
        if (asked.isSettled) return;
        asked.isSettled = true;
        cancel();
        gone?.removeEventListener('abort', onGone);
        how();
      };
      const asked: PendingQuery = {
        ...{ question, others, isSettled: false },
        resolve: (answer) => settle(() => resolve(answer)),
        reject: (error) => settle(() => reject(error)),
      };
      const onGone = (): void => this.#giveUp(asked, clientLeft());
      const cancel = this.#deps.schedule(WAIT_TIMES * timeoutMs, () => this.#waitedTooLong(asked));
      gone?.addEventListener('abort', onGone, { once: true });
      this.#waiting.push(asked);
      this.#next();
    });
  }

  /** Number of threads. */
  get threads(): number {
    return this.#threads.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#refused(''));
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)));
  }

  /** Stops a thread, which accepts no more queries. */
  #end(thread: Thread): Promise<void> {
    thread.cancelEnd();
    this.#threads.delete(thread);
    return ended(thread.worker, { patienceMs: PATIENCE_MS, schedule: this.#deps.schedule });
  }

  #next(): void {
    const busy = [...this.#threads].filter(({ underWay }) => underWay !== undefined).length;
    if (busy + this.#preparing >= this.#settings.threads) return;
    const asked = this.#waiting.shift();
    if (asked === undefined) return;
    this.#preparing++;
    void this.#prepare(asked);
  }

  /** Leases files for a query, and passes it to a thread. Never rejects. */
  async #prepare(asked: PendingQuery): Promise<void> {
    let leased: LeasedFiles | undefined;
    try {
      leased = await this.#deps.files(wantedFor(asked.question));
      if (this.#isClosed) asked.reject(this.#refused(''));
      else if (!asked.isSettled) this.#begin(asked, leased);
    } catch (error) {
      this.#deps.log.warn('The history has no files for a question', { error: messageOf(error) });
      asked.reject(unavailable('its files cannot be had now, see the log of the hub'));
    }
    this.#preparing--;
    if (leased !== undefined && this.#threadOf(asked) === undefined) this.#deps.release(leased.lease);
    this.#next();
  }

  #begin(asked: PendingQuery, leased: LeasedFiles): void {
    const thread = [...this.#threads].find(({ underWay }) => underWay === undefined) ?? this.#open();
    const id = ++this.#lastId;
    thread.cancelEnd();
    const { question, others } = asked;
    const files = [...leased.files, ...others];
    thread.worker.postMessage({ say: 'question', id, question, files } satisfies ToQueryThread);
    thread.underWay = { id, asked, leased, interrupts: 0, cancel: () => undefined };
    this.#limit(thread);
  }

  /** Limits the time of the query in a thread, from now on. */
  #limit({ underWay, isReady }: Thread): void {
    if (underWay === undefined || underWay.interrupts > 0) return;
    underWay.cancel();
    const { timeoutMs } = this.#settings;
    underWay.cancel = this.#deps.schedule(isReady ? timeoutMs : START_MS + timeoutMs, () =>
      this.#giveUp(underWay.asked, this.#refused('it took too long')),
    );
  }

  #threadOf(asked: PendingQuery): Thread | undefined {
    return [...this.#threads].find(({ underWay }) => underWay?.asked === asked);
  }

  /** Rejects a query that has waited too long, unless a thread works on it. */
  #waitedTooLong(asked: PendingQuery): void {
    if (this.#threadOf(asked) !== undefined) return;
    const waitedMs = WAIT_TIMES * this.#settings.timeoutMs;
    this.#giveUp(asked, unavailable(`no thread was free for ${waitedMs} ms (${WAIT_TIMES} × history_query_timeout)`));
  }

  /** Answers a query with an error, and stops the work on it. A query that is being prepared is not begun. */
  #giveUp(asked: PendingQuery, error: HubError): void {
    asked.reject(error);
    const index = this.#waiting.indexOf(asked);
    if (index >= 0) this.#waiting.splice(index, 1);
    const thread = this.#threadOf(asked);
    if (thread !== undefined) this.#interrupt(thread);
  }

  /** Interrupts the query in a thread. Repeated, as an interrupt has no effect before DuckDB has begun. */
  #interrupt(thread: Thread): void {
    const { worker, flight, underWay } = thread;
    if (underWay === undefined) return;
    underWay.cancel();
    worker.postMessage({ say: 'interrupt', id: underWay.id } satisfies ToQueryThread);
    if (++underWay.interrupts > INTERRUPTS_MAX && grounded(flight)) {
      // The exit of the thread does the rest.
      void worker.terminate();
      return;
    }
    underWay.cancel = this.#deps.schedule(AGAIN_MS, () => this.#interrupt(thread));
  }

  #open(): Thread {
    const { memoryMb, heapMb = HEAP_MB } = this.#settings;
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB };
    const flight = new Int32Array(new SharedArrayBuffer(4 * FLIGHT_WORDS));
    const workerData = { memoryMb, flight } satisfies QuerySettings;
    const worker = new Worker(QUERY_WORKER, { name: 'history-query', workerData, resourceLimits });
    const thread: Thread = { worker, flight, isReady: false, underWay: undefined, cancelEnd: () => undefined };
    this.#threads.add(thread);
    worker.on('message', (message: FromQueryThread) => this.#receive(thread, message));
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

  #receive(thread: Thread, message: FromQueryThread): void {
    if (message.say === 'ready') {
      thread.isReady = true;
      this.#limit(thread);
      return;
    }
    const { underWay } = thread;
    // Of a thread that is to be terminated only the exit counts.
    if (underWay?.id !== message.id || underWay.interrupts > INTERRUPTS_MAX) return;
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
    const { asked } = thread.underWay;
    if (!asked.isSettled) asked.reject(this.#refused(why));
    this.#done(thread);
  }

  /** Error for a query that a thread has failed to answer. */
  #refused(why: string): HubError {
    const { memoryMb, timeoutMs } = this.#settings;
    const narrow = 'ask for a shorter span, fewer objects or a smaller area';
    const bad = (text: string) => new HubError('HUB_BAD_REQUEST', `Cannot look into the past: ${text}: ${narrow}`);
    if (this.#isClosed) return unavailable('the hub ends');
    if (/INTERRUPT|took too long/i.test(why)) return bad(`it takes more than ${timeoutMs} ms (history_query_timeout)`);
    if (/out of memory|memory limit/i.test(why))
      return bad(`it takes more than ${memoryMb} MiB (history_query_memory)`);
    // DuckDB's message may contain the statement, and names files.
    this.#deps.log.warn('A question about the past could not be answered', { error: why });
    return new HubError('HUB_INTERNAL', 'Cannot look into the past: the query has failed, see the log of the hub');
  }

  #done(thread: Thread): void {
    const { underWay } = thread;
    thread.underWay = undefined;
    underWay?.cancel();
    if (underWay !== undefined) this.#deps.release(underWay.leased.lease);
    if (this.#threads.has(thread)) thread.cancelEnd = this.#deps.schedule(IDLE_MS, () => void this.#end(thread));
    this.#next();
  }
}

/** Topics with the positions of an object. */
const KNOWN_BY = { trackable: ['motions'], provider: ['locations'], fence: [] } as const;

/** Files needed to answer a query. */
export function wantedFor(question: ThreadQuery): FilesWanted {
  switch (question.ask) {
    case 'places':
    case 'tracks':
    case 'objects':
      return spanOf([question.whose], question);
    case 'heatmap': {
      // The next fix after the span is searched, however late it is.
      const { whose, fromMs, maxGapMs } = question;
      return spanOf([whose], { fromMs: fromMs - maxGapMs, toMs: EVER.toMs });
    }
    case 'trips':
      return spanOf(['motions'], question);
    case 'way': {
      // Interpolation needs the positions before and after each time.
      const { whose, fromMs, toMs } = question;
      return spanOf([whose], { fromMs: fromMs - GAP_MS, toMs: toMs + GAP_MS });
    }
    case 'snapshot':
      return { topics: [question.whose], fromMs: question.atMs - question.maxAgeMs, toMs: question.atMs + 1 };
    case 'events':
      return spanOf([question.topic], question);
    case 'known':
      return spanOf([...KNOWN_BY[question.kind], 'fence_events'], EVER);
    case 'rows':
      return spanOf([question.selection.topic], question.selection);
    case 'sought':
      return wantedFor(question.of);
    default:
      // Exits after the span, and the last fixes of objects that have not left.
      return spanOf(['fence_events', 'motions', 'locations'], {
        fromMs: question.fromMs - LOOK_BACK_MS,
        toMs: EVER.toMs,
      });
  }
}

function spanOf(topics: readonly HistoryTopic[], { fromMs, toMs }: Span): FilesWanted {
  return { topics, fromMs, toMs };
}

function unavailable(why: string): HubError {
  return new HubError('HUB_UNAVAILABLE', `Cannot look into the past: ${why}`);
}

function clientLeft(): HubError {
  return unavailable('the client no longer waits for the answer');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
