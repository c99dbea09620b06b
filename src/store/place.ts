import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { asStartupError, refuse } from './start_errors.ts';

/** The file's path without links. Throws a StartupError that names what is in the way, when no database can be kept there. */
export function placeOf(path: string): string {
  try {
    return resolved(path);
  } catch (error) {
    throw asStartupError(error, path);
  }
}

/** The path with its links resolved: all names of one file must lead to one lock. Throws what is in the way. */
function resolved(path: string): string {
  const folder = dirname(resolve(path));
  const place = statOf(folder);
  if (place === undefined) throw refuse(path, `its folder ${folder} does not exist`);
  if (!place.isDirectory()) throw refuse(path, `its folder ${folder} is not a folder`);
  if (!allows(folder, constants.W_OK | constants.X_OK))
    throw refuse(path, `its folder ${folder} may not be written${whyDenied(folder, folder)}`);
  const file = statOf(path);
  if (file === undefined) return join(realpathSync(folder), basename(path));
  if (file.isDirectory()) throw refuse(path, 'it is a folder');
  if (!allows(path, constants.R_OK | constants.W_OK))
    throw refuse(path, `it may not be read or written${whyDenied(path, folder)}`);
  return realpathSync(path);
}

/**
 * Returns whose a file or folder is, and what lets the hub use it. A container is often run by another user than the one
 * that made the files, and then in group 0.
 */
function whyDenied(path: string, folder: string): string {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  // There users have no numbers.
  if (user === undefined || group === undefined) return '';
  const { uid, gid, mode } = statSync(path);
  const owner = `it belongs to user ${uid} and group ${gid} with mode ${(mode & 0o777).toString(8)}`;
  const repair = user === uid ? `chmod u+rwX ${path}` : `chgrp -R ${group} ${folder} && chmod -R g+rwX ${folder}`;
  return `: ${owner}, and the hub runs as user ${user} and group ${group}; to let it, run ${repair}`;
}

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
  return allows(folder, constants.W_OK | constants.X_OK) && statOf(folder)?.isDirectory() === true;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
