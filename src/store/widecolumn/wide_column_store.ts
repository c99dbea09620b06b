import type { Client } from 'cassandra-driver';
import type { StoredState, StoredPart, StoreBatch } from '../../core/entity_write.ts';
import { keyOf } from '../../core/row_bytes.ts';
import { packedRows } from '../../wire/store_messages.ts';
import { type EventStore, loadedFrom, partsOf, type Store } from '../store.ts';
import { connect, consistencyOf } from './connect.ts';
import { EntityTable } from './entity_table.ts';
import { EventCommits, type Redo } from './event_commits.ts';
import { asStartupError, inWords } from './failures.ts';
import type { Keyspace } from './keyspace.ts';
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
 * EventCommits stores events together with their causes.
 */
export class WideColumnStore implements Store {
  readonly events: EventStore;
  readonly audit: EventStore;
  readonly #keyspace: Keyspace;
  readonly #settings: WideColumnSettings;
  readonly #entities: EntityTable;
  readonly #commits: EventCommits;
  readonly #audit: EventCommits;
  /** Resolves when all requested operations are done. */
  #line: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  private constructor(
    keyspace: Keyspace,
    settings: WideColumnSettings,
    parts: { entities: EntityTable; commits: EventCommits; audit: EventCommits },
  ) {
    const { entities, commits, audit } = parts;
    this.#keyspace = keyspace;
    this.#settings = settings;
    this.#entities = entities;
    this.#commits = commits;
    this.#audit = audit;
    this.events = this.#storeOf(commits);
    this.audit = this.#storeOf(audit);
  }

  #storeOf(log: EventCommits): EventStore {
    return {
      range: () => this.#inLine(() => log.range()),
      read: (after, bytesMax) => this.#inLine(() => log.read(after, bytesMax)),
      positionAt: (timeMs) => this.#inLine(() => log.positionAt(timeMs)),
      trim: (to) => this.#inLine(() => log.trim(to)),
    };
  }

  /** Connects and creates missing tables. Rejects with a StartupError that contains the hosts. */
  static async open(settings: WideColumnSettings, deps: WideColumnDeps): Promise<WideColumnStore> {
    let client: Client | undefined;
    try {
      client = await connect(settings);
      await prepareSchema(client, settings);
      const lease = await KeyspaceLease.open(client, deps);
      const sender = new Sender(client, settings, deps);
      const keyspace = { client, sender, lease, consistency: consistencyOf(settings.readConsistency) };
      const entities = new EntityTable(keyspace);
      const write = async (writes: Redo): Promise<void> => {
        const { length } = writes.rows;
        if (length > 0) await sender.sendAll(rowWrites(writes.rows, await lease.ticks(length)));
        await entities.write(writes.entities);
      };
      const commits = await EventCommits.open(keyspace, { log: 'event', write });
      const audit = await EventCommits.open(keyspace, { log: 'audit', write });
      return new WideColumnStore(keyspace, settings, { entities, commits, audit });
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
    const { client, consistency, lease } = this.#keyspace;
    return this.#inLine(async () => {
      try {
        const entities = await this.#entities.read();
        const rows = await readRows(client, consistency);
        for (const part of partsOf(repeatedOn({ entities, rows }, this.#commits.left))) take(part);
        return lease.hubId;
      } catch (error) {
        throw asStartupError(error, this.#settings);
      }
    });
  }

  commit({ entities, rows: given, events, audit }: StoreBatch): Promise<void> {
    const { sender } = this.#keyspace;
    return this.#inLine(async () => {
      const packed = packedRows(given);
      packed.checkTimes();
      const rows = [...packed];
      try {
        await this.#entities.putBack();
        // First, so that a crash in between may leave an entry without its change, but no change without its entry.
        if (audit !== undefined) await this.#audit.commit(NOTHING, audit);
        await this.#commits.commit({ rows, entities }, events);
      } catch (cause) {
        // A request that is not a write has failed, which the sender has not counted.
        if (!sender.hasFailures) sender.countFailure(cause);
        throw new Error(`Cannot write to the wide-column database: ${inWords(cause)}`, { cause });
      }
    });
  }

  close(): Promise<void> {
    const closed = this.#isClosed ? this.#line : this.#inLine(() => this.#keyspace.client.shutdown());
    this.#isClosed = true;
    return closed.then(() => undefined);
  }

  /** Returns the number of failed write attempts since the last call, by reason. Most were retried successfully. */
  takeFailures(): ReadonlyMap<string, number> {
    return this.#keyspace.sender.takeFailures();
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('Cannot use the store: it is closed'));
    const done = this.#line.then(work);
    this.#line = done.catch(() => undefined);
    return done;
  }
}

const NOTHING: Redo = { rows: [], entities: [] };

/** Returns stored data with writes that the tables may lack. */
function repeatedOn({ entities, rows }: Redo, left: Redo | undefined): Redo {
  if (left === undefined) return { entities, rows };
  const all = new Map(entities.map((entity) => [`${entity.kind} ${entity.id}`, entity]));
  for (const entity of left.entities) {
    const key = `${entity.kind} ${entity.id}`;
    if (entity.text === undefined) all.delete(key);
    else all.set(key, entity);
  }
  const newest = new Map(rows.map((row) => [keyOf(row.kind, row.id), row]));
  for (const row of left.rows) newest.set(keyOf(row.kind, row.id), row);
  return { entities: [...all.values()], rows: [...newest.values()].filter(({ gone }) => gone !== true) };
}
