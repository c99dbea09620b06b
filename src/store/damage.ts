import type Database from 'better-sqlite3';
import { databaseError } from './start_errors.ts';

/** A row with a wrong checksum. */
export interface DamagedRow {
  readonly table: 'meta' | 'entity' | 'setting' | 'last_known' | 'collision' | 'row_log';
  /** Key of the row in its table: a rowid, or the name of a setting. */
  readonly key: number | string;
  /** Name in messages, such as `zone "a"`. */
  readonly name: string;
}

/** What a user can do after a loss of data. Appended to an error message after a colon. */
export const WAYS_OUT =
  'npm run hub -- restore FILE puts a backup in its place, npm start -- --accept-loss goes on with what is left';
const NAMED_MAX = 10;

/** Returns the name of a row in messages. */
export function nameOf(table: DamagedRow['table'], { kind = '', id }: { kind?: string; id: string }): string {
  switch (table) {
    case 'entity':
      return `${kind} ${JSON.stringify(id)}`;
    case 'last_known':
      return `last location of ${kind} ${JSON.stringify(id)}`;
    case 'collision':
      return `collision of ${id}`;
    case 'row_log':
      return `last locations that were written together, entry ${id}`;
    case 'setting':
      return `setting ${JSON.stringify(id)}`;
    case 'meta':
      return `the file's own ${JSON.stringify(id)}`;
  }
}

/** Throws the error for damaged rows, with their names. */
export function refuseDamaged(path: string, rows: readonly DamagedRow[]): never {
  throw databaseError(path, `${namesOf(rows)}: ${WAYS_OUT}`);
}

/** Deletes damaged rows from the database. Returns a line with their names. */
export function leaveOut(db: Database.Database, rows: readonly DamagedRow[]): string {
  db.transaction(() => {
    for (const { table, key } of rows) {
      if (table === 'meta') continue;
      db.prepare(`DELETE FROM ${table} WHERE ${table === 'setting' ? 'name' : 'rowid'} = ?`).run(key);
    }
    // The index entries of a damaged row are unknown.
    db.exec('REINDEX');
  }).immediate();
  return `${namesOf(rows)}: left out`;
}

function namesOf(rows: readonly DamagedRow[]): string {
  const names = rows.slice(0, NAMED_MAX).map(({ table, name }) => `${name} (${table})`);
  const more = rows.length > NAMED_MAX ? ` and ${rows.length - NAMED_MAX} more` : '';
  return `${rows.length} damaged ${rows.length === 1 ? 'row' : 'rows'}, ${names.join(', ')}${more}`;
}
