import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { EntityKind } from '../core/kept.ts';
import { type Borrowed, look } from '../model/borrowed.ts';

/**
 * The records of the configuration log: msgpack of `[version, kind, id, …]`, with the fields of the kind in the order of
 * FIELDS. The id is unique, so that whoever appends a record recognises it in the log.
 *
 * All hubs must apply the same records, so a record that cannot be read must not be skipped: reading it is an error, and
 * so is writing it.
 */

const VERSION = 1;
const PARTITIONS = 256;

/** What a field may be. */
interface Shape<Value> {
  /** In words, to follow "must be". */
  readonly what: string;
  fits(value: unknown): value is Value;
}

/** An entity as JSON text, or null if it is deleted: with `force`, together with whatever refers to it. */
export type EntityChange = readonly [kind: EntityKind, id: string, text: string | null, force: boolean];

/** A provider that came along with a location, as JSON text. */
export type EnsuredProvider = readonly [id: string, text: string];

/** The number of the last request from a front door that was recorded in a lane. */
export type LastRequest = readonly [lane: string, door: string, number: number];

const ENTITY_KINDS = ['zone', 'fence', 'trackable', 'provider', 'anchor', 'setting'] as const satisfies EntityKind[];

const TEXT: Shape<string> = { what: 'a text', fits: (value) => typeof value === 'string' };
const COUNT: Shape<number> = { what: 'a whole number', fits: isCount };
const FLAG: Shape<boolean> = { what: 'true or false', fits: (value) => typeof value === 'boolean' };
const TEXT_OR_NULL: Shape<string | null> = {
  what: 'a text or null',
  fits: (value) => value === null || typeof value === 'string',
};
const ENTITY_KIND: Shape<EntityKind> = {
  what: `one of ${ENTITY_KINDS.join(', ')}`,
  fits: (value): value is EntityKind => ENTITY_KINDS.includes(value as EntityKind),
};
const PARTITION: Shape<number> = {
  what: `a number below ${PARTITIONS}`,
  fits: (value): value is number => isCount(value) && value < PARTITIONS,
};
const OWNER: Shape<number> = {
  what: 'a whole number, or -1',
  fits: (value): value is number => value === -1 || isCount(value),
};

/** Who owns what from this record on. */
const MAP = {
  epoch: COUNT,
  /** Their incarnations. */
  members: listOf(TEXT),
  /** For each partition, the index of its owner in `members`; -1 for nobody. */
  owners: listOf(OWNER, PARTITIONS),
  /** The index of the owner of the collision stage. */
  collisionOwner: OWNER,
} as const;

const FIELDS = {
  /** Entities, rules and settings, and who has changed them. */
  change: { by: TEXT, changes: listOf(rowOf<EntityChange>(ENTITY_KIND, TEXT, TEXT_OR_NULL, FLAG)) },
  /** Providers to create if they do not exist. */
  ensure: { by: TEXT, providers: listOf(rowOf<EnsuredProvider>(TEXT, TEXT)) },
  /** `protocols`: the versions that it can read and write; `digest`: of the settings that all hubs must share. */
  join: { incarnation: TEXT, name: TEXT, protocols: listOf(COUNT), shards: COUNT, digest: TEXT },
  map: MAP,
  expel: { incarnation: TEXT, ...MAP },
  leave: { incarnation: TEXT, ...MAP },
  /** `by` has taken over partitions from `of`; both are incarnations. */
  took: {
    by: TEXT,
    of: TEXT,
    partitions: listOf(PARTITION),
    requests: listOf(rowOf<LastRequest>(TEXT, TEXT, COUNT)),
  },
  /** From this record on everybody writes this version. */
  protocol: { version: COUNT },
} as const;

export type ConfigKind = keyof typeof FIELDS;

type Valued<Shapes> = { readonly [Field in keyof Shapes]: Shapes[Field] extends Shape<infer Value> ? Value : never };

/** The content of a record, by its kind. */
export type ConfigBody<Kind extends ConfigKind = ConfigKind> = {
  [Each in Kind]: { readonly kind: Each } & Valued<(typeof FIELDS)[Each]>;
}[Kind];

/** A record as the log has it. */
export interface ConfigRecord {
  readonly sequence: number;
  readonly id: string;
  readonly body: ConfigBody;
}

/** A record, or the end of a snapshot, does not have the form that it must have. */
export class ConfigRecordError extends Error {
  override name = 'ConfigRecordError';
}

// Lists of plain values only: no msgpackr records, which define their structures in the stream, and no toJSON.
const packr = new Packr({ useRecords: false, useToJSON: false });

/** Packs a record into bytes of its own. Throws a ConfigRecordError if it could not be read again. */
export function packRecord(id: string, body: ConfigBody): Uint8Array {
  const shapes: Readonly<Record<string, Shape<unknown>>> = FIELDS[body.kind];
  const values = Object.entries(shapes).map(([field, shape]) => {
    const value = (body as unknown as Readonly<Record<string, unknown>>)[field];
    check(`Cannot write a configuration record (${body.kind})`, field, value, shape);
    return value;
  });
  return packed([VERSION, body.kind, id, ...values]);
}

/** Unpacks the record of a sequence. Throws a ConfigRecordError that names the sequence if it is malformed. */
export function unpackRecord(bytes: Borrowed, sequence: number): ConfigRecord {
  const what = `Cannot read configuration record ${sequence}`;
  const list = unpacked(what, bytes);
  const [version, kind, id, ...values] = list;
  if (version !== VERSION) throw misfit(what, 'version', version, `${VERSION}`);
  if (!isKind(kind)) throw misfit(what, 'kind', kind, `one of ${Object.keys(FIELDS).join(', ')}`);
  const ofKind = `${what} (${kind})`;
  check(ofKind, 'id', id, TEXT);
  const shapes = Object.entries<Shape<unknown>>(FIELDS[kind]);
  if (values.length !== shapes.length) {
    throw misfit(ofKind, 'number of fields', values.length, `${shapes.length}`);
  }
  const body: Record<string, unknown> = { kind };
  for (const [index, [field, shape]] of shapes.entries()) {
    check(ofKind, field, values[index], shape);
    body[field] = values[index];
  }
  return { sequence, id: id as string, body: body as unknown as ConfigBody };
}

/** The last message of a snapshot: the last record that it includes, and the number of messages before this one. */
export interface SnapshotEnd {
  readonly sequence: number;
  readonly parts: number;
}

export function packSnapshotEnd({ sequence, parts }: SnapshotEnd): Uint8Array {
  return packed([VERSION, 'snapshot', sequence, parts]);
}

/** Unpacks the end of a snapshot, the message with sequence `at` of its stream. Throws a ConfigRecordError. */
export function unpackSnapshotEnd(bytes: Borrowed, at: number): SnapshotEnd {
  const what = `Cannot read the end of the configuration's snapshot, message ${at}`;
  const [version, kind, sequence, parts] = unpacked(what, bytes);
  if (version !== VERSION) throw misfit(what, 'version', version, `${VERSION}`);
  if (kind !== 'snapshot') throw misfit(what, 'kind', kind, 'snapshot');
  check(what, 'sequence', sequence, COUNT);
  check(what, 'parts', parts, COUNT);
  return { sequence: sequence as number, parts: parts as number };
}

function packed(values: readonly unknown[]): Uint8Array {
  return new Uint8Array(packr.pack(values, RESET_BUFFER_MODE));
}

function unpacked(what: string, bytes: Borrowed): readonly unknown[] {
  let value: unknown;
  try {
    value = packr.unpack(look(bytes));
  } catch (cause) {
    throw new ConfigRecordError(`${what}: ${look(bytes).length} bytes are not msgpack`, { cause });
  }
  if (!Array.isArray(value)) throw misfit(what, 'it', value, 'a list');
  return value;
}

function isKind(kind: unknown): kind is ConfigKind {
  return typeof kind === 'string' && Object.hasOwn(FIELDS, kind);
}

function check(what: string, field: string, value: unknown, shape: Shape<unknown>): void {
  if (!shape.fits(value)) throw misfit(what, field, value, shape.what);
}

function misfit(what: string, field: string, value: unknown, wanted: string): ConfigRecordError {
  return new ConfigRecordError(`${what}: ${field} must be ${wanted}, but is ${shown(value)}`);
}

const SHOWN_MAX = 100;

/** A value, shortened. */
function shown(value: unknown): string {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function listOf<Value>(each: Shape<Value>, length?: number): Shape<readonly Value[]> {
  return {
    what: `a list${length === undefined ? '' : ` of ${length}`}, each of them ${each.what}`,
    fits: (value): value is readonly Value[] =>
      Array.isArray(value) && (length ?? value.length) === value.length && value.every((one) => each.fits(one)),
  };
}

function rowOf<Row extends readonly unknown[]>(...shapes: { [At in keyof Row]: Shape<Row[At]> }): Shape<Row> {
  const columns: readonly Shape<unknown>[] = shapes;
  return {
    what: `[${columns.map(({ what }) => what).join('; ')}]`,
    fits: (value): value is Row =>
      Array.isArray(value) &&
      value.length === columns.length &&
      columns.every((shape, index) => shape.fits(value[index])),
  };
}
