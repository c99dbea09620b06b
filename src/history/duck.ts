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
import type { Value } from './event_rows.ts';
import { land, takeOff } from './flight.ts';
import type { Values } from './queries/sql.ts';

/** Rows that a chunk of DuckDB has at most. */
const CHUNK_ROWS = 2048;

/** Forgets the names of the statement before, however that has ended. */
const NO_NAMES = 'DROP TYPE IF EXISTS name; TRUNCATE names';

/** The table function that has the rows of Duck.runWith. */
export const ROWS_TO_WRITE = 'rows_to_write';

/** A column that lies in memory: the value of each row is `stride` behind that of the one before. */
export interface Column {
  readonly name: string;
  /** A number that is not known is NaN. A name is the number of a text: see RowsToWrite. */
  readonly kind: 'number' | 'name' | 'integer';
  readonly values: Float64Array | Uint32Array;
  readonly first: number;
  readonly stride: number;
}

/** Rows for a statement. */
export interface RowsToWrite {
  readonly columns: readonly Column[];
  /** The texts of names, by their numbers from 0 on; no two are alike. */
  readonly names: readonly string[];
  /** Which rows, in the order in which they are handed out. */
  readonly order: Uint32Array;
}

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
  underWay++;
  const mayBegin = takeOff();
  try {
    if (isStopping || !mayBegin) throw new Error('The thread ends');
    return await work();
  } finally {
    underWay--;
    land();
    if (underWay === 0) stopped?.();
  }
}

/** DuckDB in memory, on one thread: nothing of it is in a file but what is written as Parquet. */
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
        // It loads nothing, and reads and writes what it is told alone.
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

  /** Runs statements without a result; a single one where it has values. */
  async run(sql: string, values?: Values): Promise<void> {
    await following(() => this.#connection.run(sql, parametersOf(values), typesOf(values)));
  }

  /** The rows of a result, as JSON has their values. */
  async rows(sql: string, values?: Values): Promise<readonly Record<string, unknown>[]> {
    const reader = await following(() => this.#connection.runAndReadAll(sql, parametersOf(values), typesOf(values)));
    return reader.getRowObjectsJson();
  }

  /** The rows of a result, some at a time, as JSON has their values. */
  async *stream(sql: string): AsyncGenerator<readonly Record<string, unknown>[]> {
    const result = await this.#connection.stream(sql);
    yield* result.yieldRowObjectJson();
  }

  /** The columns of a result by their names, as DuckDB has their values. */
  async columns(sql: string, values?: Values): Promise<Readonly<Record<string, readonly unknown[]>>> {
    const reader = await following(() => this.#connection.runAndReadAll(sql, parametersOf(values), typesOf(values)));
    // Of no rows it has no columns.
    const none = Object.fromEntries(reader.columnNames().map((name) => [name, []]));
    return { ...none, ...reader.getColumnsObject() };
  }

  /** Ends what is under way: it rejects. */
  interrupt(): void {
    this.#connection.interrupt();
  }

  /** Runs a statement that reads some rows once, as those of the table function rows_to_write. */
  async runWith(rows: RowsToWrite, sql: string): Promise<void> {
    try {
      this.#rows = new RowFeed(rows, await this.#nameType(rows.names));
      await this.run(sql);
    } finally {
      this.#rows = undefined;
    }
  }

  /** A type whose values are some texts. Made of a table: DuckDB's own function ends a text at a zero. */
  async #nameType(names: readonly string[]): Promise<DuckDBLogicalType> {
    await this.run(NO_NAMES);
    await this.appendTexts('names', names);
    await this.run('CREATE TYPE name AS ENUM (SELECT text FROM names ORDER BY number)');
    const result = await following(() => this.#connection.run('SELECT NULL::name'));
    return result.columnLogicalType(0);
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

function parametersOf(values: Values | undefined): Record<string, DuckDBValue> | undefined {
  const all = Object.entries(values?.bound ?? {});
  return values && Object.fromEntries(all.map(([name, value]) => [name, isOne(value) ? value : listValue(value)]));
}

/** Given, since an empty list does not tell its own. */
function typesOf(values: Values | undefined): Record<string, DuckDBType> | undefined {
  const all = Object.entries(values?.bound ?? {});
  return values && Object.fromEntries(all.map(([name, value]) => [name, isOne(value) ? VARCHAR : LIST(VARCHAR)]));
}

function isOne(value: string | readonly string[]): value is string {
  return typeof value === 'string';
}

function append(appender: DuckDBAppender, type: ColumnType, value: Value): void {
  if (value === undefined) appender.appendNull();
  else if (type === 'DOUBLE') appender.appendDouble(value as number);
  else if (type === 'VARCHAR') appender.appendVarchar(value as string);
  else appender.appendTimestampTZ(new DuckDBTimestampTZValue(1000n * BigInt(value)));
}

type Items = Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/**
 * Rows on their way into a statement, a chunk at a time: DuckDB asks for them, and no table is filled with them before.
 */
class RowFeed {
  readonly #rows: RowsToWrite;
  readonly #types: readonly DuckDBType[];
  /** A chunk of each column. */
  readonly #items: readonly Items[];
  #at = 0;

  constructor(rows: RowsToWrite, names: DuckDBLogicalType) {
    this.#rows = rows;
    // As a type of its own it would make all of the names anew whenever it is asked.
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

  /** Fills a chunk with the next rows; with none when there are no more. */
  fill(chunk: DuckDBDataChunk['chunk']): void {
    const { order, columns } = this.#rows;
    const rows = order.subarray(this.#at, this.#at + CHUNK_ROWS);
    this.#at += rows.length;
    bindings.data_chunk_set_size(chunk, rows.length);
    if (rows.length === 0) return;
    for (let i = 0; i < columns.length; i++) {
      const items = this.#items[i] as Items;
      gather(items, columns[i] as Column, rows);
      const vector = bindings.data_chunk_get_vector(chunk, i);
      bindings.copy_data_to_vector(vector, 0, items.buffer, 0, rows.length * items.BYTES_PER_ELEMENT);
    }
  }
}

/** How DuckDB has the values of an enumeration, by how many there are; of most as Uint32Array. */
const ITEMS_OF_NAMES: Readonly<Partial<Record<DuckDBTypeId, Uint8ArrayConstructor | Uint16ArrayConstructor>>> = {
  [DuckDBTypeId.UTINYINT]: Uint8Array,
  [DuckDBTypeId.USMALLINT]: Uint16Array,
};

/** hot: loops that are alike, each for one kind of array. */
function gather(items: Items, { values, first, stride }: Column, rows: Uint32Array): void {
  if (items instanceof Float64Array) {
    for (let i = 0; i < rows.length; i++) items[i] = values[stride * (rows[i] as number) + first] as number;
  } else if (items instanceof Uint16Array) {
    for (let i = 0; i < rows.length; i++) items[i] = values[stride * (rows[i] as number) + first] as number;
  } else {
    for (let i = 0; i < rows.length; i++) items[i] = values[stride * (rows[i] as number) + first] as number;
  }
}
