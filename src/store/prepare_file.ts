import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StartupError } from '../errors.ts';
import { COMPANIONS, copyDatabase, freeName, settle } from './copy.ts';
import { BUSY_MS, inspect, openFile, openToRead } from './database_file.ts';
import { revertUnsynced } from './event_check.ts';
import { checkAlone, type FileLock, lockFile } from './lock.ts';
import { type Opening, timeInName } from './opening.ts';
import { createPrivate, keepPrivate } from './private_files.ts';
import { asStartupError, databaseError } from './start_errors.ts';
import { crashTraces, lossOf, readWritten } from './crash_detection.ts';

interface Preparing {
  /** Path as given by the user, for errors. */
  readonly path: string;
  /** Lock held by this process. */
  readonly lock: FileLock;
  readonly opening: Opening;
}

/**
 * Prepares a file to be opened for writing: renames the file of an older hub, restricts access to the owner, and
 * verifies that the file is sound, complete and not used by another process. Throws a StartupError if it cannot be
 * used.
 */
export function prepareFile(file: string, { path, lock, opening }: Preparing): void {
  takeOver(file, opening);
  const { acceptLoss = false, notice } = opening;
  createPrivate(file);
  const left = crashTraces(file);
  inspect(file, path);
  revertUnsynced(file);
  const db = openToRead(file);
  const written = readWritten(db);
  db.close();
  const loss = written && lossOf(file, left, written.commits);
  if (loss !== undefined && !acceptLoss) throw databaseError(path, loss);
  if (written?.lock !== lock.id) checkAlone(path, file, { timeoutMs: BUSY_MS });
  const opened = keepPrivate(file);
  if (opened !== undefined) notice?.(opened);
  if (loss !== undefined) notice?.(`Going on without what is lost: ${loss}`);
}

const NAME = 'data.dat';
/** Name of the file in older releases. */
const OLD_NAME = 'config.dat';

/**
 * Renames config.dat of an older hub to data.dat if there is no data.dat, after copying it to `config.dat.<time>.bak`.
 * Throws a StartupError if config.dat is a database that this hub cannot read, since starting with an empty database
 * would look like a loss. A config.dat that is not an SQLite database belongs to another program and is not touched.
 */
function takeOver(file: string, { nowMs, stage }: Opening): void {
  const old = join(dirname(file), OLD_NAME);
  if (basename(file) !== NAME || existsSync(file) || !isSqlite(old)) return;
  const { unlock } = lockFile(old, old);
  try {
    inspect(old, old);
    const backup = freeName(`${old}.${timeInName(nowMs)}.bak`);
    stage?.({ text: `Taking over ${old}; ${backup} is a copy`, part: 0 });
    const db = openFile(old);
    try {
      copyDatabase(db, backup);
    } finally {
      db.close();
    }
    // SQLite removes the log when the last process closes the database, so a remaining log means that another process
    // uses it.
    if (existsSync(old + COMPANIONS[0])) throw databaseError(old, 'another program is using it');
    settle(old, file);
  } catch (error) {
    const { message } = asStartupError(error, old);
    throw new StartupError(`${message}; without that file the hub starts with an empty database`, { cause: error });
  } finally {
    unlock();
    rmSync(`${old}.lock`, { force: true });
  }
}

/**
 * Whether a file starts with the 16 bytes of an SQLite database:
 * https://www.sqlite.org/fileformat.html#magic_header_string
 */
function isSqlite(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const first = Buffer.alloc(16);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, first, 0, first.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return first.toString('latin1') === 'SQLite format 3\0';
}
