import type { Client, types } from 'cassandra-driver';
import type { StoredKind, EntityWrite } from '../../core/entity_write.ts';
import { eachOf } from './each_of.ts';
import { type Keyspace, long } from './keyspace.ts';
import type { KeyspaceLease } from './lease.ts';
import { readPartitions } from './reading.ts';
import { partitionOf } from './schema.ts';
import type { Sender, Statement, WriteRequest } from './sender.ts';

/** Maximum size of a logged batch in bytes. By default, databases reject batches above 50 KiB. */
const BATCH_BYTES_MAX = 30 << 10;
const BATCH_STATEMENTS_MAX = 100;
const READS_AT_ONCE = 32;

const SET = 'INSERT INTO entity (partition, kind, id, made, body) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?';
const DELETE = 'DELETE FROM entity USING TIMESTAMP ? WHERE partition = ? AND kind = ? AND id = ?';
const READ = 'SELECT kind, id, made, body FROM entity WHERE partition = ?';
const READ_ONE = 'SELECT body FROM entity WHERE partition = ? AND kind = ? AND id = ?';

/** An entity with the tick of its creation; a deleted one has no JSON. */
interface Stored extends EntityWrite {
  readonly made: number;
}

/**
 * The table of entities. A group of changes is written as logged batches, in order. If a batch fails, some changes of
 * the group may have reached the database or may still do so. So the previous state is restored with a later timestamp
 * before any other write. One case remains: if the hub dies before that, an unacknowledged prefix of the group may be
 * stored.
 */
export class EntityTable {
  readonly #client: Client;
  readonly #sender: Sender;
  readonly #lease: KeyspaceLease;
  readonly #consistency: number;
  /** Creation tick of each existing entity. */
  #made = new Map<string, number>();
  #isRead = false;
  /** Previous state of entities that must be restored. */
  #before = new Map<string, Stored>();

  constructor({ client, sender, lease, consistency }: Keyspace) {
    this.#client = client;
    this.#sender = sender;
    this.#lease = lease;
    this.#consistency = consistency;
  }

  /** Reads all entities, in the order of creation. */
  async read(): Promise<EntityWrite[]> {
    await this.putBack();
    const all = await readPartitions(this.#client, { query: READ, consistency: this.#consistency }, toStored);
    all.sort((a, b) => a.made - b.made);
    this.#made = new Map(all.map((entity) => [keyOf(entity), entity.made]));
    this.#isRead = true;
    return all.map(({ kind, id, text }) => ({ kind, id, text }));
  }

  /** Writes a group. If it rejects, no change of the group is stored once `putBack` has succeeded. */
  async write(group: readonly EntityWrite[]): Promise<void> {
    if (group.length === 0) return;
    if (!this.#isRead) await this.read();
    await this.putBack();
    const before = await this.#read(group);
    let tick = await this.#lease.ticks(group.length);
    /** Creation ticks of the group's entities after the write. */
    const made = new Map<string, number | undefined>();
    const stored = group.map((entity) => {
      const key = keyOf(entity);
      const own = { ...entity, made: (made.has(key) ? made.get(key) : this.#made.get(key)) ?? tick, tick: tick++ };
      made.set(key, entity.text === undefined ? undefined : own.made);
      return own;
    });
    try {
      for (const write of batchesOf(stored)) await this.#sender.send(write);
      for (const [key, tick] of made) {
        if (tick === undefined) this.#made.delete(key);
        else this.#made.set(key, tick);
      }
    } catch (error) {
      this.#before = before;
      // Restores at once rather than before the next change. If that fails, it is retried then.
      await this.putBack().catch(() => undefined);
      throw error;
    }
  }

  /** Restores entities that a failed group may have changed. Call it before any write or read. */
  async putBack(): Promise<void> {
    if (this.#before.size === 0) return;
    let tick = await this.#lease.ticks(this.#before.size);
    const stored = this.#before.values().map((entity) => ({ ...entity, tick: tick++ }));
    for (const write of batchesOf([...stored])) await this.#sender.send(write);
    this.#before = new Map();
  }

  /** Reads the current state of a group's entities. */
  async #read(group: readonly EntityWrite[]): Promise<Map<string, Stored>> {
    const before = new Map<string, Stored>();
    for (const { kind, id } of group) {
      const key = keyOf({ kind, id });
      before.set(key, { kind, id, text: undefined, made: this.#made.get(key) ?? 0 });
    }
    const existing = before.entries().filter(([key]) => this.#made.has(key));
    await eachOf(existing, { atOnce: READS_AT_ONCE }, async ([key, entity]) => {
      const params = [partitionOf(entity), entity.kind, entity.id];
      const found = await this.#client.execute(READ_ONE, params, { consistency: this.#consistency });
      before.set(key, { ...entity, text: found.first()?.get('body') });
    });
    return before;
  }
}

function* batchesOf(entities: readonly (Stored & { readonly tick: number })[]): Generator<WriteRequest> {
  let statements: Statement[] = [];
  let bytes = 0;
  for (const entity of entities) {
    const own = bytesOf(entity);
    if (statements.length === BATCH_STATEMENTS_MAX || (statements.length > 0 && bytes + own > BATCH_BYTES_MAX)) {
      yield { statements, bytes, isLogged: true };
      statements = [];
      bytes = 0;
    }
    statements.push(statementOf(entity));
    bytes += own;
  }
  if (statements.length > 0) yield { statements, bytes, isLogged: true };
}

function statementOf(entity: Stored & { readonly tick: number }): Statement {
  const { kind, id, text } = entity;
  const partition = partitionOf(entity);
  const tick = long(entity.tick);
  if (text === undefined) return { query: DELETE, params: [tick, partition, kind, id] };
  return { query: SET, params: [partition, kind, id, long(entity.made), text, tick] };
}

function bytesOf({ id, text = '' }: EntityWrite): number {
  return 64 + 2 * id.length + Buffer.byteLength(text);
}

function toStored(row: types.Row): Stored {
  const kind: StoredKind = row.get('kind');
  return { kind, id: row.get('id'), text: row.get('body'), made: row.get('made').toNumber() };
}

function keyOf({ kind, id }: { readonly kind: StoredKind; readonly id: string }): string {
  return `${kind} ${id}`;
}
