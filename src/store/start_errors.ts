import { StartupError } from '../errors.ts';

/** Returns the error of a start that fails because of the database file. */
export function databaseError(path: string, reason: string): StartupError {
  return new StartupError(`Cannot use the database ${path}: ${reason.trim().replaceAll(/\s+/g, ' ')}`);
}

/** Reason for a file that cannot be read correctly. */
export const DAMAGED = 'it is damaged (npm run hub -- restore FILE puts a backup in its place)';

/** Converts an error of SQLite or the file system into a StartupError with a plain reason. */
export function asStartupError(error: unknown, path: string): StartupError {
  return error instanceof StartupError ? error : databaseError(path, reasonOf(error));
}

/** Prefixes of error codes of SQLite and the system, with their meaning. */
const REASONS: readonly (readonly [code: string, reason: string])[] = [
  ['SQLITE_NOTADB', 'it is not a database'],
  ['SQLITE_CORRUPT', DAMAGED],
  ['SQLITE_CANTOPEN', 'it cannot be opened or created'],
  ['SQLITE_READONLY', 'it may not be written'],
  ['SQLITE_BUSY', 'another program is using it'],
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR', 'the disk reports an error'],
  ['ENOSPC', 'the disk is full'],
  ['EFBIG', 'the disk takes no larger file'],
  ['EACCES', 'it may not be written'],
  ['EROFS', 'its file system is read-only'],
  ['EPERM', 'it may not be written'],
];

/** Returns the reason why the database or its disk failed, in plain words if the error code is known. */
export function reasonOf(error: unknown): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  const reason = REASONS.find(([first]) => code.startsWith(first))?.[1] ?? message;
  return code.startsWith('SQLITE_IOERR') ? `${reason} (${code})` : reason;
}
