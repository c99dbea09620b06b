import {
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBEnumLogicalType,
  DuckDBInstance,
  type DuckDBLogicalType,
  DuckDBTableFunction,
  DuckDBTimestampTZValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import type { ColumnType } from './columns.ts';
import type { ColumnValue } from './event_rows.ts';
import type { Values } from './queries/sql.ts';

/** Maximum number of rows in a DuckDB data chunk. */
const CHUNK_ROWS = 2048;

/** Drops the enumeration of the previous statement, which may have failed. */
const NO_NAMES = 'DROP TYPE IF EXISTS name; TRUNCATE names';

/** Table function through which a statement reads the rows given to Duck.runWith. */
export const ROWS_TO_WRITE = 'rows_to_write';

/** A column in memory. Consecutive rows are `stride` values apart. */
export interface MemoryColumn {
  readonly name: string;
  /** An unknown number is NaN. A name is an index into RowsToWrite.names. */
  readonly kind: 'number' | 'name' | 'integer';
  readonly values: Float64Array | Uint32Array;
  readonly first: number;
  readonly stride: number;
}

/** Rows for a statement. */
export interface RowsToWrite {
  readonly columns: readonly MemoryColumn[];
  /** Distinct strings of names, by index from 0. */
  readonly names: readonly string[];
  /** Indexes of the rows, in output order. */
  readonly order: Uint32Array;
}

/** Resource limits of a database in memory. */
export interface DuckBounds {
  readonly memoryMb: number;
  /** Folder for data that does not fit into memory; undefined for none. */
  readonly spillFolder: string | undefined;
}

/** State of this thread: open databases, number of statements in flight, and callbacks for their completion. */
const open = new Set<Duck>();
let underWay = 0;
let stopped: (() => void) | undefined;
let isStopping = false;

/** Interrupts the running statements of this thread, but not those that are about to start. */
export function interruptDuck(): void {
  for (const duck of open) duck.interrupt();
}

/** Prevents further statements of this thread. Resolves when none is in flight. */
export function stopDuck(): Promise<void> {
  isStopping = true;
  return new Promise((resolve) => {
    if (underWay === 0) resolve();
    else stopped = resolve;
  });
}

/** Whether an error was caused by an interrupt. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof Error && /INTERRUPT/i.test(error.message);
}

async function following<Result>(work: () => Promise<Result>): Promise<Result> {
  underWay++;
  try {
    if (isStopping) throw new Error('The thread is stopping');
    return await work();
  } finally {
    underWay--;
    if (underWay === 0) stopped?.();
  }
}

/** An in-memory DuckDB database that uses one thread. Only the Parquet files that it writes are on disk. */
export class Duck {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  #rows: RowFeed | undefined;

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
        // Makes the allocator return freed memory within seconds. By default it retains 200 MB and more until the next
        // statement.
        allocator_background_threads: 'true',
        // Loads no extensions, and accesses only the given files.
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
      }),
    );
    const connection = await following(() => instance.connect());
    const duck = new Duck(instance, connection);
    open.add(duck);
    connection.registerTableFunction(
      DuckDBTableFunction.create({
        name: ROWS_TO_WRITE,
        bindFunction: (info) => duck.#rows?.columns((name, type) => info.addResultColumn(name, type)),
        initFunction: () => undefined,
        mainFunction: (_, { chunk }) => duck.#rows?.fill(chunk),
      }),
    );
    await duck.run(`SET TimeZone = 'UTC'; CREATE TABLE names(number INTEGER, text VARCHAR)`);
    return duck;
  }

  /** Runs statements without a result; only one statement if it has parameters. */
  async run(sql: string, values?: Values): Promise<void> {
    await following(() => this.#connection.run(sql, parametersOf(values), typesOf(values)));
  }

  /** Runs a query and returns its rows, with JSON values. */
  async rows(sql: string, values?: Values): Promise<readonly Record<string, unknown>[]> {
    const reader = await following(() => this.#connection.runAndReadAll(sql, parametersOf(values), typesOf(values)));
    return reader.getRowObjectsJson();
  }

  /** Runs a query and yields its rows in portions, with JSON values. */
  async *stream(sql: string): AsyncGenerator<readonly Record<string, unknown>[]> {
    const result = await this.#connection.stream(sql);
    yield* result.yieldRowObjectJson();
  }

  /** Runs a query and returns its columns by name, with DuckDB's values. */
  async columns(sql: string, values?: Values): Promise<Readonly<Record<string, readonly unknown[]>>> {
    const reader = await following(() => this.#connection.runAndReadAll(sql, parametersOf(values), typesOf(values)));
    // DuckDB returns no columns for an empty result.
    const none = Object.fromEntries(reader.columnNames().map((name) => [name, []]));
    return { ...none, ...reader.getColumnsObject() };
  }

  /** Interrupts the statement in flight, which rejects. */
  interrupt(): void {
    this.#connection.interrupt();
  }

  /** Runs a statement that reads `rows` once, through the table function rows_to_write. */
  async runWith(rows: RowsToWrite, sql: string): Promise<void> {
    try {
      this.#rows = new RowFeed(rows, await this.#nameType(rows.names));
      await this.run(sql);
    } finally {
      this.#rows = undefined;
    }
  }

  /**
   * Creates an enumeration type with these values, from a table because DuckDB's own function truncates a string at
   * NUL.
   */
  async #nameType(names: readonly string[]): Promise<DuckDBLogicalType> {
    await this.run(NO_NAMES);
    await this.appendTexts('names', names);
    await this.run('CREATE TYPE name AS ENUM (SELECT text FROM names ORDER BY number)');
    const result = await following(() => this.#connection.run('SELECT NULL::name'));
    return result.columnLogicalType(0);
  }

  /** Appends the strings to a table, each with its index from 0. */
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
    rows: readonly Readonly<Record<string, ColumnValue>>[],
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

function parametersOf(values: Values | undefined): Record<string, DuckDBValue> | undefined {
  const all = Object.entries(values?.bound ?? {});
  return values && Object.fromEntries(all.map(([name, value]) => [name, isOne(value) ? value : listValue(value)]));
}

/** Returns the types of parameters. DuckDB cannot infer the type of an empty list. */
function typesOf(values: Values | undefined): Record<string, DuckDBType> | undefined {
  const all = Object.entries(values?.bound ?? {});
  return values && Object.fromEntries(all.map(([name, value]) => [name, isOne(value) ? VARCHAR : LIST(VARCHAR)]));
}

function isOne(value: string | readonly string[]): value is string {
  return typeof value === 'string';
}

function append(appender: DuckDBAppender, type: ColumnType, value: ColumnValue): void {
  if (value === undefined) appender.appendNull();
  else if (type === 'DOUBLE') appender.appendDouble(value as number);
  else if (type === 'VARCHAR') appender.appendVarchar(value as string);
  else appender.appendTimestampTZ(new DuckDBTimestampTZValue(1000n * BigInt(value)));
}

type Items = Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/** Feeds rows into a statement without filling a table first: DuckDB requests them chunk by chunk. */
class RowFeed {
  readonly #rows: RowsToWrite;
  readonly #types: readonly DuckDBType[];
  /** Values of the current chunk, by column. */
  readonly #items: readonly Items[];
  #at = 0;

  constructor(rows: RowsToWrite, names: DuckDBLogicalType) {
    this.#rows = rows;
    // The library would rebuild a registered type, with all of its names, on each access.
    const nameType = { toLogicalType: () => names } as unknown as DuckDBType;
    const typeOf = { number: DOUBLE, name: nameType, integer: INTEGER } as const;
    this.#types = rows.columns.map(({ kind }) => typeOf[kind]);
    const ofNames = ITEMS_OF_NAMES[(names as DuckDBEnumLogicalType).internalTypeId] ?? Uint32Array;
    const itemsOf = { number: Float64Array, name: ofNames, integer: Uint32Array } as const;
    this.#items = rows.columns.map(({ kind }) => new itemsOf[kind](CHUNK_ROWS));
  }

  columns(add: (name: string, type: DuckDBType) => void): void {
    for (const [i, { name }] of this.#rows.columns.entries()) add(name, this.#types[i] as DuckDBType);
  }

  /** Fills a chunk with the next rows; leaves it empty at the end. */
  fill(chunk: DuckDBDataChunk['chunk']): void {
    const { order, columns } = this.#rows;
    const rows = order.subarray(this.#at, this.#at + CHUNK_ROWS);
    this.#at += rows.length;
    bindings.data_chunk_set_size(chunk, rows.length);
    if (rows.length === 0) return;
    for (let i = 0; i < columns.length; i++) {
      const items = this.#items[i] as Items;
      gather(items, columns[i] as MemoryColumn, rows);
      const vector = bindings.data_chunk_get_vector(chunk, i);
      bindings.copy_data_to_vector(vector, 0, items.buffer, 0, rows.length * items.BYTES_PER_ELEMENT);
    }
  }
}

/** Array types of the values of small enumerations; larger ones use Uint32Array. */
const ITEMS_OF_NAMES: Readonly<Partial<Record<DuckDBTypeId, Uint8ArrayConstructor | Uint16ArrayConstructor>>> = {
  [DuckDBTypeId.UTINYINT]: Uint8Array,
  [DuckDBTypeId.USMALLINT]: Uint16Array,
};

/** Copies the values of some rows. hot: similar loops, each for one array type. */
function gather(items: Items, { values, first, stride }: MemoryColumn, rows: Uint32Array): void {
  if (items instanceof Float64Array) {
    for (let i = 0; i < rows.length; i++) items[i] = values[stride * (rows[i] as number) + first] as number;
  } else if (items instanceof Uint16Array) {
    for (let i = 0; i < rows.length; i++) items[i] = values[stride * (rows[i] as number) + first] as number;
  } else {
    for (let i = 0; i < rows.length; i++) items[i] = values[stride * (rows[i] as number) + first] as number;
  }
}
