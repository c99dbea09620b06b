import type Database from 'better-sqlite3';
import type { CollisionRow } from '../core/collision/row.ts';
import type { LastKnownRow } from '../core/item.ts';
import { type EntityWrite, type KeptPart, PART_MAX } from './store.ts';

/**
 * Reads all that a database of the present version keeps, in parts: entities, then settings, then rows, those of collisions last. Nobody may write
 * to it meanwhile.
 */
export function* readKept(db: Database.Database): Generator<KeptPart> {
  for (const entities of pages<StoredEntity>(db, 'SELECT seq AS page, kind, id, text FROM entity WHERE seq > ?')) {
    yield { entities: entities.map(({ kind, id, text }) => ({ kind, id, text })), rows: [] };
  }
  const settings = db.prepare("SELECT 'setting' AS kind, name AS id, value AS text FROM setting ORDER BY name").all();
  yield { entities: settings as EntityWrite[], rows: [] };
  const columns = 'rowid AS page, kind, id, received_ms, key_ms, location, memberships';
  for (const rows of pages<StoredRow>(db, `SELECT ${columns} FROM last_known WHERE rowid > ?`)) {
    yield { entities: [], rows: rows.map(toRow) };
  }
  const pairs = 'SELECT rowid AS page, id, start_ms, bodies FROM collision WHERE rowid > ?';
  for (const rows of pages<StoredCollision>(db, pairs)) yield { entities: [], rows: rows.map(toCollision) };
}

interface Paged {
  readonly page: number;
}

type StoredEntity = Paged & EntityWrite;

interface StoredCollision extends Paged {
  readonly id: string;
  readonly start_ms: number;
  readonly bodies: string;
}

interface StoredRow extends Paged {
  readonly kind: LastKnownRow['kind'];
  readonly id: string;
  readonly received_ms: number;
  readonly key_ms: number;
  readonly location: string;
  readonly memberships: string;
}

/** What a SELECT finds beyond a number, in the order of these numbers, so many at a time. */
function* pages<T extends Paged>(db: Database.Database, select: string): Generator<T[]> {
  const statement = db.prepare(`${select} ORDER BY page LIMIT ${PART_MAX}`);
  for (let after = -1; ; ) {
    const found = statement.all(after) as T[];
    const last = found.at(-1);
    if (last === undefined) return;
    yield found;
    after = last.page;
  }
}

function toRow({ kind, id, received_ms, key_ms, location, memberships }: StoredRow): LastKnownRow {
  return { kind, id, receivedMs: received_ms, keyMs: key_ms, location, memberships: JSON.parse(memberships) };
}

function toCollision({ id, start_ms, bodies }: StoredCollision): CollisionRow {
  return { kind: 'collision', id, startMs: start_ms, bodies };
}
