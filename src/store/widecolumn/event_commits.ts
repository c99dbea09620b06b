import type { types } from 'cassandra-driver';
import type { StoredRow } from '../../core/item.ts';
import type { EntityWrite, EventBlock } from '../../core/entity_write.ts';
import type { EventRange, EventTrim, StoredEvents } from '../../wire/store_messages.ts';
import { EventBlocks, type LogPrefix } from './event_blocks.ts';
import { type Keyspace, long, requestOf } from './keyspace.ts';

/**
 * Commits with events, and the event log that they make up. An event is stored if and only if its cause is, although these
 * databases have no transactions across partitions. A commit with events
 *
 *   1. stores the block of its events behind the newest one, and its other writes as one text, the redo;
 *   2. changes the head, one row, to name the block and the redo: from then on the commit counts;
 *   3. writes its rows and entities.
 *
 * If the head names a redo, the tables may lack these writes. A hub that starts reads them over the tables, and repeats
 * them before its first commit. A commit without events first removes the redo from the head, since its own writes are
 * newer.
 *
 * After a commit that failed, its redo stays in the head until the next commit. If that one has other events, and the hub
 * is killed before the first one is tried again, rows may be stored without their events.
 */

/** Maximum number of blocks removed at once. */
const TRIM_BLOCKS = 500;
/** Maximum size of a part of a redo. Nodes reject mutations above 16 MiB. */
const PART_CHARS = 1 << 18;

function statementsOf(log: LogPrefix) {
  return {
    readHead: `SELECT newest, trimmed, slot, parts FROM ${log}_head WHERE name = 'hub'`,
    setHead: `INSERT INTO ${log}_head (name, newest, trimmed, slot, parts) VALUES ('hub', ?, ?, ?, ?)
  USING TIMESTAMP ?`,
    readRedo: `SELECT part, redo FROM ${log}_redo WHERE slot = ?`,
    setRedo: `INSERT INTO ${log}_redo (slot, part, redo) VALUES (?, ?, ?) USING TIMESTAMP ?`,
  };
}

/** Writes of a commit besides its events. */
export interface Redo {
  readonly rows: readonly StoredRow[];
  readonly entities: readonly EntityWrite[];
}

/** Place of the text of a redo; no parts: no redo. Slots alternate, so that a commit does not overwrite the redo before it. */
interface RedoPlace {
  readonly slot: 0 | 1;
  readonly parts: number;
}

interface Head {
  /** Position of the last event. */
  readonly newest: number;
  readonly trimmed: number;
  readonly redo: RedoPlace;
}

const EMPTY: Head = { newest: 0, trimmed: 0, redo: { slot: 0, parts: 0 } };

interface LogOptions {
  readonly log: LogPrefix;
  /** Writes rows and entities to their tables. */
  readonly write: (writes: Redo) => Promise<void>;
}

export class EventCommits {
  readonly #keyspace: Keyspace;
  readonly #statements: ReturnType<typeof statementsOf>;
  readonly #blocks: EventBlocks;
  readonly #write: (writes: Redo) => Promise<void>;
  /** The head of the last commit that succeeded. */
  #head: Head;
  /** Size of all blocks ever stored. */
  #bytes: number;
  /** Whether the stored head may be another one. */
  #isAhead = false;
  /** Whether blocks may be stored behind the head. */
  #isDirty = true;
  /** Writes of the last commit of another hub, to be repeated. */
  #left: Redo | undefined;

  private constructor(
    keyspace: Keyspace,
    { log, write }: LogOptions,
    { blocks, head, bytes, left }: { blocks: EventBlocks; head: Head; bytes: number; left: Redo | undefined },
  ) {
    this.#keyspace = keyspace;
    this.#statements = statementsOf(log);
    this.#write = write;
    this.#blocks = blocks;
    this.#head = head;
    this.#bytes = bytes;
    this.#left = left;
  }

  /** Reads the head. */
  static async open(keyspace: Keyspace, options: LogOptions): Promise<EventCommits> {
    const { client, consistency } = keyspace;
    const { readHead, readRedo } = statementsOf(options.log);
    const row = (await client.execute(readHead, [], { consistency })).first();
    const head = row === null ? EMPTY : headOf(row);
    const blocks = await EventBlocks.open(keyspace, options.log);
    const last = await blocks.last({ after: head.trimmed, to: head.newest });
    const bytes = last === undefined ? 0 : last.bytesBefore + last.size;
    const left = await redoAt(keyspace, readRedo, head.redo);
    return new EventCommits(keyspace, options, { blocks, head, bytes, left });
  }

  /** Writes that count although the tables may lack them. */
  get left(): Redo | undefined {
    return this.#left;
  }

  /** Writes rows and entities, and the events that they cause. Rejects with an error of the database. */
  async commit(writes: Redo, block: EventBlock | undefined): Promise<void> {
    if (this.#left !== undefined) await this.#write(this.#left);
    this.#left = undefined;
    if (block === undefined) {
      await this.#forgetRedo();
      await this.#write(writes);
      return;
    }
    const next = await this.#store(block, writes);
    this.#isAhead = true;
    await this.#writeHead(next);
    try {
      await this.#write(writes);
    } catch (error) {
      // Entities of a rejected commit must not be repeated. If this fails, it is tried again before the next commit.
      if (writes.entities.length > 0) await this.#forgetRedo().catch(() => undefined);
      throw error;
    }
    this.#head = next;
    this.#bytes += block.bytes.length;
    this.#isAhead = false;
    this.#isDirty = false;
  }

  async range(): Promise<EventRange> {
    const { newest, trimmed } = this.#head;
    const all = { after: trimmed, to: newest };
    const first = await this.#blocks.first(all);
    const last = await this.#blocks.last(all);
    return {
      hubId: this.#keyspace.lease.hubId,
      newest: Math.max(trimmed, newest),
      trimmed,
      oldestMs: first?.timeMs,
      newestMs: last?.timeMs,
      bytes: first === undefined ? 0 : this.#bytes - first.bytesBefore,
    };
  }

  async read(after: number, bytesMax: number): Promise<StoredEvents> {
    const { newest, trimmed } = this.#head;
    const blocks: EventBlock[] = [];
    let size = 0;
    for await (const block of this.#blocks.blocks({ after: Math.max(after, trimmed), to: newest })) {
      if (blocks.length > 0 && size + block.bytes.length > bytesMax) break;
      size += block.bytes.length;
      blocks.push(block);
    }
    return { blocks, trimmed };
  }

  /** Returns the position before the first block that was stored at or after a time. */
  async positionAt(timeMs: number): Promise<number> {
    const { newest, trimmed } = this.#head;
    const found = await this.#blocks.firstAt(timeMs, { after: trimmed, to: newest });
    return found === undefined ? Math.max(trimmed, newest) : Math.max(trimmed, found.last - found.count);
  }

  /** Removes a slice of the oldest events. */
  async trim(to: EventTrim): Promise<{ readonly range: EventRange; readonly hasMore: boolean }> {
    const upTo = await this.#dueTo(to);
    const trimmed = upTo ?? ('all' in to ? to.all : this.#head.trimmed);
    if (trimmed > this.#head.trimmed) {
      // An unsuccessful commit must not be repeated with another head.
      await this.#forgetRedo();
      const head = { ...this.#head, trimmed };
      await this.#writeHead(head);
      this.#head = head;
      await this.#blocks.dropTo(trimmed);
    }
    return { range: await this.range(), hasMore: upTo !== undefined };
  }

  /** Returns the position up to which events can be removed now; undefined if none is due. */
  async #dueTo(to: EventTrim): Promise<number | undefined> {
    let upTo: number | undefined;
    let count = 0;
    for await (const block of this.#blocks.facts({ after: this.#head.trimmed, to: this.#head.newest })) {
      const { last, timeMs, bytesBefore } = block;
      const isDue = 'all' in to || timeMs < to.beforeMs || this.#bytes - bytesBefore > to.bytesMax;
      if (!isDue || count++ === TRIM_BLOCKS) break;
      upTo = last;
    }
    return upTo;
  }

  /** Stores a block and a redo, which the returned head names. */
  async #store(block: EventBlock, writes: Redo): Promise<Head> {
    const { newest, trimmed, redo } = this.#head;
    // Audit entries are stored before their writes. If these fail, the next block has the same positions.
    if (this.#isDirty || block.first <= newest) await this.#blocks.dropFrom(Math.min(newest + 1, block.first));
    this.#isDirty = true;
    await this.#blocks.add(block, this.#bytes);
    const slot = redo.slot === 0 ? 1 : 0;
    const parts = await this.#writeRedo(slot, writes);
    const { first, count, lostTo = trimmed } = block;
    return { newest: first + count - 1, trimmed: Math.max(trimmed, lostTo), redo: { slot, parts } };
  }

  async #writeRedo(slot: number, writes: Redo): Promise<number> {
    const text = JSON.stringify(writes);
    const parts = Math.ceil(text.length / PART_CHARS);
    const tick = await this.#keyspace.lease.ticks(parts);
    const requests = Array.from({ length: parts }, (_, part) => {
      const chars = text.slice(part * PART_CHARS, (part + 1) * PART_CHARS);
      return requestOf(this.#statements.setRedo, [slot, part, chars, long(tick + part)]);
    });
    await this.#keyspace.sender.sendAll(requests);
    return parts;
  }

  async #writeHead({ newest, trimmed, redo: { slot, parts } }: Head): Promise<void> {
    const tick = await this.#keyspace.lease.ticks(1);
    await this.#keyspace.sender.send(
      requestOf(this.#statements.setHead, [long(newest), long(trimmed), slot, parts, long(tick)]),
    );
  }

  /** Makes the stored head that of the last commit that succeeded, without a redo. */
  async #forgetRedo(): Promise<void> {
    const { redo } = this.#head;
    if (!this.#isAhead && redo.parts === 0) return;
    const head = { ...this.#head, redo: { ...redo, parts: 0 } };
    await this.#writeHead(head);
    this.#head = head;
    this.#isAhead = false;
  }
}

function headOf(row: types.Row): Head {
  return {
    newest: row.get('newest').toNumber(),
    trimmed: row.get('trimmed').toNumber(),
    redo: { slot: row.get('slot'), parts: row.get('parts') },
  };
}

async function redoAt(
  { client, consistency }: Keyspace,
  readRedo: string,
  { slot, parts }: RedoPlace,
): Promise<Redo | undefined> {
  if (parts === 0) return undefined;
  const { rows } = await client.execute(readRedo, [slot], { consistency });
  const text = rows
    .slice(0, parts)
    .map((row) => row.get('redo'))
    .join('');
  return JSON.parse(text) as Redo;
}
