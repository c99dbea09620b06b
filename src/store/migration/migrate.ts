import type Database from 'better-sqlite3';
import { copyDatabase, freeName, replaceDatabase } from '../copy.ts';
import { type Opening, timeInName } from '../opening.ts';
import { rowSum } from '../row_sum.ts';
import { reasonOf, databaseError } from '../start_errors.ts';
import { APPLICATION_ID, STEPS, type MigrationStep } from './steps.ts';

/** Context of a migration. */
export interface Migration extends Opening {
  /** The file's path without links, and its name for messages. */
  readonly file: string;
  readonly path: string;
  newId(): string;
  readonly steps?: readonly MigrationStep[];
}

/**
 * Migrates an open database to the current version: a new one in one transaction, an older one step by step. Before
 * each step, a verified copy `data.dat.v<version before>.<time>.bak` is made; then the step runs in a transaction. If a
 * step fails, throws a StartupError after closing the database and restoring the copy.
 */
export function migrate(db: Database.Database, migration: Migration): void {
  const { steps = STEPS } = migration;
  const version = versionOf(db);
  if (version === 0) {
    makeNew(db, steps, migration);
    return;
  }
  const due = steps.filter((step) => step.version > version);
  for (const [index, step] of due.entries()) {
    const stage = (part: number, text: string) => migration.stage?.({ text, part: (index + part) / due.length });
    runStep(db, { step, stage, migration });
  }
}

export function versionOf(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function makeNew(db: Database.Database, steps: readonly MigrationStep[], { newId, nowMs }: Migration): void {
  db.transaction(() => {
    for (const step of steps) step.run(db, () => undefined);
    const last = steps.at(-1);
    const id = newId();
    db.prepare("INSERT INTO meta (name, value, sum) VALUES ('hub_id', ?, ?)").run(id, rowSum('meta', 'hub_id', id));
    db.prepare('INSERT INTO migration VALUES (?, ?, ?, NULL)').run(last?.version, 'Make the file', nowMs);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${last?.version}`);
  }).immediate();
}

interface Run {
  readonly step: MigrationStep;
  stage(part: number, text: string): void;
  readonly migration: Migration;
}

function runStep(db: Database.Database, { step, stage, migration }: Run): void {
  const { file, path, nowMs } = migration;
  const before = versionOf(db);
  const backup = freeName(`${file}.v${before}.${timeInName(nowMs)}.bak`);
  stage(0, `Copying version ${before} to ${backup}`);
  try {
    copyDatabase(db, backup);
  } catch (error) {
    db.close();
    throw databaseError(
      path,
      `version ${before} cannot be copied to ${backup}, so it is left as it is: ${reasonOf(error)}`,
    );
  }
  const text = `Migrating to version ${step.version}: ${step.name}`;
  stage(0.3, text);
  try {
    db.transaction(() => {
      step.run(db, (part) => stage(0.3 + 0.5 * part, text));
      stage(0.8, `Checking version ${step.version}`);
      const sound = db.pragma('integrity_check(1)', { simple: true });
      if (sound !== 'ok') throw new Error(`the outcome is damaged: ${String(sound)}`);
      db.prepare('INSERT INTO migration VALUES (?, ?, ?, ?)').run(step.version, step.name, nowMs, backup);
      db.pragma(`user_version = ${step.version}`);
    }).immediate();
  } catch (error) {
    const reason = reasonOf(error);
    throw databaseError(
      path,
      `the migration to version ${step.version} has failed: ${reason}; ${putBack(db, file, backup)}`,
    );
  }
  stage(1, text);
}

/**
 * Replaces the rolled-back database with its copy, in case the rollback was incomplete. Returns a description of the
 * file's state for the error message.
 */
function putBack(db: Database.Database, file: string, backup: string): string {
  try {
    db.close();
    replaceDatabase(file, backup);
    return `it was put back as it was, and ${backup} is a copy`;
  } catch (error) {
    return `${backup} is how it was, and could not be put back: ${reasonOf(error)}`;
  }
}
