import { accessSync, constants, statSync } from 'node:fs';
import { refuse } from './start_errors.ts';

/** Where SQLite looks for a folder for its temporary files: https://www.sqlite.org/tempfiles.html */
const VARIABLES = ['SQLITE_TMPDIR', 'TMPDIR'] as const;
const FOLDERS = ['/var/tmp', '/usr/tmp', '/tmp', '.'];

/**
 * Checks that SQLite has a folder for its temporary files: without one it fails much later, in the middle of something
 * large. A read-only container has only the one that SQLITE_TMPDIR names. Throws a StartupError; `path` is the database.
 */
export function checkScratch(path: string, env: Readonly<Record<string, string | undefined>>): void {
  // There SQLite asks the system.
  if (process.platform === 'win32') return;
  const named = env['SQLITE_TMPDIR'];
  if (named && !takesFiles(named)) {
    throw refuse(path, `SQLITE_TMPDIR names ${named}, which is no folder that can be written`);
  }
  const folders = [...VARIABLES.map((name) => env[name]), ...FOLDERS];
  if (folders.some((folder) => folder && takesFiles(folder))) return;
  throw refuse(path, 'there is no folder for temporary files: set SQLITE_TMPDIR to one that can be written');
}

function takesFiles(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
