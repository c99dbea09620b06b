import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import { type Borrowed, lend, look } from '../../model/borrowed.ts';

/**
 * Codec of messages between hubs, generated from tables: a table names the fields of a message in order, with a check of each.
 *
 * A message is msgpack of `[version, kind, fields…]`; the kind is left out where there is only one. A message that has another
 * version, other fields or an invalid value is rejected with a MessageError, which names the field and the value found.
 */

/** A field: the check of its value in a message, and its conversion if the program has another form of it. */
export interface Field<Value> {
  /** Description that follows "must be" in an error. */
  readonly what: string;
  fits(value: unknown): boolean;
  /** Converts the value for a message; left out where it is the same. */
  write?(value: Value): unknown;
  /** Converts a valid value of a message; left out where it is the same. */
  read?(value: unknown): Value;
  /** Whether the reader leaves the member out if it has no value. */
  readonly isOptional?: boolean;
}

/** A field whose member may be missing. */
export interface OptionalField<Value> extends Field<Value | undefined> {
  readonly isOptional: true;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

type OptionalIn<Of> = { [Name in keyof Of]: Of[Name] extends OptionalField<unknown> ? Name : never }[keyof Of];

/** Value with a member for each field. */
export type Valued<Of> = {
  readonly [Name in Exclude<keyof Of, OptionalIn<Of>>]: Of[Name] extends Field<infer Value> ? Value : never;
} & {
  readonly [Name in OptionalIn<Of>]?: Of[Name] extends OptionalField<infer Value> ? Value : never;
};

/** A message is malformed or of another version. */
export class MessageError extends Error {
  override name = 'MessageError';
}

export const TEXT: Field<string> = { what: 'a string', fits: isText };
/** An id or a name. */
export const ID: Field<string> = { what: 'a string that is not empty', fits: (value) => isText(value) && value !== '' };
export const COUNT: Field<number> = { what: 'a whole number', fits: isCount };
export const COUNT_FROM_1: Field<number> = {
  what: 'a whole number from 1',
  fits: (value) => isCount(value) && value !== 0,
};
export const NUMBER: Field<number> = { what: 'a number', fits: Number.isFinite };
export const FLAG: Field<boolean> = { what: 'true or false', fits: (value) => typeof value === 'boolean' };
/** Bytes that are valid as long as the message is. */
export const LENT_BYTES: Field<Borrowed> = { what: 'bytes', fits: isBytes, write: look, read: lend as () => Borrowed };
/** Bytes, which the reader copies. */
export const BYTES: Field<Uint8Array> = {
  what: 'bytes',
  fits: isBytes,
  read: (value) => new Uint8Array(value as Uint8Array),
};

/** A field with another check. */
export function checked<Value>(what: string, fits: (value: unknown) => boolean): Field<Value> {
  return { what, fits };
}

export function oneOf<Value extends string | number>(...values: readonly Value[]): Field<Value> {
  return { what: `one of ${values.join(', ')}`, fits: (value) => values.includes(value as Value) };
}

/** A field whose value may be undefined; null in the message. */
export function orNone<Value>({ what, fits, write, read }: Field<Value>): Field<Value | undefined> {
  return {
    what: `${what}, or null`,
    fits: (value) => value === null || fits(value),
    write: (value) => (value === undefined ? null : write === undefined ? value : write(value)),
    read: (value) => (value === null ? undefined : read === undefined ? (value as Value) : read(value)),
  };
}

/** A member that may be missing; null in the message. */
export function optional<Value>(field: Field<Value>): OptionalField<Value> {
  return { ...orNone(field), isOptional: true };
}

export function listOf<Value>(each: Field<Value>, length?: number): Field<readonly Value[]> {
  const { write, read } = each;
  return {
    what: `a list${length === undefined ? '' : ` of ${length}`}, each of them ${each.what}`,
    fits: (value) =>
      Array.isArray(value) && (length ?? value.length) === value.length && value.every((one) => each.fits(one)),
    ...(write !== undefined && { write: (values) => values.map((value) => write(value)) }),
    ...(read !== undefined && { read: (values) => (values as readonly unknown[]).map((value) => read(value)) }),
  };
}

/** A list with a value for each of these fields, which need no conversion. */
export function rowOf<Row extends readonly unknown[]>(...columns: { [At in keyof Row]: Field<Row[At]> }): Field<Row> {
  const fields: readonly Field<unknown>[] = columns;
  const { misfit } = tableOf(Object.fromEntries(fields.entries()));
  return {
    what: `[${fields.map(({ what }) => what).join('; ')}]`,
    fits: (value) => Array.isArray(value) && value.length === fields.length && misfit(value) === -1,
  };
}

/** An object; in the message, a list of the values of its fields. */
export function recordOf<Of extends Fields>(fields: Of): Field<Valued<Of>> {
  const { what, fits } = rowOf<readonly unknown[]>(...Object.values(fields));
  const { write, read } = tableOf(fields);
  return { what, fits, write, read: (values) => read(values as unknown[]) as Valued<Of> };
}

/** Reader and writer of a message. */
export interface Codec<Value> {
  /** Packs a message into bytes of its own. */
  pack(value: Value): Uint8Array;
  /** Reads a message. Throws a MessageError. */
  read(bytes: Borrowed): Value;
}

interface MessageHead {
  /** Name of the message, for errors: they begin with "Cannot read" and this. */
  readonly what: string;
  readonly version: number;
}

/** Codec of a message with these fields. */
export function messageOf<Of extends Fields>(head: MessageHead, fields: Of): Codec<Valued<Of>> {
  const table = tableOf(fields, [head.version]);
  return {
    pack: (value) => packr.pack(table.write(value)),
    read: (bytes) => table.checked(what(head), opened(head, bytes)) as Valued<Of>,
  };
}

/** A message that is one of several kinds, with a tag that names it. */
export type Tagged<Tag extends string, Kinds extends Readonly<Record<string, Fields>>> = {
  [Kind in keyof Kinds]: { readonly [Each in Tag]: Kind } & Valued<Kinds[Kind]>;
}[keyof Kinds];

/** Codec of a message of several kinds: a table for each. */
export function messagesOf<Tag extends string, Kinds extends Readonly<Record<string, Fields>>>(
  head: MessageHead & { readonly tag: Tag },
  kinds: Kinds,
): Codec<Tagged<Tag, Kinds>> {
  const { tag, version } = head;
  const tables = new Map(Object.entries(kinds).map(([kind, fields]) => [kind, tableOf(fields, [version, kind], tag)]));
  const tags = oneOf(...tables.keys());
  return {
    pack(value) {
      const kind = (value as Record<string, string>)[tag] as string;
      return packr.pack((tables.get(kind) as Table).write(value));
    },
    read(bytes) {
      const values = opened(head, bytes);
      const kind = values[1];
      const table = tables.get(kind as string);
      if (table === undefined) throw malformed(what(head), tag, kind, tags.what);
      return table.checked(what(head), values) as Tagged<Tag, Kinds>;
    },
  };
}

/** Codec of fields without a version, which belong to a message with a layout of its own. */
export interface PartCodec<Value> {
  /** Packs them into bytes that are valid until the next packing. */
  packForNow(value: Value): Borrowed;
  /** Throws a MessageError that begins with `what`. */
  read(what: string, bytes: Uint8Array): Value;
}

export function partOf<Of extends Fields>(fields: Of): PartCodec<Valued<Of>> {
  const table = tableOf(fields);
  return {
    packForNow: (value) => lend(packr.pack(table.write(value), RESET_BUFFER_MODE)),
    read: (what, bytes) => table.checked(what, unpackList(what, bytes)) as Valued<Of>,
  };
}

/** Functions for the values of a table, which follow those of a head in a list. */
export interface Table<Value = object> {
  /** Returns the head and the values of the fields. */
  write(value: Value): unknown[];
  /** The same. Throws a MessageError that begins with `what` if a value is invalid. */
  written(what: string, value: Value): unknown[];
  /** Index of the first field with an invalid value, or -1. */
  misfit(values: readonly unknown[]): number;
  /** Returns the members for valid values. */
  read(values: readonly unknown[]): Value;
  /** Checks the values, too. Throws a MessageError that begins with `what`. */
  checked(what: string, values: readonly unknown[]): Value;
}

/**
 * Generates the functions of a table as code: loops over its fields would take half as long again. `tag`: a member with the last
 * value of the head.
 */
export function tableOf<Of extends Fields>(fields: Of, head: readonly unknown[] = [], tag?: string): Table<Valued<Of>> {
  const names = Object.keys(fields).map((name) => JSON.stringify(name));
  const all = Object.values(fields);
  const heads = head.map((value) => JSON.stringify(value));
  const converted = (of: 'write' | 'read', i: number, value: string): string =>
    all[i]?.[of] === undefined ? value : `f${i}.${of}(${value})`;
  const valueAt = (i: number): string => `values[${head.length + i}]`;
  const written = names.map((name, i) => converted('write', i, `value[${name}]`));
  const checks = names.map((_, i) => `if (!f${i}.fits(${valueAt(i)})) return ${i};`);
  const member = (i: number): string => `${names[i]}: ${converted('read', i, valueAt(i))}`;
  const isOptional = (i: number): boolean => all[i]?.isOptional === true;
  const indices = [...all.keys()];
  const members = indices.filter((i) => !isOptional(i)).map(member);
  const tagged = tag === undefined ? [] : [`${JSON.stringify(tag)}: ${heads.at(-1)}`];
  const optional = indices
    .filter(isOptional)
    .map((i) => `if (${valueAt(i)} !== null) object[${names[i]}] = ${converted('read', i, valueAt(i))};`);
  const source = `return {
    write(value) { return [${[...heads, ...written].join(', ')}]; },
    misfit(values) { ${checks.join(' ')} return -1; },
    read(values) { const object = { ${[...tagged, ...members].join(', ')} }; ${optional.join(' ')} return object; },
  }`;
  const parameters = indices.map((i) => `f${i}`);
  const table = new Function(...parameters, source)(...all) as Omit<Table<Valued<Of>>, 'checked' | 'written'>;
  const check = (what: string, values: readonly unknown[]): void => {
    const at = table.misfit(values);
    if (at === -1) return;
    const [name, field] = Object.entries(fields)[at] as [string, Field<unknown>];
    throw malformed(what, name, values[head.length + at], field.what);
  };
  return {
    ...table,
    written(what, value) {
      const values = table.write(value);
      check(what, values);
      return values;
    },
    checked(what, values) {
      const count = values.length - head.length;
      if (count !== all.length) throw malformed(what, 'number of fields', count, `${all.length}`);
      check(what, values);
      return table.read(values);
    },
  };
}

// Plain lists and values only: neither records of msgpackr, which define structures inline, nor toJSON.
const packr = new Packr({ useRecords: false, useToJSON: false, int64AsType: 'number' });

/** Packs plain lists and values into bytes of their own. */
export function packValue(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** Unpacks such a value. Throws a MessageError that begins with `what`. */
export function unpackValue(what: string, bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch (cause) {
    throw new MessageError(`${what}: ${bytes.length} bytes are not msgpack`, { cause });
  }
}

/** Unpacks a list. Throws a MessageError that begins with `what`. */
export function unpackList(what: string, bytes: Uint8Array): readonly unknown[] {
  const values = unpackValue(what, bytes);
  if (!Array.isArray(values)) throw malformed(what, 'it', values, 'a list');
  return values;
}

function opened(head: MessageHead, bytes: Borrowed): readonly unknown[] {
  const values = unpackList(what(head), look(bytes));
  if (values[0] !== head.version) throw malformed(what(head), 'version', values[0], `${head.version}`);
  return values;
}

function what(head: MessageHead): string {
  return `Cannot read ${head.what}`;
}

export function malformed(what: string, field: string, value: unknown, wanted: string): MessageError {
  return new MessageError(`${what}: ${field} must be ${wanted}, but is ${shown(value)}`);
}

const SHOWN_MAX = 100;

/** A value as JSON, shortened. */
function shown(value: unknown): string {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
