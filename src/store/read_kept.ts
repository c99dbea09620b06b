import type Database from 'better-sqlite3';
import type { LastKnownRow } from '../core/item.ts';
import type { EntityWrite, Kept } from './store.ts';

/** Reads all that a database of the present version keeps: entities, then settings, and rows. */
export function readKept(db: Database.Database): Omit<Kept, 'hubId'> {
  const entities = db.prepare('SELECT kind, id, text FROM entity ORDER BY seq').all() as EntityWrite[];
  const settings = db.prepare("SELECT 'setting' AS kind, name AS id, value AS text FROM setting ORDER BY name").all();
  const rows = db.prepare('SELECT kind, id, received_ms, key_ms, location, memberships FROM last_known').all();
  return { entities: [...entities, ...(settings as EntityWrite[])], rows: (rows as StoredRow[]).map(toRow) };
}

interface StoredRow {
  readonly kind: LastKnownRow['kind'];
  readonly id: string;
  readonly received_ms: number;
  readonly key_ms: number;
  readonly location: string;
  readonly memberships: string;
}

function toRow({ kind, id, received_ms, key_ms, location, memberships }: StoredRow): LastKnownRow {
  return { kind, id, receivedMs: received_ms, keyMs: key_ms, location, memberships: JSON.parse(memberships) };
}
