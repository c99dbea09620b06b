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
/** Rows that wait for the store, beyond which the shards hand out none but those that events wait for. */
const BEHIND_ROWS = 500;

/** The store behind its writer, as the other parts see it. Rows have running times here, and times of day where they are kept. */
export interface Database {
  /** Writes entities and settings, and rows, unless these are not to survive the hub. */
  readonly writer: StoreWriter;
  readonly state: DatabaseState;
  /**
   * Resolves once the rows are kept; rejects with HUB_UNAVAILABLE when the store does not take them now. Undefined where
   * nobody need wait for that. `mayWait`: for others to share their commit.
   */
  keep(rows: Iterable<StoredRow>, options?: { readonly mayWait: boolean }): Promise<void> | undefined;
  /** The same of pairs that collide. */
  keepPairs(rows: Iterable<StoredRow>): Promise<void> | undefined;
  /** The latest row of each object, for a shard worker that starts anew. `hasAdopted`: see ShardWorkerOptions. */
  lastRows(hasAdopted: HasObject): Promise<readonly LastKnownRow[]>;
  /** Whether so many rows wait that none should come that nobody waits for. */
  isBehind(): boolean;
  /** Whether rows would be refused, without an attempt to write them. */
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
  // Rows that are not to survive the hub are still what a shard worker needs that starts anew.
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
