import type { ErrorReason } from '../../reasons.ts';
import { Problem } from '../../problem.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hubError, HubError, messageOf } from '../../errors.ts';
import type { HistoryTopic } from '../../model/history.ts';
import type { FilesWanted, HistoryFile, LeasedFiles } from '../files.ts';
import type { FromQueryProcess, ToQueryProcess } from './query_messages.ts';
import { EVER, GAP_MS, LOOK_BACK_MS, type Span, type PoolQuery } from './query.ts';

export interface PoolSettings {
  readonly processes: number;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** Maximum heap of a process besides its database, in MB; 1,024 by default. */
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
  /** Number of unreadable files that may contain more rows. */
  readonly damaged: number;
  /** Hubs of the cluster whose rows are missing; empty without a cluster. */
  readonly missingHubs?: readonly string[];
}

const QUERY_PROCESS = fileURLToPath(new URL('../../../workers/history_query.ts', import.meta.url));
const [HEAP_MB, SEMI_SPACE_MB] = [1024, 16] as const;
/** Maximum number of queries that wait for a process. */
const WAITING_MAX = 64;
/** A process is killed if its query has not stopped within this time after an interrupt. */
const KILL_MS = 500;
/**
 * Maximum time that a query waits for a process, as a multiple of the query timeout, since slow queries may precede it.
 */
const WAIT_TIMES = 2;
/** Maximum time for a process to start. It does not count towards the query timeout. */
const START_MS = 10_000;
/** An idle process is stopped after this time, since its database and heap take 100 MB and more. */
export const IDLE_MS = 20_000;
/**
 * Number of characters retained of a process's last output: enough for the reason of a crash, which is followed by a
 * stack trace of up to 10,000 characters.
 */
const OUTPUT_MAX = 16_000;

interface PendingQuery {
  readonly question: PoolQuery;
  /** Files with rows of other hubs. */
  readonly others: readonly HistoryFile[];
  /** Whether the query was answered or rejected. Later answers are ignored. */
  isSettled: boolean;
  resolve(answer: HistoryAnswer): void;
  reject(error: unknown): void;
}

interface RunningQuery {
  readonly id: number;
  readonly asked: PendingQuery;
  readonly leased: LeasedFiles;
  isInterrupted: boolean;
  /** Cancels the pending timeout. */
  cancel(): void;
}

interface QueryProcess {
  readonly child: ChildProcess;
  isReady: boolean;
  /** Whether the process was killed. Only its exit is handled then. */
  isKilled: boolean;
  underWay: RunningQuery | undefined;
  /** Cancels the idle timeout. */
  cancelEnd(): void;
}

/**
 * Pool of processes that answer queries on the history. Each process has its own in-memory database and runs one query
 * at a time. Processes start on demand and stop when they have been idle for IDLE_MS.
 *
 *     waiting ──▶ preparing ─────▶ in flight ──▶ done
 *                 leases files     in a process   releases its files
 *
 * The number of queries that are being prepared or in flight is limited by the number of processes. When one of them is
 * done, with any outcome, the next waiting one starts.
 *
 * A query is rejected when it has waited for twice `timeoutMs`, when it was in flight for `timeoutMs`, or when its
 * client disconnects. The pool then interrupts DuckDB; a process that has not stopped within KILL_MS is killed and
 * replaced. The pool uses processes rather than threads: a thread that is terminated or runs out of memory during a
 * DuckDB statement crashes the whole hub, and its memory does not return to the operating system.
 */
export class QueryPool {
  readonly #settings: PoolSettings;
  readonly #deps: PoolDeps;
  readonly #processes = new Set<QueryProcess>();
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
   * Answers a query. Rejects with HUB_BAD_REQUEST if the query is too large, and with HUB_UNAVAILABLE if it cannot be
   * answered now or the client has disconnected.
   */
  ask(question: PoolQuery, gone?: AbortSignal, others: readonly HistoryFile[] = []): Promise<HistoryAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed || this.#waiting.length >= WAITING_MAX) {
        reject(
          this.#isClosed ? hubError('closing', QUERY) : hubError('too_many_waiting', { ...QUERY, count: WAITING_MAX }),
        );
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

  /** Number of processes. */
  get processes(): number {
    return this.#processes.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#refused(''));
    await Promise.all([...this.#processes].map((one) => this.#end(one)));
  }

  /** Stops a process, which accepts no more queries. Nothing is lost, since it only reads. */
  #end(one: QueryProcess): Promise<void> {
    one.cancelEnd();
    this.#processes.delete(one);
    return new Promise((resolve) => {
      if (hasExited(one.child)) resolve();
      one.child.once('exit', () => resolve());
      one.child.kill('SIGKILL');
    });
  }

  #next(): void {
    const busy = [...this.#processes].filter(({ underWay }) => underWay !== undefined).length;
    if (busy + this.#preparing >= this.#settings.processes) return;
    const asked = this.#waiting.shift();
    if (asked === undefined) return;
    this.#preparing++;
    void this.#prepare(asked);
  }

  /** Leases files for a query, and passes it to a process. Never rejects. */
  async #prepare(asked: PendingQuery): Promise<void> {
    let leased: LeasedFiles | undefined;
    try {
      leased = await this.#deps.files(wantedFor(asked.question));
      if (this.#isClosed) asked.reject(this.#refused(''));
      else if (!asked.isSettled) this.#begin(asked, leased);
    } catch (error) {
      this.#deps.log.warn('The history cannot provide files for a query', { error: messageOf(error) });
      asked.reject(hubError('history_files_unavailable'));
    }
    this.#preparing--;
    if (leased !== undefined && this.#processOf(asked) === undefined) this.#deps.release(leased.lease);
    this.#next();
  }

  #begin(asked: PendingQuery, leased: LeasedFiles): void {
    const one = [...this.#processes].find(({ underWay }) => underWay === undefined) ?? this.#open();
    const id = ++this.#lastId;
    one.cancelEnd();
    const { question, others } = asked;
    const files = [...leased.files, ...others];
    one.underWay = { id, asked, leased, isInterrupted: false, cancel: () => undefined };
    send(one, { say: 'question', id, question, files });
    this.#limit(one);
  }

  /** Starts the timeout of the query in a process. */
  #limit({ underWay, isReady }: QueryProcess): void {
    if (underWay === undefined || underWay.isInterrupted) return;
    underWay.cancel();
    const { timeoutMs } = this.#settings;
    underWay.cancel = this.#deps.schedule(isReady ? timeoutMs : START_MS + timeoutMs, () =>
      this.#giveUp(underWay.asked, this.#refused('it took too long')),
    );
  }

  #processOf(asked: PendingQuery): QueryProcess | undefined {
    return [...this.#processes].find(({ underWay }) => underWay?.asked === asked);
  }

  /** Rejects a query that has waited too long, unless a process works on it. */
  #waitedTooLong(asked: PendingQuery): void {
    if (this.#processOf(asked) !== undefined) return;
    const waitedMs = WAIT_TIMES * this.#settings.timeoutMs;
    this.#giveUp(asked, hubError('no_query_process', { limit: waitedMs, factor: WAIT_TIMES }));
  }

  /** Rejects a query and stops its processing. A query that is being prepared is not started. */
  #giveUp(asked: PendingQuery, error: HubError): void {
    asked.reject(error);
    const index = this.#waiting.indexOf(asked);
    if (index >= 0) this.#waiting.splice(index, 1);
    const one = this.#processOf(asked);
    if (one !== undefined) this.#interrupt(one);
  }

  /**
   * Interrupts the query in a process, and kills the process if the query continues. The handler of its exit replaces
   * it.
   */
  #interrupt(one: QueryProcess): void {
    const { underWay } = one;
    if (underWay === undefined) return;
    underWay.cancel();
    underWay.isInterrupted = true;
    send(one, { say: 'interrupt', id: underWay.id });
    underWay.cancel = this.#deps.schedule(KILL_MS, () => {
      one.isKilled = true;
      one.child.kill('SIGKILL');
    });
  }

  #open(): QueryProcess {
    const { memoryMb, heapMb = HEAP_MB } = this.#settings;
    const limits = [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${SEMI_SPACE_MB}`];
    const child = fork(QUERY_PROCESS, [String(memoryMb)], {
      execArgv: [...process.execArgv.filter((option) => !option.startsWith('--inspect')), ...limits],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const one: QueryProcess = {
      child,
      isReady: false,
      isKilled: false,
      underWay: undefined,
      cancelEnd: () => undefined,
    };
    this.#processes.add(one);
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_MAX);
    });
    child.on('message', (message: FromQueryProcess) => this.#receive(one, message));
    const gone = (why: string): void => {
      this.#processes.delete(one);
      this.#fail(one, why);
    };
    // A process that cannot be started reports no exit.
    child.on('error', (error) => gone(String(error)));
    child.on('close', (code, signal) => gone(`its process has ended with ${signal ?? code}: ${output}`));
    return one;
  }

  #receive(one: QueryProcess, message: FromQueryProcess): void {
    if (message.say === 'ready') {
      one.isReady = true;
      this.#limit(one);
      return;
    }
    const { underWay } = one;
    if (underWay?.id !== message.id || one.isKilled) return;
    if (message.say === 'failure' && message.problem === undefined) {
      this.#fail(one, message.why);
      return;
    }
    if (message.say === 'failure') underWay.asked.reject(new HubError(new Problem(message.problem as ErrorReason)));
    else {
      for (const { path, why } of message.damaged) this.#deps.damaged(path, why);
      const damaged = underWay.leased.damaged + message.damaged.length;
      underWay.asked.resolve({ bytes: message.bytes, next: message.next, damaged });
    }
    this.#done(one);
  }

  #fail(one: QueryProcess, why: string): void {
    if (one.underWay === undefined) return;
    const { asked } = one.underWay;
    if (!asked.isSettled) asked.reject(this.#refused(why));
    this.#done(one);
  }

  /** Returns the error for a query that a process failed to answer. */
  #refused(why: string): HubError {
    const { memoryMb, timeoutMs } = this.#settings;
    if (this.#isClosed) return hubError('closing', QUERY);
    if (/out of memory|memory limit/i.test(why)) return hubError('query_exceeds_memory', { limit: memoryMb });
    if (/INTERRUPT Error|took too long/.test(why)) return hubError('query_exceeds_time', { limit: timeoutMs });
    // Only logged: DuckDB's message may contain the statement and names of files.
    this.#deps.log.warn('A history query failed', { error: why });
    return hubError('query_failed');
  }

  #done(one: QueryProcess): void {
    const { underWay } = one;
    one.underWay = undefined;
    underWay?.cancel();
    if (underWay !== undefined) this.#deps.release(underWay.leased.lease);
    if (this.#processes.has(one)) one.cancelEnd = this.#deps.schedule(IDLE_MS, () => void this.#end(one));
    this.#next();
  }
}

/** Sends a message to a process. If the process has just exited, the handler of the exit replaces it. */
function send({ child }: QueryProcess, message: ToQueryProcess): void {
  child.send(message, () => undefined);
}

function hasExited({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}

const QUERY = { operation: 'query_history' } as const;

/** Topics with the positions of an object. */
const KNOWN_BY = { trackable: ['motions'], provider: ['locations'], fence: [] } as const;

/** Returns the files needed to answer a query. */
export function wantedFor(question: PoolQuery): FilesWanted {
  switch (question.ask) {
    case 'places':
    case 'tracks':
    case 'objects':
    case 'quality':
      return spanOf([question.whose], question);
    case 'heatmap': {
      // Includes the next fix after the span, however late it is.
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
    case 'crossings':
      return spanOf(['fence_events'], question);
    case 'known':
      return spanOf([...KNOWN_BY[question.kind], 'fence_events'], EVER);
    case 'rows':
      return spanOf([question.selection.topic], question.selection);
    case 'sought':
      return wantedFor(question.of);
    default:
      // Includes exits after the span, and the last fixes of objects that have not left.
      return spanOf(['fence_events', 'motions', 'locations'], {
        fromMs: question.fromMs - LOOK_BACK_MS,
        toMs: EVER.toMs,
      });
  }
}

function spanOf(topics: readonly HistoryTopic[], { fromMs, toMs }: Span): FilesWanted {
  return { topics, fromMs, toMs };
}

function clientLeft(): HubError {
  return hubError('client_left', QUERY);
}
