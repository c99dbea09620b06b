import { existsSync, realpathSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { ofKey, decodeRow } from '../core/row_bytes.ts';
import { openExisting } from './backup.ts';
import { type DamagedRow, nameOf } from './damage.ts';
import { versionOf } from './migration/migrate.ts';
import { SCHEMA_VERSION } from './migration/steps.ts';
import { beginSnapshot } from './event_copy.ts';
import { segmentBytes, type SegmentReader } from './event_segments.ts';
import { type DamagedBlock, damagedBlocks } from './event_table.ts';
import { readRowLog } from './row_log.ts';
import { defineRowSum } from './row_sum.ts';
import { DAMAGED, reasonOf } from './start_errors.ts';
import { type CrashTraces, crashTraces, lossOf, readWritten } from './crash_detection.ts';

/** Contents and problems of a database. */
export interface Report {
  readonly version: number;
  readonly hubId: string;
  readonly bytes: number;
  /** Size of the log that is not checkpointed yet, in bytes. */
  readonly logBytes: number;
  /** Size of the files with events, in bytes. */
  readonly eventBytes: number;
  /** Number of entities by kind, and of last-known rows as `last locations`. */
  readonly counts: ReadonlyMap<string, number>;
  readonly migrations: readonly { readonly version: number; readonly atMs: number; readonly name: string }[];
  /** Problems that make the database unusable. */
  readonly problems: readonly string[];
  /** Inconsistencies that the next start repairs. */
  readonly notes: readonly string[];
}

const PROBLEMS_MAX = 20;

/**
 * Checks the pages, indexes and contents of a database, even while a hub uses it. Changes nothing. Throws a
 * StartupError if it cannot be opened or was written by a newer hub.
 */
export function reportOn(path: string): Report {
  // Read before the database, since a running hub increases the count.
  const file = existsSync(path) ? realpathSync(path) : path;
  const left = crashTraces(file);
  const db = openExisting(path);
  let segments: SegmentReader | undefined;
  try {
    // All following queries read the same snapshot.
    segments = beginSnapshot(db, file);
    const pinned = segments;
    const version = versionOf(db);
    const problems: string[] = [];
    const notes: string[] = [];
    collectInto(problems, () => pageProblems(db));
    collectInto(problems, () => entityProblems(db));
    collectInto(problems, () => gatherRows(db, version));
    collectInto(problems, () => rowProblems(db));
    collectInto(notes, () => oddities(db));
    if (version >= 4) collectInto(problems, () => sumProblems(db));
    if (version >= 6) {
      collectInto(problems, () => logProblems('events', damagedBlocks(db, 'event_log', { segments: pinned })));
    }
    if (version >= 7) collectInto(problems, () => logProblems('audit entries', damagedBlocks(db, 'audit_log')));
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
      eventBytes: segmentBytes(file),
      counts: countsOf(db),
      migrations: migrationsOf(db, version),
      problems: problems.slice(0, PROBLEMS_MAX),
      notes,
    };
  } finally {
    segments?.close();
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

function lossProblems(db: Database.Database, file: string, left: CrashTraces): readonly string[] {
  const written = readWritten(db);
  return (written && [lossOf(file, left, written.commits)].filter((loss) => loss !== undefined)) ?? [];
}

/** Returns the problems of rows with a wrong checksum. */
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
  return rows.map(({ table, kind, id }) => changed(table, { kind, id }));
}

function logProblems(what: string, damaged: IteratorObject<DamagedBlock>): readonly string[] {
  return Array.from(
    damaged.take(PROBLEMS_MAX),
    ({ first, last, why }) => `${what} ${first} to ${last} are lost: ${why}`,
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

/**
 * Creates temporary tables `place` and `pair` with all current rows: those in the log, and those in the tables that the
 * log does not supersede. Returns the problems of the log.
 */
function gatherRows(db: Database.Database, version: number): readonly string[] {
  db.exec(`
    CREATE TEMP TABLE place (kind TEXT, id TEXT, location TEXT, memberships TEXT, PRIMARY KEY (kind, id));
    CREATE TEMP TABLE pair (id TEXT PRIMARY KEY, bodies TEXT);
    INSERT INTO place SELECT kind, id, location, memberships FROM last_known`);
  if (version >= 3) db.exec('INSERT INTO pair SELECT id, bodies FROM collision');
  if (version < 5) return [];
  const problems: string[] = [];
  const logged = readRowLog(db, (seq) => problems.push(changed('row_log', { id: `${seq}` })));
  const drop = {
    place: db.prepare('DELETE FROM place WHERE kind = ? AND id = ?'),
    pair: db.prepare('DELETE FROM pair WHERE id = ?'),
  };
  const add = {
    place: db.prepare('INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?)'),
    pair: db.prepare('INSERT OR REPLACE INTO pair VALUES (?, ?)'),
  };
  for (const [key, { buffer, at }] of logged) {
    const [kind, id] = ofKey(key);
    const { isTombstone, memberships, text } = decodeRow(buffer, at);
    if (kind === 'collision') isTombstone ? drop.pair.run(id) : add.pair.run(id, text);
    else isTombstone ? drop.place.run(kind, id) : add.place.run(kind, id, text, memberships);
  }
  return problems;
}

function changed(table: DamagedRow['table'], row: { readonly kind?: string; readonly id: string }): string {
  return `${nameOf(table, row)} (${table}) has changed since it was written`;
}

function rowProblems(db: Database.Database): readonly string[] {
  const bad = db.prepare(`
    SELECT kind, id FROM place
    WHERE NOT json_valid(location) OR NOT json_valid(memberships) OR json_type(memberships) <> 'array' LIMIT ${PROBLEMS_MAX}`);
  const named = bad.all() as { kind: string; id: string }[];
  return named.map(({ kind, id }) => `the last location of ${kind} "${id}" cannot be read`);
}

function collisionProblems(db: Database.Database): readonly string[] {
  const bad = db.prepare(`
    SELECT id FROM pair WHERE NOT json_valid(id) OR NOT json_valid(bodies) LIMIT ${PROBLEMS_MAX}`);
  return (bad.pluck().all() as string[]).map((id) => `the collision of ${id} cannot be read`);
}

/** Returns inconsistencies of collisions that the next start repairs. */
function collisionOddities(db: Database.Database): readonly string[] {
  const orphans = db
    .prepare(`
      SELECT count(*) FROM pair WHERE json_valid(pair.id) AND EXISTS (
        SELECT 1 FROM json_each(pair.id) AS one
        WHERE one.key < 2 AND NOT EXISTS (SELECT 1 FROM entity WHERE entity.kind = 'trackable' AND entity.id = one.value))`)
    .pluck()
    .get() as number;
  return orphans > 0 ? [`${orphans} collisions are of trackables that are not there`] : [];
}

/** Returns inconsistencies that a crash between two commits can leave and that the next start repairs. */
function oddities(db: Database.Database): readonly string[] {
  const orphans = db
    .prepare(`
      SELECT count(*) FROM place AS row
      WHERE NOT EXISTS (SELECT 1 FROM entity WHERE entity.kind = row.kind AND entity.id = row.id)`)
    .pluck()
    .get() as number;
  const astray = db
    .prepare(`
      SELECT count(*) FROM place AS row, json_each(row.memberships) AS member
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
  const rows = db.prepare('SELECT count(*) FROM place').pluck().get() as number;
  const counted = (kinds as { kind: string; count: number }[]).map(({ kind, count }) => [kind, count] as const);
  return new Map([...counted, ['last locations', rows]]);
}

function migrationsOf(db: Database.Database, version: number): Report['migrations'] {
  if (version < 2) return [];
  return db.prepare('SELECT version, at_ms AS atMs, name FROM migration ORDER BY version').all() as [];
}
