import { StartupError } from '../errors.ts';

/** A start that fails because of the database file. */
export function refuse(path: string, reason: string): StartupError {
  return new StartupError(`Cannot use the database ${path}: ${reason}`);
}

/** Says in plain words what SQLite or the file system had against a file. */
export function asStartupError(error: unknown, path: string): StartupError {
  if (error instanceof StartupError) return error;
  const { code = '', message } = error as { code?: string; message: string };
  if (code.startsWith('SQLITE_NOTADB')) return refuse(path, 'it is not a database');
  if (code.startsWith('SQLITE_CORRUPT')) return refuse(path, 'it is damaged');
  if (message.includes('directory does not exist')) return refuse(path, 'its folder does not exist');
  if (code.startsWith('SQLITE_CANTOPEN')) return refuse(path, 'it cannot be opened or created');
  if (code.startsWith('SQLITE_READONLY') || code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return refuse(path, 'it may not be written');
  }
  if (code.startsWith('SQLITE_BUSY')) return refuse(path, 'another program is using it');
  return refuse(path, message);
}
