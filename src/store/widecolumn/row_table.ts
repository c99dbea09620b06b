import type { Client, types } from 'cassandra-driver';
import type { StoredRow } from '../../core/item.ts';
import { long } from './keyspace.ts';
import { readPartitions } from './reading.ts';
import { partitionOf } from './schema.ts';
import type { Statement, WriteRequest } from './sender.ts';

/** Maximum size of a write to one partition, in bytes. Nodes reject mutations above 16 MiB. */
const WRITE_BYTES_MAX = 64 << 10;
/** Approximate size of a row without its strings. */
const ROW_BYTES = 64;

const SET = `INSERT INTO last_known (partition, kind, id, received_ms, key_ms, location, memberships)
  VALUES (?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?`;
const DELETE = 'DELETE FROM last_known USING TIMESTAMP ? WHERE partition = ? AND kind = ? AND id = ?';
const READ = 'SELECT kind, id, received_ms, key_ms, location, memberships FROM last_known WHERE partition = ?';

const SET_COLLISION = 'INSERT INTO collision (partition, id, start_ms, bodies) VALUES (?, ?, ?, ?) USING TIMESTAMP ?';
const DELETE_COLLISION = 'DELETE FROM collision USING TIMESTAMP ? WHERE partition = ? AND id = ?';
const READ_COLLISIONS = 'SELECT id, start_ms, bodies FROM collision WHERE partition = ?';

/** Returns the writes for rows, with timestamps from `tick` on. Rows of the same partition and table are batched. */
export function rowWrites(rows: readonly StoredRow[], tick: number): WriteRequest[] {
  const open = new Map<string, { statements: Statement[]; bytes: number; isLogged: false }>();
  const writes: WriteRequest[] = [];
  for (const row of rows) {
    const partition = partitionOf(row);
    const statement = statementOf(row, { partition, tick: long(tick++) });
    const bytes = bytesOf(row);
    const place = row.kind === 'collision' ? `collision ${partition}` : `${partition}`;
    let write = open.get(place);
    if (write === undefined || write.bytes + bytes > WRITE_BYTES_MAX) {
      write = { statements: [], bytes: 0, isLogged: false };
      open.set(place, write);
      writes.push(write);
    }
    write.statements.push(statement);
    write.bytes += bytes;
  }
  return writes;
}

function statementOf(row: StoredRow, { partition, tick }: { partition: number; tick: types.Long }): Statement {
  const { kind, id } = row;
  if (row.kind === 'collision') {
    if (row.gone === true) return { query: DELETE_COLLISION, params: [tick, partition, id] };
    return { query: SET_COLLISION, params: [partition, id, row.startMs, row.bodies, tick] };
  }
  if (row.gone === true) return { query: DELETE, params: [tick, partition, kind, id] };
  const memberships = JSON.stringify(row.memberships);
  return {
    query: SET,
    params: [partition, kind, id, row.receivedMs, row.eventTimeMs, row.location, memberships, tick],
  };
}

function bytesOf(row: StoredRow): number {
  const bytes = ROW_BYTES + 2 * row.id.length;
  if (row.gone === true) return bytes;
  if (row.kind === 'collision') return bytes + row.bodies.length;
  return bytes + row.location.length + ROW_BYTES * row.memberships.length;
}

/** Reads all rows, collisions last. */
export async function readRows(client: Client, consistency: number): Promise<StoredRow[]> {
  const rows = await readPartitions(
    client,
    { query: READ, consistency },
    (row): StoredRow => ({
      kind: row.get('kind'),
      id: row.get('id'),
      receivedMs: row.get('received_ms'),
      eventTimeMs: row.get('key_ms'),
      location: row.get('location'),
      memberships: JSON.parse(row.get('memberships')),
    }),
  );
  const collisions = await readPartitions(
    client,
    { query: READ_COLLISIONS, consistency },
    (row): StoredRow => ({
      kind: 'collision',
      id: row.get('id'),
      startMs: row.get('start_ms'),
      bodies: row.get('bodies'),
    }),
  );
  return [...rows, ...collisions];
}
