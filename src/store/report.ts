import { existsSync, realpathSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { openExisting } from './backup.ts';
import { type DamagedRow, nameOf } from './damage.ts';
import { versionOf } from './migration/migrate.ts';
import { SCHEMA_VERSION } from './migration/steps.ts';
import { defineRowSum } from './row_sum.ts';
import { DAMAGED, reasonOf } from './start_errors.ts';
import { type Left, leftBeside, lossOf, readWritten } from './unclean_end.ts';

/** What is in a database, and what is wrong with it. */
export interface Report {
  readonly version: number;
  readonly hubId: string;
  readonly bytes: number;
  /** Of the log that is not yet written back. */
  readonly logBytes: number;
  /** Entities of each kind, and last-known rows under `last locations`. */
  readonly counts: ReadonlyMap<string, number>;
  readonly migrations: readonly { readonly version: number; readonly atMs: number; readonly name: string }[];
  /** What makes the database unfit, each in words. */
  readonly problems: readonly string[];
  /** What is odd, and mends itself. */
  readonly notes: readonly string[];
}

const PROBLEMS_MAX = 20;

/**
 * Looks through a whole database, also while a hub is using it: its pages, its indexes, and whether what is kept can be
 * read. Nothing is changed. Throws a StartupError when it cannot be opened, or is of a newer hub.
 */
export function reportOn(path: string): Report {
  // First, since a hub that is running goes on counting.
  const file = existsSync(path) ? realpathSync(path) : path;
  const left = leftBeside(file);
  const db = openExisting(path);
  try {
    // One state for everything that follows.
    db.exec('BEGIN');
    const version = versionOf(db);
    const problems: string[] = [];
    const notes: string[] = [];
    collectInto(problems, () => pageProblems(db));
    collectInto(problems, () => entityProblems(db));
    collectInto(problems, () => rowProblems(db));
    collectInto(notes, () => oddities(db));
    if (version >= 4) collectInto(problems, () => sumProblems(db));
    collectInto(problems, () => lossProblems(db, file, left));
    if (version >= 3) {
      collectInto(problems, () => collisionProblems(db));
      collectInto(notes, () => collisionOddities(db));
    }
    if (version < SCHEMA_VERSION) {
      notes.push(`it is of version ${version}: the next start of the hub migrates it to version ${SCHEMA_VERSION}`);
    }
    return {
      version,
      hubId: db.prepare("SELECT value FROM meta WHERE name = 'hub_id'").pluck().get() as string,
      bytes: statSync(path).size,
      logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      counts: countsOf(db),
      migrations: migrationsOf(db, version),
      problems: problems.slice(0, PROBLEMS_MAX),
      notes,
    };
  } finally {
    db.close();
  }
}

function collectInto(found: string[], look: () => readonly string[]): void {
  try {
    found.push(...look());
  } catch (error) {
    const reason = reasonOf(error);
    found.push(reason === DAMAGED ? 'a part of it cannot be read' : reason);
  }
}

function pageProblems(db: Database.Database): readonly string[] {
  const said = db.prepare(`PRAGMA integrity_check(${PROBLEMS_MAX})`).pluck().all() as string[];
  return said.filter((each) => each !== 'ok');
}

function lossProblems(db: Database.Database, file: string, left: Left): readonly string[] {
  const written = readWritten(db);
  return (written && [lossOf(file, left, written.commits)].filter((loss) => loss !== undefined)) ?? [];
}

/** Rows whose checksum does not fit. */
function sumProblems(db: Database.Database): readonly string[] {
  defineRowSum(db);
  const bad = db.prepare(`
    SELECT 'meta' AS "table", '' AS kind, name AS id FROM meta WHERE sum <> row_sum('meta', name, value, '', 0, 0)
    UNION ALL SELECT 'setting', '', name FROM setting WHERE sum <> row_sum('setting', name, value, '', 0, 0)
    UNION ALL SELECT 'entity', kind, id FROM entity WHERE sum <> row_sum(kind, id, text, '', 0, 0)
    UNION ALL SELECT 'last_known', kind, id FROM last_known
      WHERE sum <> row_sum(kind, id, location, memberships, received_ms, key_ms)
    UNION ALL SELECT 'collision', '', id FROM collision WHERE sum <> row_sum('collision', id, bodies, '', start_ms, 0)
    LIMIT ${PROBLEMS_MAX}`);
  const rows = bad.all() as { table: DamagedRow['table']; kind: string; id: string }[];
  return rows.map(
    ({ table, kind, id }) => `${nameOf(table, { kind, id })} (${table}) has changed since it was written`,
  );
}

function entityProblems(db: Database.Database): readonly string[] {
  const bad = db.prepare(`
    SELECT kind, id, json_valid(text) AS valid FROM entity
    WHERE kind <> 'setting' AND (NOT json_valid(text) OR json_extract(text, '$.id') IS NOT id) LIMIT ${PROBLEMS_MAX}`);
  return (bad.all() as { kind: string; id: string; valid: number }[]).map(({ kind, id, valid }) =>
    valid === 1 ? `${kind} "${id}" has another id in its text` : `${kind} "${id}" is no JSON`,
  );
}

function rowProblems(db: Database.Database): readonly string[] {
  const bad = db.prepare(`
    SELECT kind, id FROM last_known
    WHERE NOT json_valid(location) OR NOT json_valid(memberships) OR json_type(memberships) <> 'array' LIMIT ${PROBLEMS_MAX}`);
  const named = bad.all() as { kind: string; id: string }[];
  return named.map(({ kind, id }) => `the last location of ${kind} "${id}" cannot be read`);
}

function collisionProblems(db: Database.Database): readonly string[] {
  const bad = db.prepare(`
    SELECT id FROM collision WHERE NOT json_valid(id) OR NOT json_valid(bodies) LIMIT ${PROBLEMS_MAX}`);
  return (bad.pluck().all() as string[]).map((id) => `the collision of ${id} cannot be read`);
}

/** The next start ends these. */
function collisionOddities(db: Database.Database): readonly string[] {
  const orphans = db
    .prepare(`
      SELECT count(*) FROM collision WHERE json_valid(collision.id) AND EXISTS (
        SELECT 1 FROM json_each(collision.id) AS one
        WHERE NOT EXISTS (SELECT 1 FROM entity WHERE entity.kind = 'trackable' AND entity.id = one.value))`)
    .pluck()
    .get() as number;
  return orphans > 0 ? [`${orphans} collisions are of trackables that are not there`] : [];
}

/** A crash leaves these between two commits: the next start forgets them. */
function oddities(db: Database.Database): readonly string[] {
  const orphans = db
    .prepare(`
      SELECT count(*) FROM last_known AS row
      WHERE NOT EXISTS (SELECT 1 FROM entity WHERE entity.kind = row.kind AND entity.id = row.id)`)
    .pluck()
    .get() as number;
  const astray = db
    .prepare(`
      SELECT count(*) FROM last_known AS row, json_each(row.memberships) AS member
      WHERE NOT EXISTS (
        SELECT 1 FROM entity WHERE entity.kind = 'fence' AND entity.id = json_extract(member.value, '$[0]'))`)
    .pluck()
    .get() as number;
  return [
    ...(orphans > 0 ? [`${orphans} last locations are of objects that are not there`] : []),
    ...(astray > 0 ? [`${astray} memberships are of fences that are not there`] : []),
  ];
}

function countsOf(db: Database.Database): ReadonlyMap<string, number> {
  const kinds = db.prepare("SELECT kind, count(*) AS count FROM entity WHERE kind <> 'setting' GROUP BY kind").all();
  const rows = db.prepare('SELECT count(*) FROM last_known').pluck().get() as number;
  const counted = (kinds as { kind: string; count: number }[]).map(({ kind, count }) => [kind, count] as const);
  return new Map([...counted, ['last locations', rows]]);
}

function migrationsOf(db: Database.Database, version: number): Report['migrations'] {
  if (version < 2) return [];
  return db.prepare('SELECT version, at_ms AS atMs, name FROM migration ORDER BY version').all() as [];
}
