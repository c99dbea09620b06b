import type { StoredKind } from '../core/entity_write.ts';
import { openExisting } from './backup.ts';
import { nameOf } from './damage.ts';
import { versionOf } from './migration/migrate.ts';
import { SCHEMA_VERSION } from './migration/steps.ts';
import { rowSum } from './row_sum.ts';
import { refuse } from './start_errors.ts';

/** The entities of a database and its settings, as JSON texts, in the order of creation, at one moment. */
export interface Entities {
  readonly count: number;
  texts(kind: Exclude<StoredKind, 'setting'>): IterableIterator<string>;
  /** A setting of that name; undefined when there is none. */
  setting(name: string): string | undefined;
  /** Settings whose names begin so, in the order of these. */
  settings(prefix: string): IterableIterator<string>;
  close(): void;
}

/**
 * Opens a database to read its entities, also while a hub is using it. Throws a StartupError when it cannot be read or is
 * not of the present version; so does whatever meets a damaged row.
 */
export function readEntities(path: string): Entities {
  const db = openExisting(path);
  const version = versionOf(db);
  if (version !== SCHEMA_VERSION) {
    db.close();
    throw refuse(path, `it is of version ${version}: start the hub once, or run npm run hub -- migrate`);
  }
  db.exec('BEGIN');
  return {
    count: db.prepare('SELECT count(*) FROM entity').pluck().get() as number,
    *texts(kind) {
      const rows = db.prepare('SELECT id, text, sum FROM entity WHERE kind = ? ORDER BY seq').iterate(kind);
      for (const { id, text, sum } of rows as IterableIterator<{ id: string; text: string; sum: number }>) {
        if (sum !== rowSum(kind, id, text)) throw refuse(path, `${nameOf('entity', { kind, id })} is damaged`);
        yield text;
      }
    },
    setting(name) {
      const row = db.prepare('SELECT value, sum FROM setting WHERE name = ?').get(name);
      const { value, sum } = (row ?? {}) as { value?: string; sum?: number };
      if (value !== undefined && sum !== rowSum('setting', name, value))
        throw refuse(path, `setting "${name}" is damaged`);
      return value;
    },
    *settings(prefix) {
      const rows = db.prepare('SELECT name, value, sum FROM setting WHERE substr(name, 1, ?) = ? ORDER BY name');
      const found = rows.all(prefix.length, prefix) as readonly { name: string; value: string; sum: number }[];
      for (const { name, value, sum } of found) {
        if (sum !== rowSum('setting', name, value)) throw refuse(path, `setting "${name}" is damaged`);
        yield value;
      }
    },
    close: () => db.close(),
  };
}
