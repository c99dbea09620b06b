import { existsSync, renameSync, rmSync } from 'node:fs';
import { openExisting } from './backup.ts';
import { COMPANIONS, copyDatabase, freeName, settle } from './copy.ts';
import { inspect, openFile } from './database_file.ts';
import { linkSegments, removeSegments } from './event_segments.ts';
import { lockFile } from './lock.ts';
import { versionOf } from './migration/migrate.ts';
import { type Opening, timeInName } from './opening.ts';
import { linkOrCopy } from './private_files.ts';
import { isSameFile } from './protected_paths.ts';
import { databasePath } from './database_path.ts';
import { removeDirtyFlag } from './dirty_flag.ts';
import { asStartupError, databaseError } from './start_errors.ts';

/** Result of a restoration. */
export interface RestoreResult {
  /** Version of the restored database. The next start of a hub migrates an older one. */
  readonly version: number;
  /** Path of the replaced database; undefined if there was none. */
  readonly replaced: string | undefined;
}

/**
 * Replaces a database that no hub uses with a backup. The backup is copied and verified before any change, and the old
 * database is preserved as `data.dat.replaced.<time>.bak`. If the process dies at any time, one of the two is in place.
 * If restoring fails, throws a StartupError and leaves the database unchanged.
 */
export function restore(path: string, from: string, { nowMs, stage }: Opening): RestoreResult {
  const file = databasePath(path);
  const { unlock } = lockFile(path, file);
  const copied = `${file}.restored`;
  try {
    if (isSameFile(from, file)) throw databaseError(path, 'it cannot be restored from itself');
    stage?.({ text: `Copying ${from}`, part: 0 });
    const version = copyBackup(from, copied);
    stage?.({ text: `Replacing ${path}`, part: 0.9 });
    const replaced = existsSync(file) ? setAside(file, nowMs) : undefined;
    // The flag belongs to the old database. With it, the restored one would seem to have lost commits.
    removeDirtyFlag(file);
    settle(copied, file);
    removeSegments(file);
    return { version, replaced };
  } catch (error) {
    rmSync(copied, { force: true });
    throw asStartupError(error, path);
  } finally {
    unlock();
  }
}

function copyBackup(from: string, to: string): number {
  const backup = openExisting(from);
  try {
    const version = versionOf(backup);
    if (version === 0) throw databaseError(from, 'it is empty');
    rmSync(to, { force: true });
    copyDatabase(backup, to);
    return version;
  } finally {
    backup.close();
  }
}

/**
 * Gives the database and its segments second names, so that files with its own name always exist. The log belongs to this
 * database and moves along.
 */
function setAside(file: string, nowMs: number): string {
  if (isSound(file)) {
    // Checkpoints the log and removes it.
    openFile(file).close();
  }
  const aside = freeName(`${file}.replaced.${timeInName(nowMs)}.bak`);
  linkOrCopy(file, aside);
  for (const ending of COMPANIONS) if (existsSync(file + ending)) renameSync(file + ending, aside + ending);
  linkSegments(file, aside);
  return aside;
}

/**
 * Whether a database is sound. A damaged one is preserved unchanged, since opening it for writing could damage it
 * further.
 */
function isSound(file: string): boolean {
  try {
    inspect(file, file);
    return true;
  } catch {
    return false;
  }
}
