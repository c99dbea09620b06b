import type { LastKnownRow } from '../core/item.ts';
import { HubError } from '../errors.ts';
import type { EntityWrite, Store } from './store.ts';

export interface StoreWriterOptions {
  /** Waits between attempts to write rows, in milliseconds; the last one repeats. */
  readonly retryMs: readonly number[];
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Told when the store stops or starts taking writes. */
  state(state: 'ok' | 'failing', error?: unknown): void;
}

interface EntityJob {
  readonly entities: readonly EntityWrite[];
  resolve(): void;
  reject(error: HubError): void;
}

interface RowsJob {
  readonly orFail: boolean;
  resolve(): void;
  reject(error: HubError): void;
}

/**
 * Writes in groups: one commit at a time, and whatever arrives meanwhile is in the next. Rows are kept until they are
 * written, the latest of each object; entities are written or refused, so that an answer to a client is the truth.
 */
export class StoreWriter {
  readonly #store: Store;
  readonly #options: StoreWriterOptions;
  #entities: EntityJob[] = [];
  #rows = new Map<string, LastKnownRow>();
  #rowsJobs: RowsJob[] = [];
  #busy = false;
  #failures = 0;
  #cancelRetry: (() => void) | undefined;
  #idle: (() => void)[] = [];

  constructor(store: Store, options: StoreWriterOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Objects whose latest row is not written yet. */
  get pendingRows(): number {
    return this.#rows.size;
  }

  /** Whether the last commit failed. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Resolves once the entities are kept. Rejects with HUB_UNAVAILABLE, and then none of them is. */
  writeEntities(entities: readonly EntityWrite[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#entities.push({ entities, resolve, reject });
      this.#start();
    });
  }

  /**
   * Resolves once these rows, or newer ones of the same objects, are kept. With `orFail` it rejects with
   * HUB_UNAVAILABLE when the next attempt fails; the rows stay, and are written when the store takes them again.
   */
  writeRows(rows: readonly LastKnownRow[], { orFail = false } = {}): Promise<void> {
    for (const row of rows) this.#rows.set(`${row.kind} ${row.id}`, row);
    return new Promise((resolve, reject) => {
      this.#rowsJobs.push({ orFail, resolve, reject });
      if (this.#cancelRetry !== undefined && orFail) this.#refuseRows(undefined);
      else this.#start();
    });
  }

  /** Waits for everything that waits now, or for one attempt at it where the store fails. */
  async drain(): Promise<void> {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#start();
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #start(): void {
    if (this.#busy) return;
    this.#busy = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#entities.length > 0 || (this.#rows.size > 0 && this.#cancelRetry === undefined)) {
      await this.#writeGroup();
    }
    this.#busy = false;
    // Jobs without rows, or whose rows were written with an earlier group.
    if (this.#rows.size === 0) for (const job of this.#takeRowsJobs()) job.resolve();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #writeGroup(): Promise<void> {
    const jobs = this.#entities.splice(0);
    const rows = this.#cancelRetry === undefined ? this.#rows : new Map<string, LastKnownRow>();
    if (rows === this.#rows) this.#rows = new Map();
    const rowsJobs = rows.size > 0 ? this.#takeRowsJobs() : [];
    const entities = jobs.flatMap((job) => job.entities);
    if (await this.#commit(entities, rows)) {
      for (const job of [...jobs, ...rowsJobs]) job.resolve();
      return;
    }
    const both = entities.length > 0 && rows.size > 0;
    // One part must not keep the other from being written.
    if (both && (await this.#commit(entities, new Map()))) for (const job of jobs) job.resolve();
    else for (const job of jobs) job.reject(unavailable());
    if (both && (await this.#commit([], rows))) {
      for (const job of rowsJobs) job.resolve();
      return;
    }
    if (rows.size > 0) this.#keepForLater(rows, rowsJobs);
  }

  async #commit(entities: readonly EntityWrite[], rows: ReadonlyMap<string, LastKnownRow>): Promise<boolean> {
    try {
      await this.#store.commit({ entities, rows: [...rows.values()] });
      if (this.#failures > 0) this.#options.state('ok');
      this.#failures = 0;
      return true;
    } catch (error) {
      if (this.#failures === 0) this.#options.state('failing', error);
      this.#failures++;
      return false;
    }
  }

  /** Puts rows back, below newer ones of the same objects, and tries again after a while. */
  #keepForLater(rows: ReadonlyMap<string, LastKnownRow>, jobs: readonly RowsJob[]): void {
    this.#rows = new Map([...rows, ...this.#rows]);
    this.#rowsJobs = [...jobs, ...this.#rowsJobs];
    this.#refuseRows(unavailable());
    const { retryMs, schedule } = this.#options;
    const delayMs = retryMs[Math.min(this.#failures, retryMs.length) - 1] ?? 1000;
    this.#cancelRetry?.();
    this.#cancelRetry = schedule(delayMs, () => {
      this.#cancelRetry = undefined;
      this.#start();
    });
  }

  #refuseRows(error: HubError = unavailable()): void {
    const refused = this.#rowsJobs.filter(({ orFail }) => orFail);
    this.#rowsJobs = this.#rowsJobs.filter(({ orFail }) => !orFail);
    for (const job of refused) job.reject(error);
  }

  #takeRowsJobs(): RowsJob[] {
    return this.#rowsJobs.splice(0);
  }
}

function unavailable(): HubError {
  return new HubError('HUB_UNAVAILABLE', 'Cannot keep data: the database does not take writes at the moment');
}
