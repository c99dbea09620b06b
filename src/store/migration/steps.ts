import type Database from 'better-sqlite3';
import { defineRowSum } from '../row_sum.ts';

/** Reports the progress of a step, from 0 to 1. Fast steps need not call it. */
export type Progress = (part: number) => void;

/** A migration from the previous version of the file. It runs in one transaction. */
export interface MigrationStep {
  /** Version after the step: its user_version. */
  readonly version: number;
  /** Description of the step for users: "Keep settings in a table of their own". */
  readonly name: string;
  run(db: Database.Database, progress: Progress): void;
}

/**
 * All migration steps from the empty file, in order. The version of a step is its position. A released step never
 * changes; a change of the schema adds a step. A new file is created by running all steps.
 *
 * 1. Entities keep their position in the order of creation (seq) when they are replaced. Times are milliseconds
 * since 1970. `memberships` is a JSON array of KeptMembership (core/item.ts). last_known deliberately has a rowid and a
 * separate index: rows of 490 bytes in random order of ids are inserted at 200,000 per second. Clustered on the key
 * (WITHOUT ROWID), the rate is 90,000 per second with four times as much to checkpoint.
 * 2. Settings of the hub, one of which changes every minute, have a table of their own: without them `entity` is what the
 * API lists. `migration` records the time of each migration and its backup.
 * 3. `collision` contains the colliding pairs of trackables: `id` is a JSON array of their ids, `bodies` one of their
 * motions at the start.
 * 4. `sum` is the checksum of a row (row_sum.ts). `written` is one row: the number of commits, unless `row_log` has a
 * higher one, and the lock file of its hubs (dirty_flag.ts, lock.ts).
 * 5. `row_log` receives rows of last_known and collision in arrival order, before they are moved to their tables
 * (row_log.ts, core/row_bytes.ts). `seq` is the number of the commit.
 * 6. `event_log` contains the events of each commit that caused some (event_table.ts). `last` is the position of the last
 * one, `bytes_before` the size of all earlier blocks ever stored. `event_log_start` is one row: the position up to which
 * events were removed.
 * 7. `audit_log` and `audit_log_start` are the same for the entries of the audit log.
 */
export const STEPS: readonly MigrationStep[] = [
  {
    version: 1,
    name: 'Make the tables of entities and last locations',
    run: (db) =>
      db.exec(`
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE entity (
          seq INTEGER PRIMARY KEY,
          kind TEXT NOT NULL,
          id TEXT NOT NULL,
          text TEXT NOT NULL,
          UNIQUE (kind, id)
        ) STRICT;
        CREATE TABLE last_known (
          kind TEXT NOT NULL,
          id TEXT NOT NULL,
          received_ms REAL NOT NULL,
          key_ms REAL NOT NULL,
          location TEXT NOT NULL,
          memberships TEXT NOT NULL,
          PRIMARY KEY (kind, id)
        ) STRICT;
      `),
  },
  {
    version: 2,
    name: 'Keep settings in a table of their own, and a history of migrations',
    run: (db) =>
      db.exec(`
        CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO setting SELECT id, text FROM entity WHERE kind = 'setting';
        DELETE FROM entity WHERE kind = 'setting';
        CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at_ms REAL NOT NULL, backup TEXT) STRICT;
      `),
  },
  {
    version: 3,
    name: 'Make the table of collisions that go on',
    run: (db) =>
      db.exec(`
        CREATE TABLE collision (id TEXT PRIMARY KEY, start_ms REAL NOT NULL, bodies TEXT NOT NULL) STRICT;
      `),
  },
  {
    version: 4,
    name: 'Keep a checksum of each row, and count commits',
    run(db, progress) {
      defineRowSum(db);
      const sums = [
        ['meta', "row_sum('meta', name, value, '', 0, 0)"],
        ['setting', "row_sum('setting', name, value, '', 0, 0)"],
        ['entity', "row_sum(kind, id, text, '', 0, 0)"],
        ['collision', "row_sum('collision', id, bodies, '', start_ms, 0)"],
        ['last_known', 'row_sum(kind, id, location, memberships, received_ms, key_ms)'],
      ] as const;
      for (const [index, [table, sum]] of sums.entries()) {
        db.exec(`ALTER TABLE ${table} ADD COLUMN sum INTEGER NOT NULL DEFAULT 0; UPDATE ${table} SET sum = ${sum}`);
        progress((index + 1) / sums.length);
      }
      db.exec(`
        CREATE TABLE written (commits INTEGER NOT NULL, lock TEXT NOT NULL) STRICT;
        INSERT INTO written VALUES (0, '');
      `);
    },
  },
  {
    version: 5,
    name: 'Make the log where last locations are kept first',
    run: (db) =>
      db.exec('CREATE TABLE row_log (seq INTEGER PRIMARY KEY, rows BLOB NOT NULL, sum INTEGER NOT NULL) STRICT'),
  },
  {
    version: 6,
    name: 'Make the event log',
    run: (db) =>
      db.exec(`
        CREATE TABLE event_log (
          last INTEGER PRIMARY KEY,
          count INTEGER NOT NULL,
          time_ms REAL NOT NULL,
          bytes_before INTEGER NOT NULL,
          events BLOB NOT NULL,
          sum INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE event_log_start (trimmed INTEGER NOT NULL) STRICT;
        INSERT INTO event_log_start VALUES (0);
      `),
  },
  {
    version: 7,
    name: 'Make the audit log',
    run: (db) =>
      db.exec(`
        CREATE TABLE audit_log (
          last INTEGER PRIMARY KEY,
          count INTEGER NOT NULL,
          time_ms REAL NOT NULL,
          bytes_before INTEGER NOT NULL,
          events BLOB NOT NULL,
          sum INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE audit_log_start (trimmed INTEGER NOT NULL) STRICT;
        INSERT INTO audit_log_start VALUES (0);
      `),
  },
  {
    version: 8,
    name: 'Let events be in segment files',
    run: (db) =>
      db.exec(`
        ALTER TABLE event_log ADD COLUMN segment INTEGER;
        ALTER TABLE event_log ADD COLUMN at INTEGER;
        ALTER TABLE event_log ADD COLUMN size INTEGER;
      `),
  },
];

/** Version of the schema that this hub uses, stored in the file as user_version. */
export const SCHEMA_VERSION = STEPS.length;

/** application_id of the hub's database files: "omlH" as a big-endian number. */
export const APPLICATION_ID = 0x6f6d6c48;
