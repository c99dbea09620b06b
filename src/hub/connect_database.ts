import type { Config } from '../config/schema.ts';
import { storePace } from '../config/settings.ts';
import type { StoredRow, LastKnownRow } from '../core/item.ts';
import { DatabaseState } from '../operation/database_state.ts';
import { ownRows, rowsToStore } from '../shards/row_times.ts';
import type { HasObject } from '../shards/shard_worker.ts';
import { MemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { StoreWriter } from '../store/writer.ts';
import { type Clock, schedule } from '../time/clock.ts';
import { type Log, reportStore } from './log.ts';

const RETRY_MS = [100, 500, 2000];
/** Number of rows waiting for the store at which shards emit only rows that events wait for. */
const BEHIND_ROWS = 500;

/**
 * The store and its writer, as other parts see them. Rows have monotonic times here, and wall-clock times in the store.
 */
export interface Database {
  /** Writes entities, settings, and rows; rows only if they are persistent. */
  readonly writer: StoreWriter;
  readonly state: DatabaseState;
  /**
   * Resolves when the rows are stored; rejects with HUB_UNAVAILABLE if the store does not accept them now. Undefined if
   * the caller need not wait. `mayWait`: to share a commit with others.
   */
  keep(rows: Iterable<StoredRow>, options?: { readonly mayWait: boolean }): Promise<void> | undefined;
  /** The same for colliding pairs. */
  keepPairs(rows: Iterable<StoredRow>): Promise<void> | undefined;
  /** The latest row of each object, for a restarted shard worker. `hasAdopted`: see ShardWorkerOptions. */
  lastRows(hasAdopted: HasObject): Promise<readonly LastKnownRow[]>;
  /** Whether the backlog is so long that only rows with waiting callers should be sent. */
  isBehind(): boolean;
  /** Whether rows would be rejected, without an attempt to write them. */
  refusesRows(): boolean;
}

interface DatabaseDeps {
  readonly store: Store;
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
}

export function connectDatabase({ store, config, log, clock }: DatabaseDeps): Database {
  const databaseState = new DatabaseState();
  const state = (is: 'ok' | 'failing', error?: unknown): void => {
    databaseState.note(is, { error, nowMs: clock.now() });
    reportStore(log, is, error);
  };
  const writerTo = (to: Store, pace = {}) => new StoreWriter(to, { retryMs: RETRY_MS, schedule, state, ...pace });
  const writer = writerTo(store, storePace(config));
  // Rows that are not persistent are still needed by a restarted shard worker.
  const rowStore = config.persist_locations ? store : new MemoryStore('');
  const rowWriter = config.persist_locations ? writer : writerTo(rowStore);
  const keep: Database['keep'] = (rows, options) =>
    rowWriter.writeRows(rowsToStore(rows, clock), { orFail: true, ...options });
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
