import { openExisting } from './backup.ts';
import { versionOf } from './migration/migrate.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { refuse } from './start_errors.ts';
import type { EntityKind } from './store.ts';

/** The entities of a database and its settings, as JSON texts, in the order of creation, at one moment. */
export interface Entities {
  readonly count: number;
  texts(kind: Exclude<EntityKind, 'setting'>): IterableIterator<string>;
  /** A setting of that name; undefined when there is none. */
  setting(name: string): string | undefined;
  close(): void;
}

/**
 * Opens a database to read its entities, also while a hub is using it. Throws a StartupError when it cannot be read or is
 * not of the present version.
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
    texts: (kind) =>
      db
        .prepare('SELECT text FROM entity WHERE kind = ? ORDER BY seq')
        .pluck()
        .iterate(kind) as IterableIterator<string>,
    setting: (name) => db.prepare('SELECT value FROM setting WHERE name = ?').pluck().get(name) as string | undefined,
    close: () => db.close(),
  };
}
