import type Database from 'better-sqlite3';
import type { StoredRow, LastKnownRow } from '../core/item.ts';
import type { EntityWrite, StoredPart } from '../core/entity_write.ts';
import { isTombstone, keyOf, ofKey, RowWriter } from '../core/row_bytes.ts';
import { newRecordBuffer } from '../wire/location_record.ts';
import { type DamagedRow, nameOf } from './damage.ts';
import type { RowLocation } from './newest_rows.ts';
import { readRowLog } from './row_log.ts';
import { rowSum } from './row_sum.ts';
import { PART_MAX } from './store.ts';

/**
 * Reads a database of the current version in parts: entities, settings, last-known rows, then collisions. Rows with a
 * wrong checksum are skipped and added to `damaged`. The rows of a part are valid until the next part is read. The
 * database must not be written during the read.
 */
export function* readStored(db: Database.Database, damaged: DamagedRow[]): Generator<StoredPart> {
  const writer = new RowWriter(newRecordBuffer, 0);
  for (const found of pages<StoredEntity>(db, 'SELECT seq AS page, kind, id, text, sum FROM entity WHERE seq > ?')) {
    const sound = found.filter((row) => isSound(row, rowSum(row.kind, row.id, row.text), 'entity', damaged));
    yield { entities: sound.map(({ kind, id, text }) => ({ kind, id, text })), rows: writer.take() };
  }
  yield { entities: settings(db, damaged), rows: writer.take() };
  const logged = readRowLog(db, (seq) => {
    damaged.push({ table: 'row_log', key: seq, name: nameOf('row_log', { id: `${seq}` }) });
  });
  const isOld = (kind: StoredRow['kind'], id: string) => logged.size > 0 && logged.has(keyOf(kind, id));
  const columns = 'rowid AS page, kind, id, received_ms, key_ms, location, memberships, sum';
  for (const found of pages<RowColumns>(db, `SELECT ${columns} FROM last_known WHERE rowid > ?`)) {
    const latest = found.filter(({ kind, id }) => !isOld(kind, id));
    const sound = latest.filter((row) => isSound(row, placeSum(row), 'last_known', damaged));
    for (const { kind, id, received_ms: receivedMs, key_ms: eventTimeMs, memberships, location } of sound) {
      writer.strings({ kind, id, receivedMs, eventTimeMs }, memberships, location);
    }
    yield { entities: [], rows: writer.take() };
  }
  yield* loggedRows(logged, writer, (kind) => kind !== 'collision');
  const pairs = 'SELECT rowid AS page, id, start_ms, bodies, sum FROM collision WHERE rowid > ?';
  for (const found of pages<StoredCollision>(db, pairs)) {
    const latest = found.filter(({ id }) => !isOld('collision', id));
    const sound = latest.filter((row) =>
      isSound(row, rowSum('collision', row.id, row.bodies, '', row.start_ms), 'collision', damaged),
    );
    for (const { id, start_ms: receivedMs, bodies } of sound) {
      writer.strings({ kind: 'collision', id, receivedMs, eventTimeMs: 0 }, '[]', bodies);
    }
    yield { entities: [], rows: writer.take() };
  }
  yield* loggedRows(logged, writer, (kind) => kind === 'collision');
}

/** Yields the rows of one kind in the log. */
function* loggedRows(
  logged: ReadonlyMap<string, RowLocation>,
  writer: RowWriter,
  isWanted: (kind: StoredRow['kind']) => boolean,
): Generator<StoredPart> {
  let count = 0;
  for (const [key, { buffer, at }] of logged) {
    if (!isWanted(ofKey(key)[0]) || isTombstone(buffer, at)) continue;
    writer.copy(buffer, at);
    if (++count % PART_MAX === 0) yield { entities: [], rows: writer.take() };
  }
  if (count % PART_MAX !== 0) yield { entities: [], rows: writer.take() };
}

interface Paged {
  readonly page: number;
  readonly id: string;
  readonly sum: number;
}

type StoredEntity = Paged & EntityWrite & { readonly text: string };

interface StoredCollision extends Paged {
  readonly start_ms: number;
  readonly bodies: string;
}

interface RowColumns extends Paged {
  readonly kind: LastKnownRow['kind'];
  readonly received_ms: number;
  readonly key_ms: number;
  readonly location: string;
  readonly memberships: string;
}

function isSound(
  row: Paged & { readonly kind?: string },
  sum: number,
  table: DamagedRow['table'],
  damaged: DamagedRow[],
): boolean {
  if (row.sum === sum) return true;
  damaged.push({ table, key: row.page, name: nameOf(table, row) });
  return false;
}

function settings(db: Database.Database, damaged: DamagedRow[]): readonly EntityWrite[] {
  const found = db.prepare('SELECT name, value, sum FROM setting ORDER BY name').all() as {
    name: string;
    value: string;
    sum: number;
  }[];
  return found.flatMap(({ name, value, sum }): EntityWrite[] => {
    if (sum === rowSum('setting', name, value)) return [{ kind: 'setting', id: name, text: value }];
    damaged.push({ table: 'setting', key: name, name: nameOf('setting', { id: name }) });
    return [];
  });
}

/** Yields the rows of a SELECT with a numeric key page by page, in the order of the key. */
function* pages<T extends Paged>(db: Database.Database, select: string): Generator<T[]> {
  const statement = db.prepare(`${select} ORDER BY page LIMIT ${PART_MAX}`);
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const found = statement.all(after) as T[];
    const last = found.at(-1);
    if (last === undefined) return;
    yield found;
    after = last.page;
  }
}

function placeSum({ kind, id, location, memberships, received_ms, key_ms }: RowColumns): number {
  return rowSum(kind, id, location, memberships, received_ms, key_ms);
}
