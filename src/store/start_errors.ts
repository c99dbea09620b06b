import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StartupError } from '../errors.ts';

/** A start that fails because of the database file. */
export function refuse(path: string, reason: string): StartupError {
  return new StartupError(`Cannot use the database ${path}: ${reason.trim().replaceAll(/\s+/g, ' ')}`);
}

/** Says in plain words what SQLite or the file system had against a file. */
export function asStartupError(error: unknown, path: string): StartupError {
  if (error instanceof StartupError) return error;
  const { code = '', message } = error as { code?: string; message: string };
  if (code.startsWith('SQLITE_NOTADB')) return refuse(path, 'it is not a database');
  if (code.startsWith('SQLITE_CORRUPT')) return refuse(path, 'it is damaged');
  if (code.startsWith('SQLITE_CANTOPEN')) return refuse(path, 'it cannot be opened or created');
  if (code.startsWith('SQLITE_READONLY') || code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return refuse(path, 'it may not be written');
  }
  if (code.startsWith('SQLITE_BUSY')) return refuse(path, 'another program is using it');
  if (code.startsWith('SQLITE_FULL')) return refuse(path, 'the disk is full');
  return refuse(path, message);
}

/**
 * Checks that a database can be kept at a path, and returns the path with its links resolved: all names of one file must
 * lead to one lock. Throws a StartupError that names what is in the way.
 */
export function checkPlace(path: string): string {
  const folder = dirname(resolve(path));
  const place = statOf(folder);
  if (place === undefined) throw refuse(path, `its folder ${folder} does not exist`);
  if (!place.isDirectory()) throw refuse(path, `its folder ${folder} is not a folder`);
  if (!allows(folder, constants.W_OK | constants.X_OK)) throw refuse(path, `its folder ${folder} may not be written`);
  const file = statOf(path);
  if (file === undefined) return join(realpathSync(folder), basename(path));
  if (file.isDirectory()) throw refuse(path, 'it is a folder');
  if (!allows(path, constants.R_OK | constants.W_OK)) throw refuse(path, 'it may not be read or written');
  return realpathSync(path);
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
