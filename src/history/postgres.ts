import { Worker } from 'node:worker_threads';
import { HISTORY_TOPICS } from '../model/history.ts';
import type { FilesWanted, HistoryFile, LeasedFiles } from './files.ts';
import type { PostgresSettings } from './postgres_copy.ts';
import { type EndThread, ended } from './thread_end.ts';

/** Messages to the thread. It may read the files until it has reported the lease as done. */
export type ToPostgresThread =
  | { readonly say: 'files'; readonly lease: number; readonly files: readonly HistoryFile[] }
  | EndThread;

export type FromPostgresThread =
  | { readonly say: 'done'; readonly lease: number; readonly copied: number; readonly behind: number }
  /** Why the database is not available. */
  | { readonly say: 'failed'; readonly lease: number; readonly why: string };

interface PostgresDeps {
  files(wanted: FilesWanted): Promise<LeasedFiles>;
  release(lease: number): void;
  schedule(delayMs: number, callback: () => void): () => void;
  readonly log: { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
}

const POSTGRES_WORKER = new URL('../../workers/history_postgres.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };
/** Maximum time to stop. */
const PATIENCE_MS = 5000;
/** Interval between checks for new files, and its upper bound: it doubles while the database is unavailable. */
const [LOOK_MS, PAUSE_MAX_MS] = [2000, 60_000] as const;

/**
 * Copies the history from its files to a PostgreSQL database, in its own thread. While the database is unavailable, the
 * files are the queue. So an outage takes no memory, and rows are lost only if their files expire during it.
 */
export class Postgres {
  readonly #settings: PostgresSettings;
  readonly #deps: PostgresDeps;
  #worker: Worker | undefined;
  #pauseMs: number = LOOK_MS;
  #call: (() => void) | undefined;
  #isClosed = false;
  /** Why it is not available. */
  #problem: string | undefined;
  #leased: number | undefined;
  /** Number of rows copied since start, and of files not copied yet. */
  copied = 0;
  behind = 0;

  constructor(settings: PostgresSettings, deps: PostgresDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    const worker = new Worker(POSTGRES_WORKER, {
      name: 'postgres',
      workerData: this.#settings,
      resourceLimits: HEAP_MB,
    });
    this.#worker = worker;
    worker.on('message', (message: FromPostgresThread) => this.#receive(message));
    worker.on('error', (error) => this.#failed(String(error)));
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#release();
      if (!this.#isClosed) this.#deps.schedule(LOOK_MS, () => this.start());
    });
    this.#later();
  }

  /** Stops copying. Pending files are copied after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#call?.();
    if (this.#worker !== undefined)
      await ended(this.#worker, { patienceMs: PATIENCE_MS, schedule: this.#deps.schedule });
  }

  #later(): void {
    this.#call?.();
    this.#call = this.#deps.schedule(this.#pauseMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      const { lease, files } = await this.#deps.files({
        topics: HISTORY_TOPICS,
        fromMs: 0,
        toMs: Infinity,
        asWritten: true,
      });
      this.#leased = lease;
      this.#worker?.postMessage({ say: 'files', lease, files } satisfies ToPostgresThread);
    } catch (error) {
      this.#failed(String(error));
      this.#later();
    }
  }

  #receive(message: FromPostgresThread): void {
    this.#release();
    if (message.say === 'done') {
      if (this.#problem !== undefined) this.#deps.log.info('The history is copied into the database again');
      this.#problem = undefined;
      this.#pauseMs = LOOK_MS;
      this.copied += message.copied;
      this.behind = message.behind;
    } else this.#failed(message.why);
    if (!this.#isClosed) this.#later();
  }

  #failed(why: string): void {
    if (this.#problem !== why) this.#deps.log.warn('The history cannot be copied into the database', { error: why });
    this.#problem = why;
    this.#pauseMs = Math.min(PAUSE_MAX_MS, 2 * this.#pauseMs);
  }

  #release(): void {
    if (this.#leased !== undefined) this.#deps.release(this.#leased);
    this.#leased = undefined;
  }
}
