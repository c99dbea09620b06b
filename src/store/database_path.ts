import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { asStartupError, databaseError } from './start_errors.ts';

/** Returns the file's path without links. Throws a StartupError if a database cannot be stored there. */
export function databasePath(path: string): string {
  try {
    return resolved(path);
  } catch (error) {
    throw asStartupError(error, path);
  }
}

/** Resolves the links of a path, so that all names of a file lead to the same lock. Throws a StartupError. */
function resolved(path: string): string {
  const folder = dirname(resolve(path));
  const place = statOf(folder);
  if (place === undefined) throw databaseError(path, `its folder ${folder} does not exist`);
  if (!place.isDirectory()) throw databaseError(path, `its folder ${folder} is not a folder`);
  const denied = denialOf(folder, constants.W_OK | constants.X_OK);
  if (denied === 'EROFS') throw databaseError(path, `its folder ${folder} is on a read-only file system`);
  if (denied !== undefined)
    throw databaseError(path, `its folder ${folder} may not be written${whyDenied(folder, folder)}`);
  const file = statOf(path);
  if (file === undefined) return join(realpathSync(folder), basename(path));
  if (file.isDirectory()) throw databaseError(path, 'it is a folder');
  if (denialOf(path, constants.R_OK | constants.W_OK) !== undefined)
    throw databaseError(path, `it may not be read or written${whyDenied(path, folder)}`);
  return realpathSync(path);
}

/**
 * Describes the owner of a file or folder, and the command that grants access. A container often runs as another user
 * than the one that created the files, usually in group 0.
 */
function whyDenied(path: string, folder: string): string {
  const [user, group] = [process.getuid?.(), process.getgid?.()];
  // Windows has no user ids.
  if (user === undefined || group === undefined) return '';
  const { uid, gid, mode } = statSync(path);
  const owner = `it belongs to user ${uid} and group ${gid} with mode ${(mode & 0o777).toString(8)}`;
  const repair = user === uid ? `chmod u+rwX ${path}` : `chgrp -R ${group} ${folder} && chmod -R g+rwX ${folder}`;
  return `: ${owner}, and the hub runs as user ${user} and group ${group}; to let it, run ${repair}`;
}

/** Environment variables with SQLite's folder for temporary files: https://www.sqlite.org/tempfiles.html */
const VARIABLES = ['SQLITE_TMPDIR', 'TMPDIR'] as const;
const FOLDERS = ['/var/tmp', '/usr/tmp', '/tmp', '.'];

/**
 * Checks that SQLite has a folder for temporary files. Without one it would fail later, during a large operation. In a
 * read-only container, only SQLITE_TMPDIR can provide one. Throws a StartupError; `path` is the database.
 */
export function checkScratch(path: string, env: Readonly<Record<string, string | undefined>>): void {
  // On Windows, SQLite uses the system's folder.
  if (process.platform === 'win32') return;
  const named = env['SQLITE_TMPDIR'];
  if (named && !takesFiles(named)) {
    throw databaseError(path, `SQLITE_TMPDIR names ${named}, which is no folder that can be written`);
  }
  const folders = [...VARIABLES.map((name) => env[name]), ...FOLDERS];
  if (folders.some((folder) => folder && takesFiles(folder))) return;
  throw databaseError(path, 'there is no folder for temporary files: set SQLITE_TMPDIR to one that can be written');
}

function takesFiles(folder: string): boolean {
  return denialOf(folder, constants.W_OK | constants.X_OK) === undefined && statOf(folder)?.isDirectory() === true;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the code of the error with which access is denied, such as EACCES; undefined if it is allowed. */
function denialOf(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
