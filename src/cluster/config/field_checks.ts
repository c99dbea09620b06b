import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import { type Borrowed, look } from '../../model/borrowed.ts';
import { PARTITIONS_MAX } from '../../shards/affinity.ts';

/**
 * Encoding of the configuration: lists of msgpack, with a check for each value. All hubs must read the same values, so both
 * reading and writing a malformed one is an error.
 */

/** Check of the value of a field. */
export interface FieldCheck<Value> {
  /** Description that follows "must be" in an error. */
  readonly what: string;
  fits(value: unknown): value is Value;
}

export const TEXT: FieldCheck<string> = { what: 'a string', fits: (value) => typeof value === 'string' };
export const COUNT: FieldCheck<number> = { what: 'a whole number', fits: isCount };
export const FLAG: FieldCheck<boolean> = { what: 'true or false', fits: (value) => typeof value === 'boolean' };
export const PARTITION: FieldCheck<number> = {
  what: `a number below ${PARTITIONS_MAX}`,
  fits: (value): value is number => isCount(value) && value < PARTITIONS_MAX,
};
/** Values of fields with these checks. */
export type Valued<Shapes> = {
  readonly [Field in keyof Shapes]: Shapes[Field] extends FieldCheck<infer Value> ? Value : never;
};

/** A record or a snapshot is malformed. */
export class ConfigRecordError extends Error {
  override name = 'ConfigRecordError';
}

// Plain lists and values only: neither records of msgpackr, which define structures inline, nor toJSON.
const packr = new Packr({ useRecords: false, useToJSON: false });

/** Packs values into their own memory. */
export function packed(values: readonly unknown[]): Uint8Array {
  return new Uint8Array(packr.pack(values, RESET_BUFFER_MODE));
}

/** Reads a list. Throws a ConfigRecordError that begins with `what` if it is malformed. */
export function unpacked(what: string, bytes: Borrowed): readonly unknown[] {
  let value: unknown;
  try {
    value = packr.unpack(look(bytes));
  } catch (cause) {
    throw new ConfigRecordError(`${what}: ${look(bytes).length} bytes are not msgpack`, { cause });
  }
  if (!Array.isArray(value)) throw malformed(what, 'it', value, 'a list');
  return value;
}

/** Throws a ConfigRecordError that begins with `what` if the value of a field is invalid. */
export function check(what: string, field: string, value: unknown, shape: FieldCheck<unknown>): void {
  if (!shape.fits(value)) throw malformed(what, field, value, shape.what);
}

export function malformed(what: string, field: string, value: unknown, wanted: string): ConfigRecordError {
  return new ConfigRecordError(`${what}: ${field} must be ${wanted}, but is ${shown(value)}`);
}

const SHOWN_MAX = 100;

/** A value as JSON, shortened. */
function shown(value: unknown): string {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function listOf<Value>(each: FieldCheck<Value>): FieldCheck<readonly Value[]> {
  return {
    what: `a list, each of them ${each.what}`,
    fits: (value): value is readonly Value[] => Array.isArray(value) && value.every((one) => each.fits(one)),
  };
}

export function rowOf<Row extends readonly unknown[]>(
  ...shapes: { [At in keyof Row]: FieldCheck<Row[At]> }
): FieldCheck<Row> {
  const columns: readonly FieldCheck<unknown>[] = shapes;
  return {
    what: `[${columns.map(({ what }) => what).join('; ')}]`,
    fits: (value): value is Row =>
      Array.isArray(value) &&
      value.length === columns.length &&
      columns.every((shape, index) => shape.fits(value[index])),
  };
}
