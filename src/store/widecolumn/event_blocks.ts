import type { types } from 'cassandra-driver';
import type { EventBlock } from '../../core/entity_write.ts';
import { type Keyspace, long, requestOf } from './keyspace.ts';

/**
 * Blocks of events, one per commit that caused events, each in as many rows as its bytes need. A partition has the blocks
 * that end in a bucket of 4,096 positions; the buckets that have blocks are listed in a partition of their own.
 */

/** Positions of a bucket: part of the schema. */
const BUCKET = 4096;
/** Maximum size of a row. Nodes reject mutations above 16 MiB. */
const ROW_BYTES = 1 << 20;
/** Blocks and times read at once. */
const FETCH_BLOCKS = 16;
const FETCH_TIMES = 1000;

/** Prefix of the tables of a log: of events, or of audit entries. */
export type LogPrefix = 'event' | 'audit';

function statementsOf(log: LogPrefix) {
  const between = `FROM ${log}_block WHERE bucket = ? AND last > ? AND last <= ?`;
  return {
    list: `SELECT bucket FROM ${log}_bucket WHERE name = 'hub'`,
    begin: `INSERT INTO ${log}_bucket (name, bucket) VALUES ('hub', ?) USING TIMESTAMP ?`,
    end: `DELETE FROM ${log}_bucket USING TIMESTAMP ? WHERE name = 'hub' AND bucket = ?`,
    add: `INSERT INTO ${log}_block (bucket, last, part, count, time_ms, bytes_before, size, events)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?`,
    dropFrom: `DELETE FROM ${log}_block USING TIMESTAMP ? WHERE bucket = ? AND last >= ?`,
    dropTo: `DELETE FROM ${log}_block USING TIMESTAMP ? WHERE bucket = ? AND last <= ?`,
    blocks: `SELECT last, count, time_ms, events ${between}`,
    times: `SELECT last, count, time_ms, bytes_before, size ${between}`,
  };
}

/** Positions after `after`, up to `to`. */
interface Span {
  readonly after: number;
  readonly to: number;
}

/** A stored block without its events. */
export interface BlockFacts {
  readonly last: number;
  readonly count: number;
  readonly timeMs: number;
  /** Size of all blocks ever stored before it. */
  readonly bytesBefore: number;
  readonly size: number;
}

export class EventBlocks {
  readonly #keyspace: Keyspace;
  readonly #statements: ReturnType<typeof statementsOf>;
  /** Buckets that have blocks, in order. */
  readonly #buckets: number[];

  private constructor(keyspace: Keyspace, log: LogPrefix, buckets: readonly number[]) {
    this.#keyspace = keyspace;
    this.#statements = statementsOf(log);
    this.#buckets = [...buckets];
  }

  static async open(keyspace: Keyspace, log: LogPrefix): Promise<EventBlocks> {
    const { client, consistency } = keyspace;
    const { rows } = await client.execute(statementsOf(log).list, [], { consistency });
    return new EventBlocks(
      keyspace,
      log,
      rows.map((row) => row.get('bucket').toNumber()),
    );
  }

  /** Stores a block. */
  async add({ first, count, timeMs, bytes }: EventBlock, bytesBefore: number): Promise<void> {
    const { lease, sender } = this.#keyspace;
    const last = first + count - 1;
    const bucket = bucketOf(last);
    const size = Math.max(1, Math.ceil(bytes.length / ROW_BYTES));
    const tick = await lease.ticks(size + 1);
    if (this.#buckets.at(-1) !== bucket) {
      await sender.send(requestOf(this.#statements.begin, [long(bucket), long(tick)]));
      this.#buckets.push(bucket);
    }
    const rows = Array.from({ length: size }, (_, part) => {
      const events = Buffer.from(bytes.subarray(part * ROW_BYTES, (part + 1) * ROW_BYTES));
      const key = [long(bucket), long(last), part];
      return requestOf(this.#statements.add, [
        ...key,
        count,
        timeMs,
        long(bytesBefore),
        bytes.length,
        events,
        long(tick + 1 + part),
      ]);
    });
    await sender.sendAll(rows);
  }

  /** Removes all blocks from a position on. */
  async dropFrom(position: number): Promise<void> {
    for (const bucket of this.#from(position)) await this.#drop(this.#statements.dropFrom, bucket, position);
  }

  /** Removes all blocks up to a position. */
  async dropTo(position: number): Promise<void> {
    while (this.#buckets[0] !== undefined && this.#buckets[0] <= bucketOf(position)) {
      const [bucket] = this.#buckets as [number];
      await this.#drop(this.#statements.dropTo, bucket, position);
      if (bucketOf(position + 1) === bucket) return;
      await this.#keyspace.sender.send(
        requestOf(this.#statements.end, [long(await this.#keyspace.lease.ticks(1)), long(bucket)]),
      );
      this.#buckets.shift();
    }
  }

  /** Yields the blocks that end in a span, in order. */
  async *blocks(span: Span): AsyncGenerator<EventBlock> {
    let open: (Omit<EventBlock, 'bytes'> & { readonly parts: Buffer[] }) | undefined;
    for await (const row of this.#rows(this.#statements.blocks, span, FETCH_BLOCKS)) {
      const first = row.get('last').toNumber() - row.get('count') + 1;
      if (open?.first !== first) {
        if (open !== undefined) yield joined(open);
        open = { first, count: row.get('count'), timeMs: row.get('time_ms'), parts: [] };
      }
      open.parts.push(row.get('events'));
    }
    if (open !== undefined) yield joined(open);
  }

  /** Yields the facts about the blocks that end in a span, in order. */
  async *facts(span: Span): AsyncGenerator<BlockFacts> {
    let last = 0;
    for await (const row of this.#rows(this.#statements.times, span, FETCH_TIMES)) {
      const facts = factsOf(row);
      if (facts.last !== last) yield facts;
      last = facts.last;
    }
  }

  /** Returns the first block that ends in a span, or the last one. */
  async first(span: Span): Promise<BlockFacts | undefined> {
    for (const bucket of this.#from(span.after + 1)) {
      const row = await this.#one(`${this.#statements.times} LIMIT 1`, bucket, span);
      if (row !== undefined) return factsOf(row);
    }
    return undefined;
  }

  async last(span: Span): Promise<BlockFacts | undefined> {
    for (const bucket of this.#from(span.after + 1).reverse()) {
      const row = await this.#one(`${this.#statements.times} ORDER BY last DESC LIMIT 1`, bucket, span);
      if (row !== undefined) return factsOf(row);
    }
    return undefined;
  }

  /** Returns the first block of a span that was stored at or after a time. Times never decrease. */
  async firstAt(timeMs: number, { after, to }: Span): Promise<BlockFacts | undefined> {
    const buckets = this.#from(after + 1);
    let [low, high] = [0, buckets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const begin = await this.first({ after: Math.max(after, (buckets[middle] as number) * BUCKET - 1), to });
      if (begin !== undefined && begin.timeMs >= timeMs) high = middle;
      else low = middle + 1;
    }
    const before = buckets[low - 1];
    const from = before === undefined ? after : Math.max(after, before * BUCKET - 1);
    for await (const facts of this.facts({ after: from, to })) if (facts.timeMs >= timeMs) return facts;
    return undefined;
  }

  async *#rows(query: string, span: Span, fetchSize: number): AsyncGenerator<types.Row> {
    const { client, consistency } = this.#keyspace;
    for (const bucket of this.#from(span.after + 1)) {
      yield* await client.execute(query, paramsOf(bucket, span), { consistency, fetchSize });
    }
  }

  async #one(query: string, bucket: number, span: Span): Promise<types.Row | undefined> {
    const { client, consistency } = this.#keyspace;
    return (await client.execute(query, paramsOf(bucket, span), { consistency })).first() ?? undefined;
  }

  async #drop(query: string, bucket: number, position: number): Promise<void> {
    const { lease, sender } = this.#keyspace;
    await sender.send(requestOf(query, [long(await lease.ticks(1)), long(bucket), long(position)]));
  }

  /** Buckets that may have events from a position on. */
  #from(position: number): number[] {
    const from = bucketOf(position);
    return this.#buckets.filter((bucket) => bucket >= from);
  }
}

function bucketOf(position: number): number {
  return Math.floor(position / BUCKET);
}

function paramsOf(bucket: number, { after, to }: Span): types.Long[] {
  return [long(bucket), long(after), long(to)];
}

function factsOf(row: types.Row): BlockFacts {
  return {
    last: row.get('last').toNumber(),
    count: row.get('count'),
    timeMs: row.get('time_ms'),
    bytesBefore: row.get('bytes_before').toNumber(),
    size: row.get('size'),
  };
}

function joined({ parts, ...block }: Omit<EventBlock, 'bytes'> & { readonly parts: readonly Buffer[] }): EventBlock {
  const [only] = parts;
  return { ...block, bytes: only !== undefined && parts.length === 1 ? only : Buffer.concat(parts) };
}
