import type { StoredKind } from '../../core/entity_write.ts';
import { type Borrowed, look } from '../../model/borrowed.ts';
import type { ObjectKind } from '../../model/id.ts';
import { isPartitionCount, PARTITIONS_MAX } from '../../shards/affinity.ts';
import {
  COUNT,
  checked,
  type Field,
  type Fields,
  FLAG,
  listOf,
  malformed,
  oneOf,
  packValue,
  rowOf,
  type Table,
  TEXT,
  tableOf,
  unpackList,
  type Valued,
} from '../messages/codec.ts';
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

const TEXT_OR_NULL: Field<string | null> = checked(
  'a string or null',
  (value) => value === null || typeof value === 'string',
);
export const PARTITION: Field<number> = checked(
  `a number below ${PARTITIONS_MAX}`,
  (value) => COUNT.fits(value) && (value as number) < PARTITIONS_MAX,
);
export const ENTITY_KIND: Field<StoredKind> = oneOf(...ENTITY_KINDS);
const CHANGES = listOf(rowOf<EntityChange>(ENTITY_KIND, TEXT, TEXT_OR_NULL, FLAG));
export const OBJECT_MOVES = listOf(rowOf<ObjectMove>(oneOf(...OBJECT_KINDS), TEXT, PARTITION, PARTITION));
const OWNER: Field<number> = checked('a whole number, or -1', (value) => value === -1 || COUNT.fits(value));
const OWNERS: Field<readonly number[]> = checked(
  `a list of 256, 512, 1024, 2048 or 4096, each of them ${OWNER.what}, or an empty one`,
  (value) => {
    if (!listOf(OWNER).fits(value)) return false;
    const { length } = value as readonly number[];
    return length === 0 || isPartitionCount(length);
  },
);

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

/** Version, kind and id come before the fields. */
const TABLES = new Map(Object.entries<Fields>(FIELDS).map(([kind, fields]) => [kind, tableOf(fields, [1, kind, ''])]));

/** Packs a record into its own memory. Throws if it is invalid. */
export function packRecord(id: string, body: ConfigBody): Uint8Array {
  const { kind } = body;
  const values = (TABLES.get(kind) as Table).written(`Cannot write a configuration record (${kind})`, body);
  // All hubs support the version after the record that raises it, so other records need no higher version.
  if (kind === 'protocol') values[0] = body.version;
  values[2] = id;
  return packValue(values);
}

/**
 * Unpacks the record of a sequence. Throws a MessageError that names the sequence if it is malformed, or if its version is
 * not supported.
 */
export function unpackRecord(bytes: Borrowed, sequence: number, supported = PROTOCOLS): ConfigRecord {
  const what = `Cannot read configuration record ${sequence}`;
  const values = unpackList(what, look(bytes));
  const [version, kind, id] = values;
  checkProtocol(what, version, supported);
  const table = TABLES.get(kind as string);
  if (table === undefined) throw malformed(what, 'kind', kind, `one of ${[...TABLES.keys()].join(', ')}`);
  const ofKind = `${what} (${kind})`;
  if (!TEXT.fits(id)) throw malformed(ofKind, 'id', id, TEXT.what);
  const body = { kind, ...table.checked(ofKind, values) };
  return { sequence, id: id as string, body: body as unknown as ConfigBody };
}

/** Last message of a snapshot: the last record that the snapshot includes, and the number of messages before this one. */
export interface SnapshotEnd {
  readonly sequence: number;
  readonly parts: number;
}

const SNAPSHOT_END = tableOf({ sequence: COUNT, parts: COUNT }, [SNAPSHOT_END_VERSION, 'snapshot']);

export function packSnapshotEnd(end: SnapshotEnd): Uint8Array {
  return packValue(SNAPSHOT_END.write(end));
}

/** Unpacks the end of a snapshot, the message with sequence `at` of its stream. Throws a MessageError. */
export function unpackSnapshotEnd(bytes: Borrowed, at: number): SnapshotEnd {
  const what = `Cannot read the end of the configuration's snapshot, message ${at}`;
  const values = unpackList(what, look(bytes));
  const [version, kind] = values;
  if (version !== SNAPSHOT_END_VERSION) throw malformed(what, 'version', version, `${SNAPSHOT_END_VERSION}`);
  if (kind !== 'snapshot') throw malformed(what, 'kind', kind, 'snapshot');
  return SNAPSHOT_END.checked(what, values);
}
