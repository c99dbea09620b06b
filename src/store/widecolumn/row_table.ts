import { type Client, types } from 'cassandra-driver';
import type { LastKnownRow } from '../../core/item.ts';
import { readPartitions } from './reading.ts';
import { partitionOf } from './schema.ts';
import type { Statement, Write } from './sender.ts';

/** Of the rows of a partition that are written at once. Nodes refuse mutations above 16 MiB. */
const WRITE_BYTES_MAX = 64 << 10;
/** What a row takes besides its texts, roughly. */
const ROW_BYTES = 64;

const SET = `INSERT INTO last_known (partition, kind, id, received_ms, key_ms, location, memberships)
  VALUES (?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?`;
const DELETE = 'DELETE FROM last_known USING TIMESTAMP ? WHERE partition = ? AND kind = ? AND id = ?';
const READ = 'SELECT kind, id, received_ms, key_ms, location, memberships FROM last_known WHERE partition = ?';

/** Writes of rows, the first of which has the time `tick`. Those of a partition go together. */
export function rowWrites(rows: readonly LastKnownRow[], tick: number): Write[] {
  const open = new Map<number, { statements: Statement[]; bytes: number; isLogged: false }>();
  const writes: Write[] = [];
  for (const row of rows) {
    const partition = partitionOf(row);
    const statement = statementOf(row, { partition, tick: types.Long.fromNumber(tick++) });
    const bytes = bytesOf(row);
    let write = open.get(partition);
    if (write === undefined || write.bytes + bytes > WRITE_BYTES_MAX) {
      write = { statements: [], bytes: 0, isLogged: false };
      open.set(partition, write);
      writes.push(write);
    }
    write.statements.push(statement);
    write.bytes += bytes;
  }
  return writes;
}

function statementOf(row: LastKnownRow, { partition, tick }: { partition: number; tick: types.Long }): Statement {
  const { kind, id } = row;
  if (row.gone === true) return { query: DELETE, params: [tick, partition, kind, id] };
  const memberships = JSON.stringify(row.memberships);
  return { query: SET, params: [partition, kind, id, row.receivedMs, row.keyMs, row.location, memberships, tick] };
}

function bytesOf(row: LastKnownRow): number {
  const texts = row.gone === true ? 0 : row.location.length + ROW_BYTES * row.memberships.length;
  return ROW_BYTES + 2 * row.id.length + texts;
}

/** Throws a TypeError for a row with a time that is not a number: the database would take it. */
export function checkTimes(row: LastKnownRow): void {
  if (row.gone === true || !Number.isNaN(row.receivedMs + row.keyMs)) return;
  throw new TypeError(`Cannot keep the row of ${row.kind} "${row.id}": a time is not a number`);
}

/** All rows. */
export function readRows(client: Client, consistency: number): Promise<LastKnownRow[]> {
  return readPartitions(client, { query: READ, consistency }, (row) => ({
    kind: row.get('kind'),
    id: row.get('id'),
    receivedMs: row.get('received_ms'),
    keyMs: row.get('key_ms'),
    location: row.get('location'),
    memberships: JSON.parse(row.get('memberships')),
  }));
}
