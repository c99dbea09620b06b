import type { StoredRow } from '../core/item.ts';
import type { EncodedEvents, EntityWrite, EventBlock, WriteEvents } from '../core/entity_write.ts';
import { keyOf, type PackedRows } from '../core/row_bytes.ts';
import { hubError, type HubError } from '../errors.ts';
import { packedRows } from '../wire/store_messages.ts';
import { EventArea } from './event_area.ts';
import { RowQueue } from './row_queue.ts';
import type { Store } from './store.ts';

export interface StoreWriterOptions {
  /** Delays between attempts to write rows, in milliseconds. The last one repeats. */
  readonly retryMs: readonly number[];
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /**
   * Time after which waiting rows are late, in milliseconds; never by default. Until the rows that wait at that moment
   * are written, rows with `orFail` are rejected immediately.
   */
  readonly lateMs?: number;
  /** Approximate maximum bytes of rows in one commit, to keep commits short. */
  readonly rowBytesMax?: number;
  /** The event log, which assigns positions. Without it, events are not stored. */
  readonly events?: EventPositions | undefined;
  /** The same for the audit log. */
  readonly audit?: EventPositions | undefined;
  /** Called when the store starts or stops failing or being late. */
  state(state: 'ok' | 'failing', error?: unknown): void;
}

/** Assigns positions to the events of one commit at a time. */
export interface EventPositions {
  /** Returns the events as a block at the next positions. */
  block(events: EncodedEvents, options: { readonly hasLost: boolean }): EventBlock;
  /** Called when a block is committed, before the promises of its writes resolve. Its bytes are then reused. */
  committed(block: EventBlock): void;
}

const NONE: ReadonlyMap<string, number> = new Map();
const NO_ROWS = packedRows([]);
const NO_EVENTS = { size: 0, count: 0 };
const NO_ENTRIES: EncodedEvents = { count: 0, bytes: new Uint8Array(0) };
/** Maximum time in milliseconds that deferrable rows wait for others, and the number of rows that triggers a commit. */
const PATIENCE_MS = 50;
const ROWS_ENOUGH = 250;

/** Options of writeRows. */
export interface RowOptions {
  readonly orFail?: boolean;
  readonly mayWait?: boolean;
  readonly events?: WriteEvents | undefined;
}

/** Content of a commit. */
interface Writes {
  readonly entities: readonly EntityWrite[];
  readonly rows: PackedRows;
  readonly events: EncodedEvents;
  readonly audit: EncodedEvents;
  /** Whether events before these were dropped. */
  readonly hasLost?: boolean;
}

/** Entries of the logs in the commit of entities. */
export interface LoggedWrites {
  /** Events that they cause. */
  readonly events?: WriteEvents | undefined;
  /** Entries of the audit log about them. */
  readonly audit?: WriteEvents | undefined;
}

interface EntityJob {
  readonly entities: readonly EntityWrite[];
  readonly logged: LoggedWrites;
  resolve(): void;
  reject(error: HubError): void;
}

/**
 * Group commit: one commit runs at a time, and all writes that arrive in the meantime go into the next one. Rows are
 * queued until they are written, and only the newest row of each object counts. Entities are written or rejected, so
 * that the response to a client is reliable.
 *
 * Deferrable rows are collected, because a commit of twenty rows costs nearly as much as one of two hundred.
 *
 * After a failure, rows wait until the retry is due. Entities do not wait: each group is attempted immediately. For the
 * path of a row to this class, see shards/flush_scheduler.ts.
 */
export class StoreWriter {
  readonly #store: Store;
  readonly #options: StoreWriterOptions;
  readonly #rows: RowQueue;
  #jobs: EntityJob[] = [];
  /** Audit entries of the jobs in flight. */
  readonly #audited = new EventArea();
  /** Promises of all pending writes of entities. */
  readonly #unsettled = new Set<Promise<void>>();
  #isBusy = false;
  #isClosed = false;
  #failure: Error | undefined;
  #retries = 0;
  #cancelRetry: (() => void) | undefined;
  readonly #lateness: Lateness;
  /** Queue position up to which rows are due, so that they are committed without waiting for more. */
  #dueTo = 0;
  #cancelPatience: (() => void) | undefined;
  /** Last reported state. */
  #isFailing = false;

  constructor(store: Store, options: StoreWriterOptions) {
    this.#store = store;
    this.#options = options;
    const { rowBytesMax: bytesMax, lateMs = Infinity, schedule } = options;
    this.#rows = new RowQueue({ ...(bytesMax !== undefined && { bytesMax }) });
    this.#lateness = new Lateness(this.#rows, { lateMs, schedule, late: () => this.#late() });
  }

  /** Number of failed write attempts by reason. */
  get failures(): ReadonlyMap<string, number> {
    return this.#store.failures ?? NONE;
  }

  /** Number of rows not written yet. */
  get pendingRows(): number {
    return this.#rows.size;
  }

  /**
   * Returns the rows that the store will contain once all are written: the stored rows, superseded by the newest queued
   * row of each object.
   */
  latest(stored: readonly StoredRow[]): StoredRow[] {
    const latest = new Map<string, StoredRow>();
    for (const rows of [stored, ...this.#rows.rows()]) for (const row of rows) latest.set(keyOf(row.kind, row.id), row);
    return [...latest.values()].filter(({ gone }) => gone !== true);
  }

  /** Whether the last commit failed, or rows are late. */
  get failing(): boolean {
    return this.#isFailing;
  }

  /** Whether rows with `orFail` would be rejected without a write attempt. */
  get refusesRows(): boolean {
    return this.#isClosed || this.#cancelRetry !== undefined || this.#lateness.isLate;
  }

  /**
   * Resolves when the entities and what is logged with them are stored. Rejects with HUB_UNAVAILABLE if they cannot
   * be; then none is stored.
   */
  writeEntities(entities: readonly EntityWrite[], logged: LoggedWrites = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(unavailable(new Error('the writer is closed')));
    const written = new Promise<void>((resolve, reject) => this.#jobs.push({ entities, logged, resolve, reject }));
    this.#unsettled.add(written);
    const settle = () => void this.#unsettled.delete(written);
    written.then(settle, settle);
    this.#start();
    return written;
  }

  /**
   * Resolves when these rows, or newer ones of the same objects, are stored. With `orFail`, rejects with
   * HUB_UNAVAILABLE if the next attempt fails or rows are late; the rows stay queued and are written when the store
   * accepts them. With `mayWait`, the rows may wait up to 50 ms to share a commit. `events` are stored with the rows.
   */
  writeRows(rows: Iterable<StoredRow>, { orFail = false, mayWait = false, events }: RowOptions = {}): Promise<void> {
    this.#rows.put(packedRows(rows), events);
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

  /** Resolves when everything queued now is written, or after one attempt if the store fails. */
  async drain(): Promise<void> {
    if (this.#isClosed) return;
    this.#endRest();
    this.#beDue();
    const rows = this.#rows.committed({ orFail: true });
    this.#start();
    await Promise.allSettled([rows, ...this.#unsettled]);
  }

  /**
   * Writes everything queued, with one attempt after each retry delay, and then stops. Rows that a failing store has
   * not accepted remain in `pendingRows`, and their promises stay pending.
   */
  async close(): Promise<void> {
    // Rows may be late from now on.
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

  /** Makes all waiting rows due. */
  #beDue(): void {
    this.#dueTo = this.#rows.placesPut;
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
  }

  /** Makes all waiting rows due, after a delay if there are few. */
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
    const { takenEvents: area, hasLostEvents: hasLost } = this.#rows;
    const ofRows: Writes = { entities: [], rows, events: area.after(NO_EVENTS), audit: NO_ENTRIES, hasLost };
    const hasRows = rows.count > 0 || area.count > 0;
    const afterRows = area.mark;
    for (const { logged } of jobs) {
      logged.events?.(area);
      logged.audit?.(this.#audited);
    }
    const audit = this.#audited.after(NO_EVENTS);
    const ofEntities: Writes = { entities, rows: NO_ROWS, events: area.after(afterRows), audit };
    const together = await this.#commit({ entities, rows, events: area.after(NO_EVENTS), audit, hasLost });
    let forEntities = together;
    let forRows = together;
    if (together !== undefined && jobs.length > 0 && hasRows) {
      // Retries entities and rows separately, so that a failure of one does not prevent the other.
      forEntities = await this.#commit(ofEntities);
      forRows = await this.#commit(ofRows);
    }
    area.cut(afterRows);
    this.#audited.clear();
    for (const job of jobs) {
      if (forEntities === undefined) job.resolve();
      else job.reject(unavailable(forEntities));
    }
    if (!hasRows) this.#judgeByEntities(forEntities);
    else if (forRows === undefined) this.#rowsStored();
    else this.#rowsFailed(forRows);
  }

  /**
   * Handles the result of a commit with entities only, while rows back off. If it succeeds, the rows are retried
   * immediately.
   */
  #judgeByEntities(error: Error | undefined): void {
    if (error !== undefined) this.#setFailure(error);
    else if (!this.#rows.isWaiting) this.#setFailure(undefined);
    else this.#endRest();
  }

  #rowsStored(): void {
    this.#rows.stored();
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

  async #commit({ entities, rows, events, audit, hasLost = false }: Writes): Promise<Error | undefined> {
    const { events: log, audit: auditLog } = this.#options;
    const block = events.count === 0 ? undefined : log?.block(events, { hasLost });
    const entries = audit.count === 0 ? undefined : auditLog?.block(audit, { hasLost: false });
    try {
      await this.#store.commit({
        ...{ entities, rows },
        ...(block && { events: block }),
        ...(entries && { audit: entries }),
      });
      if (block !== undefined) log?.committed(block);
      if (entries !== undefined) auditLog?.committed(entries);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

interface LatenessOptions {
  /** Time after which rows are late; Infinity for never. */
  readonly lateMs: number;
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Called when rows are late. */
  late(): void;
}

/**
 * Detects rows that wait too long, because the database does not reply or is slower than the input. The state ends when
 * all rows that were waiting at that moment are written.
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

  /** Starts to watch the rows that currently wait. */
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

  /** Stops watching. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = () => undefined;
    this.#lateUntil = 0;
  }
}

function unavailable(cause: Error | undefined): HubError {
  return hubError('database_unavailable', { operation: 'keep_data' }, { cause });
}
