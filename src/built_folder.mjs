/**
 * A folder that is built from sources. Its stamp is a hash of all of them, so a build that is missing or outdated is noticed.
 * Plain JavaScript, like the launcher.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const STAMP = 'stamp.txt';

/** A hash of the names and contents of all files of folders below the root, and of its installed packages. */
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

/** A folder of this process to build in. */
export function freshFolder(folder) {
  return `${folder}-${process.pid}`;
}

/** Replaces the folder by the one of this process, which is complete. */
export function replaceFolder(folder, stamp) {
  const fresh = freshFolder(folder);
  writeFileSync(join(fresh, STAMP), stamp);
  const stale = `${fresh}-stale`;
  if (existsSync(folder)) renameSync(folder, stale);
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another process has built it concurrently.
    if (!hasStamp(folder, stamp)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(stale, { recursive: true, force: true });
}
