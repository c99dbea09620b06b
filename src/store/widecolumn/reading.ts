import type { Client, types } from 'cassandra-driver';
import { eachOf } from './each_of.ts';
import { ALL_PARTITIONS } from './schema.ts';

const AT_ONCE = 8;
const PAGE_ROWS = 2000;

/** Reads a table page by page, with several partitions in parallel. */
export async function readPartitions<T>(
  client: Client,
  { query, consistency }: { readonly query: string; readonly consistency: number },
  convert: (row: types.Row) => T,
): Promise<T[]> {
  const read: T[] = [];
  await eachOf(ALL_PARTITIONS.values(), { atOnce: AT_ONCE }, async (partition) => {
    const rows = await client.execute(query, [partition], { consistency, fetchSize: PAGE_ROWS });
    for await (const row of rows) read.push(convert(row));
  });
  return read;
}
