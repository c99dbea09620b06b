import type { StoredKind } from '../../core/entity_write.ts';
import type { Borrowed } from '../../model/borrowed.ts';
import type { ObjectKind } from '../../model/id.ts';
import { isPartitionCount } from '../../shards/affinity.ts';
import {
  COUNT,
  check,
  FLAG,
  listOf,
  malformed,
  PARTITION,
  packed,
  rowOf,
  type FieldCheck,
  TEXT,
  unpacked,
  type Valued,
} from './field_checks.ts';
import { checkProtocol, PROTOCOLS } from './protocols.ts';

/**
 * Records of the configuration log: msgpack of `[version, kind, id, …]`, with the fields of the kind in the order of FIELDS.
 * The id is unique, so that the writer recognizes its record in the log.
 *
 * All hubs must apply the same records, so an unreadable record must not be skipped: reading it is an error, and so is writing
 * it. The version is the lowest one that lets hubs follow the log from the record on: see protocols.ts.
 */

const SNAPSHOT_END_VERSION = 1;

/** An entity as JSON, or null if it is deleted: with `force`, together with everything that refers to it. */
export type EntityChange = readonly [kind: StoredKind, id: string, text: string | null, force: boolean];

/** An object whose partition changes with its assignments. */
export type ObjectMove = readonly [kind: ObjectKind, id: string, fromPartition: number, toPartition: number];

/** A provider that a location has created, as JSON. */
export type EnsuredProvider = readonly [id: string, text: string];

const OBJECT_KINDS = ['provider', 'trackable'] as const satisfies ObjectKind[];
const ENTITY_KINDS = ['zone', 'fence', 'trackable', 'provider', 'anchor', 'setting'] as const satisfies StoredKind[];

const TEXT_OR_NULL: FieldCheck<string | null> = {
  what: 'a string or null',
  fits: (value) => value === null || typeof value === 'string',
};
export const ENTITY_KIND: FieldCheck<StoredKind> = {
  what: `one of ${ENTITY_KINDS.join(', ')}`,
  fits: (value): value is StoredKind => ENTITY_KINDS.includes(value as StoredKind),
};
const CHANGES = listOf(rowOf<EntityChange>(ENTITY_KIND, TEXT, TEXT_OR_NULL, FLAG));
const OBJECT_KIND: FieldCheck<ObjectKind> = {
  what: `one of ${OBJECT_KINDS.join(', ')}`,
  fits: (value): value is ObjectKind => OBJECT_KINDS.includes(value as ObjectKind),
};
export const OBJECT_MOVES = listOf(rowOf<ObjectMove>(OBJECT_KIND, TEXT, PARTITION, PARTITION));
const OWNER: FieldCheck<number> = {
  what: 'a whole number, or -1',
  fits: (value): value is number => value === -1 || COUNT.fits(value),
};

const OWNERS: FieldCheck<readonly number[]> = {
  what: `a list of 256, 512, 1024, 2048 or 4096, each of them ${OWNER.what}, or an empty one`,
  fits: (value): value is readonly number[] => {
    return listOf(OWNER).fits(value) && (value.length === 0 || isPartitionCount(value.length));
  },
};

/** Assignment of partitions from this record on. */
export const MAP = {
  epoch: COUNT,
  /** Member ids of the owners. */
  members: listOf(TEXT),
  /** Index in `members` of the owner of each partition; -1 if it is unowned. */
  owners: OWNERS,
  /** Index in `members` of the owner of the collision stage. */
  collisionOwner: OWNER,
} as const;

const FIELDS = {
  /** Entities, rules and settings, and the hub that has changed them. */
  change: { by: TEXT, changes: CHANGES },
  /** The same, with the objects that move to a partition of another owner by these changes. */
  regroup: { by: TEXT, changes: CHANGES, objects: OBJECT_MOVES },
  /** Hub `by` has acquired the objects of the `regroup` with that sequence whose new partitions are listed. */
  arrived: { by: TEXT, sequence: COUNT, partitions: listOf(PARTITION) },
  /** Providers to create if they do not exist. */
  ensure: { by: TEXT, providers: listOf(rowOf<EnsuredProvider>(TEXT, TEXT)) },
  /** `protocols`: versions that the hub can read and write; `digest`: of the settings that all hubs must share. */
  join: { incarnation: TEXT, name: TEXT, protocols: listOf(COUNT), digest: TEXT },
  map: MAP,
  expel: { incarnation: TEXT, ...MAP },
  leave: { incarnation: TEXT, ...MAP },
  /** `by` has taken over partitions from `of`; both are member ids, and may be the same. */
  took: { by: TEXT, of: TEXT, partitions: listOf(PARTITION) },
  /** All hubs write this version from this record on. */
  protocol: { version: COUNT },
} as const;

export type ConfigKind = keyof typeof FIELDS;

/** Fields of a record, by its kind. */
export type ConfigBody<Kind extends ConfigKind = ConfigKind> = {
  [Each in Kind]: { readonly kind: Each } & Valued<(typeof FIELDS)[Each]>;
}[Kind];

/** A record of the log. */
export interface ConfigRecord {
  readonly sequence: number;
  readonly id: string;
  readonly body: ConfigBody;
}

/** Packs a record into its own memory. Throws if it is invalid. */
export function packRecord(id: string, body: ConfigBody): Uint8Array {
  const shapes: Readonly<Record<string, FieldCheck<unknown>>> = FIELDS[body.kind];
  const values = Object.entries(shapes).map(([field, shape]) => {
    const value = (body as unknown as Readonly<Record<string, unknown>>)[field];
    check(`Cannot write a configuration record (${body.kind})`, field, value, shape);
    return value;
  });
  // All hubs support the version after the record that raises it, so other records need no higher version.
  return packed([body.kind === 'protocol' ? body.version : 1, body.kind, id, ...values]);
}

/**
 * Unpacks the record of a sequence. Throws a ConfigRecordError that names the sequence if it is malformed, or if its version is
 * not supported.
 */
export function unpackRecord(bytes: Borrowed, sequence: number, supported = PROTOCOLS): ConfigRecord {
  const what = `Cannot read configuration record ${sequence}`;
  const list = unpacked(what, bytes);
  const [version, kind, id, ...values] = list;
  checkProtocol(what, version, supported);
  if (!isKind(kind)) throw malformed(what, 'kind', kind, `one of ${Object.keys(FIELDS).join(', ')}`);
  const ofKind = `${what} (${kind})`;
  check(ofKind, 'id', id, TEXT);
  const shapes = Object.entries<FieldCheck<unknown>>(FIELDS[kind]);
  if (values.length !== shapes.length) {
    throw malformed(ofKind, 'number of fields', values.length, `${shapes.length}`);
  }
  const body: Record<string, unknown> = { kind };
  for (const [index, [field, shape]] of shapes.entries()) {
    check(ofKind, field, values[index], shape);
    body[field] = values[index];
  }
  return { sequence, id: id as string, body: body as unknown as ConfigBody };
}

/** Last message of a snapshot: the last record that the snapshot includes, and the number of messages before this one. */
export interface SnapshotEnd {
  readonly sequence: number;
  readonly parts: number;
}

export function packSnapshotEnd({ sequence, parts }: SnapshotEnd): Uint8Array {
  return packed([SNAPSHOT_END_VERSION, 'snapshot', sequence, parts]);
}

/** Unpacks the end of a snapshot, the message with sequence `at` of its stream. Throws a ConfigRecordError. */
export function unpackSnapshotEnd(bytes: Borrowed, at: number): SnapshotEnd {
  const what = `Cannot read the end of the configuration's snapshot, message ${at}`;
  const [version, kind, sequence, parts] = unpacked(what, bytes);
  if (version !== SNAPSHOT_END_VERSION) throw malformed(what, 'version', version, `${SNAPSHOT_END_VERSION}`);
  if (kind !== 'snapshot') throw malformed(what, 'kind', kind, 'snapshot');
  check(what, 'sequence', sequence, COUNT);
  check(what, 'parts', parts, COUNT);
  return { sequence: sequence as number, parts: parts as number };
}

function isKind(kind: unknown): kind is ConfigKind {
  return typeof kind === 'string' && Object.hasOwn(FIELDS, kind);
}
