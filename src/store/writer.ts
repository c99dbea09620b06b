import type { StoredRow } from '../core/item.ts';
import type { EntityWrite } from '../core/entity_write.ts';
import { keyOf, type PackedRows } from '../core/row_bytes.ts';
import { HubError } from '../errors.ts';
import { packedRows } from '../wire/store_messages.ts';
import { RowQueue } from './row_queue.ts';
import type { Store } from './store.ts';

export interface StoreWriterOptions {
  /** Waits between attempts to write rows, in milliseconds; the last one repeats. */
  readonly retryMs: readonly number[];
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /**
   * Rows are late when they wait for longer than this, in milliseconds. Until those that wait then are written, nobody
   * who would rather be refused waits any more. Left out: never.
   */
  readonly lateMs?: number;
  /** About the bytes of rows in one commit, where that is to be short. */
  readonly rowBytesMax?: number;
  /** Told when the store stops or starts taking writes, or taking them in time. */
  state(state: 'ok' | 'failing', error?: unknown): void;
}

const NONE: ReadonlyMap<string, number> = new Map();
const NO_ROWS = packedRows([]);
/** How long rows that may wait are held back, and how many of them are worth a commit of their own. */
const PATIENCE_MS = 50;
const ROWS_ENOUGH = 250;

interface EntityJob {
  readonly entities: readonly EntityWrite[];
  resolve(): void;
  reject(error: HubError): void;
}

/**
 * Writes in groups: one commit at a time, and whatever arrives meanwhile is in the next. Rows are kept until they are
 * written, and of each object the latest counts; entities are written or refused, so that an answer to a client is the truth.
 *
 * Rows that may wait are gathered: a commit of twenty costs nearly as much as one of two hundred.
 *
 * After a failure rows rest until the retry is due. Entities never wait for that: each group of them is tried at once.
 * The way of a row up to here: shards/flush_scheduler.ts.
 */
export class StoreWriter {
  readonly #store: Store;
  readonly #options: StoreWriterOptions;
  readonly #rows: RowQueue;
  #jobs: EntityJob[] = [];
  /** Of all entity jobs that are not settled. */
  readonly #unsettled = new Set<Promise<void>>();
  #isBusy = false;
  #isClosed = false;
  #failure: Error | undefined;
  #retries = 0;
  #cancelRetry: (() => void) | undefined;
  readonly #lateness: Lateness;
  /** How many places of the queue are to be committed without waiting for others. */
  #dueTo = 0;
  #cancelPatience: (() => void) | undefined;
  /** What was told last. */
  #isFailing = false;

  constructor(store: Store, options: StoreWriterOptions) {
    this.#store = store;
    this.#options = options;
    const { rowBytesMax: bytesMax, lateMs = Infinity, schedule } = options;
    this.#rows = new RowQueue({ ...(bytesMax !== undefined && { bytesMax }) });
    this.#lateness = new Lateness(this.#rows, { lateMs, schedule, late: () => this.#late() });
  }

  /** Attempts to write that have failed, by their reason. */
  get failures(): ReadonlyMap<string, number> {
    return this.#store.failures ?? NONE;
  }

  /** Rows that are not written yet. */
  get pendingRows(): number {
    return this.#rows.size;
  }

  /** What the store would hand out if everything were written: the kept rows with the latest of each object. */
  latest(kept: readonly StoredRow[]): StoredRow[] {
    const latest = new Map<string, StoredRow>();
    for (const rows of [kept, ...this.#rows.rows()]) for (const row of rows) latest.set(keyOf(row.kind, row.id), row);
    return [...latest.values()].filter(({ gone }) => gone !== true);
  }

  /** Whether the last commit failed, or rows are late. */
  get failing(): boolean {
    return this.#isFailing;
  }

  /** Whether rows that may be refused would be, without an attempt to write them. */
  get refusesRows(): boolean {
    return this.#isClosed || this.#cancelRetry !== undefined || this.#lateness.isLate;
  }

  /** Resolves once the entities are kept. Rejects with HUB_UNAVAILABLE, and then none of them is. */
  writeEntities(entities: readonly EntityWrite[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(unavailable(new Error('the writer is closed')));
    const written = new Promise<void>((resolve, reject) => this.#jobs.push({ entities, resolve, reject }));
    this.#unsettled.add(written);
    const settle = () => void this.#unsettled.delete(written);
    written.then(settle, settle);
    this.#start();
    return written;
  }

  /**
   * Resolves once these rows, or newer ones of the same objects, are kept. With `orFail` it rejects with
   * HUB_UNAVAILABLE when the next attempt fails, or rows are late; they stay, and are written when the store takes them.
   * `mayWait`: nobody needs them soon, so they may wait up to 50 ms to share a commit with others.
   */
  writeRows(rows: Iterable<StoredRow>, { orFail = false, mayWait = false } = {}): Promise<void> {
    this.#rows.put(packedRows(rows));
    if (mayWait) this.#beDueSoon();
    else this.#beDue();
    if (orFail && this.refusesRows) {
      this.#start();
      return Promise.reject(unavailable(this.#failure));
    }
    const written = this.#rows.committed({ orFail });
    if (orFail) this.#lateness.watch();
    this.#start();
    return written;
  }

  /** Waits for everything that waits now, or for one attempt at it where the store fails. */
  async drain(): Promise<void> {
    if (this.#isClosed) return;
    this.#endRest();
    this.#beDue();
    const rows = this.#rows.committed({ orFail: true });
    this.#start();
    await Promise.allSettled([rows, ...this.#unsettled]);
  }

  /**
   * Writes everything that waits, with one attempt more after each of the waits for a retry, and then attempts nothing
   * any more. What a store that still fails has not taken is left in `pendingRows`; promises of these rows stay open.
   */
  async close(): Promise<void> {
    // Now there is time.
    this.#lateness.stop();
    await this.drain();
    for (const delayMs of this.#options.retryMs) {
      if (this.#rows.size === 0) break;
      this.#endRest();
      await new Promise<void>((resolve) => void this.#options.schedule(delayMs, resolve));
      await this.drain();
    }
    this.#isClosed = true;
    this.#cancelPatience?.();
    this.#endRest();
  }

  /** All rows that wait are to be committed now. */
  #beDue(): void {
    this.#dueTo = this.#rows.placesPut;
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
  }

  /** The same, but only after a while if there are few of them. */
  #beDueSoon(): void {
    if (this.#rows.placesPut - this.#dueTo >= ROWS_ENOUGH) this.#beDue();
    else {
      this.#cancelPatience ??= this.#options.schedule(PATIENCE_MS, () => {
        this.#beDue();
        this.#start();
      });
    }
  }

  #start(): void {
    if (this.#isBusy || !this.#hasWork()) return;
    this.#isBusy = true;
    queueMicrotask(() => void this.#run());
  }

  #hasWork(): boolean {
    if (this.#jobs.length > 0) return true;
    return this.#rows.placesCommitted < this.#dueTo && this.#cancelRetry === undefined && !this.#isClosed;
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) await this.#writeGroup();
    this.#isBusy = false;
  }

  async #writeGroup(): Promise<void> {
    const jobs = this.#jobs.splice(0);
    const entities = jobs.flatMap((job) => job.entities);
    const rows = this.#cancelRetry === undefined && !this.#isClosed ? this.#rows.take() : NO_ROWS;
    const together = await this.#commit(entities, rows);
    let forEntities = together;
    let forRows = together;
    if (together !== undefined && jobs.length > 0 && rows.count > 0) {
      // One part must not keep the other from being written.
      forEntities = await this.#commit(entities, NO_ROWS);
      forRows = await this.#commit([], rows);
    }
    for (const job of jobs) {
      if (forEntities === undefined) job.resolve();
      else job.reject(unavailable(forEntities));
    }
    if (rows.count === 0) this.#judgeByEntities(forEntities);
    else if (forRows === undefined) this.#rowsKept();
    else this.#rowsFailed(forRows);
  }

  /** Entities alone say nothing of rows that rest: if they are taken, the rows are tried at once. */
  #judgeByEntities(error: Error | undefined): void {
    if (error !== undefined) this.#setFailure(error);
    else if (this.#rows.size === 0) this.#setFailure(undefined);
    else this.#endRest();
  }

  #rowsKept(): void {
    this.#rows.kept();
    this.#retries = 0;
    this.#setFailure(undefined);
  }

  #rowsFailed(error: Error): void {
    this.#setFailure(error);
    this.#rows.failed(unavailable(error));
    const { retryMs, schedule } = this.#options;
    const delayMs = retryMs[Math.min(this.#retries++, retryMs.length - 1)] ?? 1000;
    this.#cancelRetry = schedule(delayMs, () => {
      this.#cancelRetry = undefined;
      this.#start();
    });
  }

  #endRest(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  #setFailure(error: Error | undefined): void {
    this.#failure = error;
    this.#tell(error);
  }

  #late(): void {
    const error = new Error(`rows have waited for more than ${this.#options.lateMs} ms`);
    this.#rows.refuse(unavailable(error));
    this.#tell(error);
  }

  #tell(error: Error | undefined): void {
    const isFailing = this.#failure !== undefined || this.#lateness.isLate;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing) this.#options.state('failing', error);
    else this.#options.state('ok');
  }

  async #commit(entities: readonly EntityWrite[], rows: PackedRows): Promise<Error | undefined> {
    try {
      await this.#store.commit({ entities, rows });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

interface LatenessOptions {
  /** Infinity: never late. */
  readonly lateMs: number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Rows have waited for too long. */
  late(): void;
}

/**
 * Tells when rows wait for too long: for a database that does not answer, or for one that takes less than there is. It
 * is over when all rows that waited then are written.
 */
class Lateness {
  readonly #rows: RowQueue;
  readonly #options: LatenessOptions;
  #lateUntil = 0;
  #cancel: (() => void) | undefined;

  constructor(rows: RowQueue, options: LatenessOptions) {
    this.#rows = rows;
    this.#options = options;
  }

  get isLate(): boolean {
    return this.#rows.placesCommitted < this.#lateUntil;
  }

  /** Looks after the rows that wait now. */
  watch(): void {
    const { lateMs, schedule, late } = this.#options;
    if (lateMs === Infinity || this.#cancel !== undefined) return;
    const until = this.#rows.placesPut;
    this.#cancel = schedule(lateMs, () => {
      this.#cancel = undefined;
      if (this.#rows.placesCommitted < until) {
        this.#lateUntil = this.#rows.placesPut;
        late();
      } else if (this.#rows.isUrgent) this.watch();
    });
  }

  /** Nothing is late any more, nor will be. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = () => undefined;
    this.#lateUntil = 0;
  }
}

function unavailable(cause: Error | undefined): HubError {
  const message = 'Cannot keep data: the database does not take writes at the moment';
  return new HubError('HUB_UNAVAILABLE', message, { cause });
}
