import { type Client, types } from 'cassandra-driver';
import { refuse } from './failures.ts';
import type { WideColumnSettings } from './settings.ts';

/**
 * Number of partitions of each table, selected by a hash of kind and id. Part of the schema: with another number, rows
 * would not be found.
 */
const PARTITIONS = 64;

/**
 * Statements that migrate to each version; the first ones create version 1. Statements may run twice, or on two hubs
 * concurrently. Times are milliseconds since 1970; `made` orders entities by creation; `memberships` is a JSON array of
 * KeptMembership (core/item.ts). `collision` contains the colliding pairs of trackables: `id` is a JSON array of their
 * ids, `bodies` one of their motions at the start. For the tables of events and audit entries, see event_blocks.ts and
 * event_commits.ts.
 *
 * Rows of a partition are written in one batch, which is one mutation for its node.
 */
const STEPS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE IF NOT EXISTS entity (
      partition int, kind text, id text, made bigint, body text,
      PRIMARY KEY (partition, kind, id)
    )`,
    `CREATE TABLE IF NOT EXISTS last_known (
      partition int, kind text, id text, received_ms double, key_ms double, location text, memberships text,
      PRIMARY KEY (partition, kind, id)
    )`,
    'CREATE TABLE IF NOT EXISTS hub (name text PRIMARY KEY, id text, holder text, ticks bigint)',
  ],
  [
    `CREATE TABLE IF NOT EXISTS collision (
      partition int, id text, start_ms double, bodies text,
      PRIMARY KEY (partition, id)
    )`,
  ],
  [
    `CREATE TABLE IF NOT EXISTS event_head (
      name text PRIMARY KEY, newest bigint, trimmed bigint, slot int, parts int
    )`,
    'CREATE TABLE IF NOT EXISTS event_redo (slot int, part int, redo text, PRIMARY KEY (slot, part))',
    'CREATE TABLE IF NOT EXISTS event_bucket (name text, bucket bigint, PRIMARY KEY (name, bucket))',
    `CREATE TABLE IF NOT EXISTS event_block (
      bucket bigint, last bigint, part int, count int, time_ms double, bytes_before bigint, size int, events blob,
      PRIMARY KEY (bucket, last, part)
    )`,
  ],
  [
    `CREATE TABLE IF NOT EXISTS audit_head (
      name text PRIMARY KEY, newest bigint, trimmed bigint, slot int, parts int
    )`,
    'CREATE TABLE IF NOT EXISTS audit_redo (slot int, part int, redo text, PRIMARY KEY (slot, part))',
    'CREATE TABLE IF NOT EXISTS audit_bucket (name text, bucket bigint, PRIMARY KEY (name, bucket))',
    `CREATE TABLE IF NOT EXISTS audit_block (
      bucket bigint, last bigint, part int, count int, time_ms double, bytes_before bigint, size int, events blob,
      PRIMARY KEY (bucket, last, part)
    )`,
  ],
];

/** Options of one-time queries. */
const NOW = { prepare: false };

const ASK = "SELECT version FROM schema_version WHERE name = 'hub'";
const FIRST = "INSERT INTO schema_version (name, version) VALUES ('hub', ?) IF NOT EXISTS";
const NEXT = "UPDATE schema_version SET version = ? WHERE name = 'hub' IF version = ?";

/** Creates or migrates the tables. Throws a StartupError if a newer hub has created them. */
export async function prepareSchema(client: Client, settings: WideColumnSettings): Promise<void> {
  await client.execute('CREATE TABLE IF NOT EXISTS schema_version (name text PRIMARY KEY, version int)', [], NOW);
  const found = await client.execute(ASK, [], { consistency: types.consistencies.serial });
  const version: number = found.first()?.get('version') ?? 0;
  if (version > STEPS.length) {
    throw refuse(settings, `it was written by a newer hub (version ${version}, this hub knows ${STEPS.length})`);
  }
  for (const [index, statements] of STEPS.entries()) {
    if (index < version) continue;
    for (const statement of statements) await client.execute(statement, [], NOW);
    // Only the first hub records the version; concurrent hubs have run the same statements.
    const count = index === 0 ? ([FIRST, [1]] as const) : ([NEXT, [index + 1, index]] as const);
    await client.execute(count[0], count[1], { isIdempotent: false });
  }
}

export const ALL_PARTITIONS: readonly number[] = Array.from({ length: PARTITIONS }, (_, partition) => partition);

/**
 * Returns the partition of an object by FNV-1a over its UTF-16 code units. http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function partitionOf({ kind, id }: { readonly kind: string; readonly id: string }): number {
  const key = `${kind} ${id}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % PARTITIONS;
}
