import type { Client } from 'cassandra-driver';
import type { StoredState, StoredPart, StoreBatch } from '../../core/entity_write.ts';
import { packedRows } from '../../wire/store_messages.ts';
import { loadedFrom, partsOf, type Store } from '../store.ts';
import { connect, consistencyOf } from './connect.ts';
import { EntityTable } from './entity_table.ts';
import { asStartupError, inWords } from './failures.ts';
import { KeyspaceLease } from './lease.ts';
import { readRows, rowWrites } from './row_table.ts';
import { prepareSchema } from './schema.ts';
import { Sender } from './sender.ts';
import type { WideColumnDeps, WideColumnSettings } from './settings.ts';

/**
 * A store in a keyspace of Cassandra or a compatible database. A committed write is on as many nodes as the consistency
 * level requires.
 *
 * A commit first writes its rows, each independently. A rejected commit may have written some of them; the caller
 * writes these or newer rows again. Then it writes the entities, atomically as far as EntityTable can guarantee that.
 */
export class WideColumnStore implements Store {
  readonly #client: Client;
  readonly #settings: WideColumnSettings;
  readonly #sender: Sender;
  readonly #lease: KeyspaceLease;
  readonly #entities: EntityTable;
  /** Resolves when all requested operations are done. */
  #line: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  private constructor(client: Client, settings: WideColumnSettings, parts: { sender: Sender; lease: KeyspaceLease }) {
    this.#client = client;
    this.#settings = settings;
    this.#sender = parts.sender;
    this.#lease = parts.lease;
    const consistency = consistencyOf(settings.readConsistency);
    this.#entities = new EntityTable(client, { ...parts, consistency });
  }

  /** Connects and creates missing tables. Rejects with a StartupError that contains the hosts. */
  static async open(settings: WideColumnSettings, deps: WideColumnDeps): Promise<WideColumnStore> {
    let client: Client | undefined;
    try {
      client = await connect(settings);
      await prepareSchema(client, settings);
      const lease = await KeyspaceLease.open(client, deps);
      return new WideColumnStore(client, settings, { sender: new Sender(client, settings, deps), lease });
    } catch (error) {
      await client?.shutdown();
      throw asStartupError(error, settings);
    }
  }

  load(): Promise<StoredState> {
    return loadedFrom(this);
  }

  /** Reads all data. Rejects with a StartupError if the keyspace cannot be read. */
  read(take: (part: StoredPart) => void): Promise<string> {
    return this.#inLine(async () => {
      try {
        const entities = await this.#entities.read();
        const rows = await readRows(this.#client, consistencyOf(this.#settings.readConsistency));
        for (const part of partsOf({ entities, rows })) take(part);
        return this.#lease.hubId;
      } catch (error) {
        throw asStartupError(error, this.#settings);
      }
    });
  }

  commit({ entities, rows: given }: StoreBatch): Promise<void> {
    return this.#inLine(async () => {
      const packed = packedRows(given);
      packed.checkTimes();
      const rows = [...packed];
      try {
        await this.#entities.putBack();
        if (rows.length > 0) await this.#sender.sendAll(rowWrites(rows, await this.#lease.ticks(rows.length)));
        await this.#entities.write(entities);
      } catch (cause) {
        // A request that is not a write has failed, which the sender has not counted.
        if (!this.#sender.hasFailures) this.#sender.countFailure(cause);
        throw new Error(`Cannot write to the wide-column database: ${inWords(cause)}`, { cause });
      }
    });
  }

  close(): Promise<void> {
    const closed = this.#isClosed ? this.#line : this.#inLine(() => this.#client.shutdown());
    this.#isClosed = true;
    return closed.then(() => undefined);
  }

  /** Returns the number of failed write attempts since the last call, by reason. Most were retried successfully. */
  takeFailures(): ReadonlyMap<string, number> {
    return this.#sender.takeFailures();
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('Cannot use the store: it is closed'));
    const done = this.#line.then(work);
    this.#line = done.catch(() => undefined);
    return done;
  }
}
