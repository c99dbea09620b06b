import type { StoredKind } from '../core/entity_write.ts';
import { openExisting } from './backup.ts';
import { nameOf } from './damage.ts';
import { versionOf } from './migration/migrate.ts';
import { SCHEMA_VERSION } from './migration/steps.ts';
import { rowSum } from './row_sum.ts';
import { databaseError } from './start_errors.ts';

/** Snapshot of the entities and settings of a database, as JSON in the order of creation. */
export interface StoredEntities {
  readonly count: number;
  texts(kind: Exclude<StoredKind, 'setting'>): IterableIterator<string>;
  /** Returns a setting; undefined if it does not exist. */
  setting(name: string): string | undefined;
  /** Yields the settings whose names start with `prefix`, sorted by name. */
  settings(prefix: string): IterableIterator<string>;
  close(): void;
}

/**
 * Opens a database to read its entities, even while a hub uses it. Throws a StartupError if it cannot be read or has
 * another version; reading a damaged row also throws one.
 */
export function readEntities(path: string): StoredEntities {
  const db = openExisting(path);
  const version = versionOf(db);
  if (version !== SCHEMA_VERSION) {
    db.close();
    throw databaseError(path, `it is of version ${version}: start the hub once, or run npm run hub -- migrate`);
  }
  db.exec('BEGIN');
  return {
    count: db.prepare('SELECT count(*) FROM entity').pluck().get() as number,
    *texts(kind) {
      const rows = db.prepare('SELECT id, text, sum FROM entity WHERE kind = ? ORDER BY seq').iterate(kind);
      for (const { id, text, sum } of rows as IterableIterator<{ id: string; text: string; sum: number }>) {
        if (sum !== rowSum(kind, id, text)) throw databaseError(path, `${nameOf('entity', { kind, id })} is damaged`);
        yield text;
      }
    },
    setting(name) {
      const row = db.prepare('SELECT value, sum FROM setting WHERE name = ?').get(name);
      const { value, sum } = (row ?? {}) as { value?: string; sum?: number };
      if (value !== undefined && sum !== rowSum('setting', name, value))
        throw databaseError(path, `setting "${name}" is damaged`);
      return value;
    },
    *settings(prefix) {
      const rows = db.prepare('SELECT name, value, sum FROM setting WHERE substr(name, 1, ?) = ? ORDER BY name');
      const found = rows.all(prefix.length, prefix) as readonly { name: string; value: string; sum: number }[];
      for (const { name, value, sum } of found) {
        if (sum !== rowSum('setting', name, value)) throw databaseError(path, `setting "${name}" is damaged`);
        yield value;
      }
    },
    close: () => db.close(),
  };
}
