/**
 * Folders that are built from sources. The stamp of a folder is a hash of its sources, to detect a missing or outdated
 * build. Plain JavaScript, like the launcher.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const STAMP = 'stamp.txt';

/** Returns a hash of the names and contents of all files in folders below the root, and of the installed packages. */
export function hashOf(root, folders, isInput = () => true) {
  const hash = createHash('sha256');
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name))),
  );
  for (const file of [...files.filter(isInput), 'package-lock.json'].sort()) {
    hash.update(`${file.split(sep).join('/')}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

export function hasStamp(folder, stamp) {
  const file = join(folder, STAMP);
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/** Returns a folder in which this process builds. */
export function freshFolder(folder) {
  return `${folder}-${process.pid}`;
}

/** Replaces the folder with the complete one of this process. */
export function replaceFolder(folder, stamp) {
  const fresh = freshFolder(folder);
  writeFileSync(join(fresh, STAMP), stamp);
  const stale = `${fresh}-stale`;
  if (existsSync(folder)) renameSync(folder, stale);
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another process may have built the folder concurrently.
    if (!hasStamp(folder, stamp)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(stale, { recursive: true, force: true });
}
