import {
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBTimestampValue,
  type DuckDBType,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api';
import type { ColumnType } from './columns.ts';
import type { Value } from './event_rows.ts';

/** Rows that a chunk of DuckDB has at most. */
const CHUNK_ROWS = 2048;

/** A column of numbers, or of the numbers of texts. */
export type NumberColumn = Float64Array | Int32Array;

/** What a database in memory may take. */
export interface DuckBounds {
  readonly memoryMb: number;
  /** Where it puts what does not fit into memory; undefined: nowhere. */
  readonly spillFolder: string | undefined;
}

/** Of this thread: those that are open, how much they have under way, and who waits until that is done. */
const open = new Set<Duck>();
let underWay = 0;
let stopped: (() => void) | undefined;
let isStopping = false;

/** Breaks off what DuckDB has under way for this thread. What it is about to begin does not hear of it. */
export function interruptDuck(): void {
  for (const duck of open) duck.interrupt();
}

/** Lets DuckDB begin nothing any more for this thread, and resolves when it has nothing under way. */
export function stopDuck(): Promise<void> {
  isStopping = true;
  return new Promise((resolve) => {
    if (underWay === 0) resolve();
    else stopped = resolve;
  });
}

/** Whether something has failed because it was broken off. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof Error && /INTERRUPT/i.test(error.message);
}

async function following<Result>(work: () => Promise<Result>): Promise<Result> {
  if (isStopping) throw new Error('The thread ends');
  underWay++;
  try {
    return await work();
  } finally {
    underWay--;
    if (underWay === 0) stopped?.();
  }
}

/** DuckDB in memory, on one thread: nothing of it is in a file but what is written as Parquet. */
export class Duck {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.#connection = connection;
  }

  static async open({ memoryMb, spillFolder }: DuckBounds): Promise<Duck> {
    const instance = await following(() =>
      DuckDBInstance.create(':memory:', {
        threads: '1',
        memory_limit: `${memoryMb}MiB`,
        temp_directory: spillFolder ?? '',
        // It loads nothing, and reads and writes what it is told alone.
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
      }),
    );
    const connection = await following(() => instance.connect());
    const duck = new Duck(instance, connection);
    open.add(duck);
    await duck.run("SET TimeZone = 'UTC'");
    return duck;
  }

  /** Runs statements without a result. */
  async run(sql: string): Promise<void> {
    await following(() => this.#connection.run(sql));
  }

  /** The rows of a result, as JSON has their values. */
  async rows(sql: string): Promise<readonly Record<string, unknown>[]> {
    const reader = await following(() => this.#connection.runAndReadAll(sql));
    return reader.getRowObjectsJson();
  }

  /** The rows of a result, some at a time, as JSON has their values. */
  async *stream(sql: string): AsyncGenerator<readonly Record<string, unknown>[]> {
    const result = await this.#connection.stream(sql);
    yield* result.yieldRowObjectJson();
  }

  /** The columns of a result by their names, as DuckDB has their values. */
  async columns(sql: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
    const reader = await following(() => this.#connection.runAndReadAll(sql));
    // Of no rows it has no columns.
    const none = Object.fromEntries(reader.columnNames().map((name) => [name, []]));
    return { ...none, ...reader.getColumnsObject() };
  }

  /** Ends what is under way: it rejects. */
  interrupt(): void {
    this.#connection.interrupt();
  }

  /** Adds rows to a table of numbers: those of the columns at these places, in that order. */
  async appendNumbers(table: string, columns: readonly NumberColumn[], order: Uint32Array): Promise<void> {
    const types: DuckDBType[] = columns.map((column) => (column instanceof Float64Array ? DOUBLE : INTEGER));
    const appender = await following(() => this.#connection.createAppender(table));
    const chunk = DuckDBDataChunk.create(types, Math.min(CHUNK_ROWS, order.length));
    for (let start = 0; start < order.length; start += CHUNK_ROWS) {
      const rows = order.subarray(start, start + CHUNK_ROWS);
      if (chunk.rowCount !== rows.length) chunk.rowCount = rows.length;
      for (let i = 0; i < columns.length; i++) fill(chunk, i, { column: columns[i] as NumberColumn, rows });
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }

  /** Adds rows of a number, from 0 on, and a text to a table. */
  async appendTexts(table: string, texts: readonly string[]): Promise<void> {
    const appender = await following(() => this.#connection.createAppender(table));
    const chunk = DuckDBDataChunk.create([INTEGER, VARCHAR]);
    for (let start = 0; start < texts.length; start += CHUNK_ROWS) {
      const some = texts.slice(start, start + CHUNK_ROWS);
      chunk.reset();
      chunk.setColumns([some.map((_, i) => start + i), some]);
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }

  /** Adds rows to a table with these columns. */
  async appendRows(
    table: string,
    columns: Readonly<Record<string, ColumnType>>,
    rows: readonly Readonly<Record<string, Value>>[],
  ): Promise<void> {
    const appender = await following(() => this.#connection.createAppender(table));
    for (const row of rows) {
      for (const [name, type] of Object.entries(columns)) append(appender, type, row[name]);
      appender.endRow();
    }
    appender.closeSync();
  }

  close(): void {
    open.delete(this);
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

function append(appender: DuckDBAppender, type: ColumnType, value: Value): void {
  if (value === undefined) appender.appendNull();
  else if (type === 'DOUBLE') appender.appendDouble(value as number);
  else if (type === 'VARCHAR') appender.appendVarchar(value as string);
  else appender.appendTimestamp(new DuckDBTimestampValue(1000n * BigInt(value)));
}

// hot
function fill(
  chunk: DuckDBDataChunk,
  index: number,
  { column, rows }: { readonly column: NumberColumn; readonly rows: Uint32Array },
): void {
  const vector = chunk.getColumnVector(index) as unknown as { readonly items: NumberColumn; flush(): void };
  const { items } = vector;
  for (let i = 0; i < rows.length; i++) items[i] = column[rows[i] as number] as number;
  vector.flush();
}
