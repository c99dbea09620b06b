import type { Config } from '../config/schema.ts';
import { storePace } from '../config/settings.ts';
import type { StoredRow, LastKnownRow } from '../core/item.ts';
import type { WriteEvents } from '../core/entity_write.ts';
import type { EventLog } from '../events/event_log.ts';
import { DatabaseState } from '../operation/database_state.ts';
import { ownRows, rowsToStore } from '../shards/row_times.ts';
import type { HasObject } from '../shards/shard_worker.ts';
import { MemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { StoreWriter } from '../store/writer.ts';
import { type Clock, schedule } from '../time/clock.ts';
import { type Log, reportStore } from './log.ts';

const RETRY_MS = [100, 500, 2000];
/** Number of rows waiting for the store above which shards emit only rows for which events wait. */
const BEHIND_ROWS = 500;

/** The store and its writer, for other parts. Rows have monotonic times here and wall-clock times in the store. */
export interface Database {
  /** Writes entities and settings, and rows if they are persistent. */
  readonly writer: StoreWriter;
  readonly state: DatabaseState;
  /**
   * Stores rows. Resolves when they are stored; rejects with HUB_UNAVAILABLE if the store does not accept them now.
   * Undefined if the caller need not wait. With `mayWait`, the rows may wait to share a commit. `events` are stored with
   * the rows.
   */
  keep(rows: Iterable<StoredRow>, options?: KeepOptions): Promise<void> | undefined;
  /** Like `keep`, for colliding pairs. */
  keepPairs(rows: Iterable<StoredRow>, options?: KeepOptions): Promise<void> | undefined;
  /** Returns the latest row of each object, for a restarted shard worker. `hasAdopted`: see ShardWorkerOptions. */
  lastRows(hasAdopted: HasObject): Promise<readonly LastKnownRow[]>;
  /** Whether the backlog is so long that only rows for which callers wait should be sent. */
  isBehind(): boolean;
  /** Whether rows would be rejected without an attempt to write them. */
  refusesRows(): boolean;
}

interface KeepOptions {
  readonly mayWait?: boolean;
  readonly events?: WriteEvents | undefined;
}

interface DatabaseDeps {
  readonly store: Store;
  /** Undefined: events are not stored. */
  readonly eventLog: EventLog | undefined;
  /** Undefined: changes are not audited. */
  readonly auditLog: EventLog | undefined;
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
}

export function connectDatabase({ store, eventLog, auditLog, config, log, clock }: DatabaseDeps): Database {
  const databaseState = new DatabaseState();
  const state = (is: 'ok' | 'failing', error?: unknown): void => {
    databaseState.note(is, { error, nowMs: clock.now() });
    reportStore(log, is, error);
  };
  const writerTo = (to: Store, pace = {}) => new StoreWriter(to, { retryMs: RETRY_MS, schedule, state, ...pace });
  const writer = writerTo(store, { ...storePace(config), events: eventLog, audit: auditLog });
  // Restarted shard workers need rows even if they are not persistent.
  const rowStore = config.persist_locations ? store : new MemoryStore('');
  const rowWriter = config.persist_locations ? writer : writerTo(rowStore);
  const keep: Database['keep'] = (rows, { mayWait = false, events } = {}) => {
    if (rowWriter === writer) return writer.writeRows(rowsToStore(rows, clock), { orFail: true, mayWait, events });
    if (events !== undefined) void writer.writeRows([], { events });
    return rowWriter.writeRows(rowsToStore(rows, clock), { orFail: true, mayWait });
  };
  return {
    writer,
    state: databaseState,
    keep,
    keepPairs: keep,
    async lastRows() {
      await rowWriter.drain();
      const { rows } = await rowStore.load();
      const latest = rowWriter.latest(rows).filter((row) => row.kind !== 'collision');
      return ownRows(latest, clock);
    },
    isBehind: () => rowWriter.pendingRows > BEHIND_ROWS,
    refusesRows: () => rowWriter.refusesRows,
  };
}
