import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backUp, openExisting } from './backup.ts';
import { versionOf } from './migration/migrate.ts';
import { STEPS, type MigrationStep } from './migration/steps.ts';
import type { Opening } from './opening.ts';
import { SqliteStore } from './sqlite.ts';
import { asStartupError } from './start_errors.ts';

/** Returns the pending migration steps of a database. Throws a StartupError if it cannot be read. */
export function stepsDue(path: string): { readonly version: number; readonly due: readonly MigrationStep[] } {
  const db = openExisting(path);
  try {
    const version = versionOf(db);
    return { version, due: STEPS.filter((step) => step.version > version) };
  } finally {
    db.close();
  }
}

/**
 * Tests the pending steps on a temporary copy next to the database. The database is not changed and may be in use.
 * Throws a StartupError if a step fails.
 */
export async function rehearse(path: string, opening: Opening): Promise<void> {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(`${path}.rehearsal-`);
    const copy = join(folder, 'data.dat');
    await backUp(path, copy, { progress: (part) => opening.stage?.({ text: `Copying ${path}`, part: part / 4 }) });
    const stage: Opening['stage'] = ({ text, part }) => opening.stage?.({ text, part: 0.25 + part * 0.7 });
    const store = new SqliteStore(copy, randomUUID, { nowMs: opening.nowMs, stage });
    try {
      store.load();
    } finally {
      store.close();
    }
  } catch (error) {
    throw asStartupError(error, path);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
