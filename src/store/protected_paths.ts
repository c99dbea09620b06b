import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Suffixes of a database's files: log, segments of events, lock, flag, backups. */
const ENDING = /^(-wal|-shm|-journal|\.events-\d+|\.lock|\.running|\.tmp|\.restored(\..*)?|\.(v\d+|replaced)\..*)?$/i;
/** Names of an older hub's database files. */
const OLD = /^config\.dat(-wal|-shm|-journal|\.lock|\..*\.bak(\.tmp)?)?$/i;
const LINKS_MAX = 40;

/** Returns the existing files of a database, the database itself first. `file` is its path without links. */
export function protectedPaths(file: string): readonly string[] {
  const folder = dirname(file);
  const names = readdirSync(folder).filter((name) => isOwn(file, name) && lstatOf(join(folder, name))?.isFile());
  return names.sort().map((name) => join(folder, name));
}

/**
 * Returns the database file that a write to `path` would overwrite, directly or through links; undefined if there is
 * none. `file` is the path of the database.
 */
export function protectedPathAt(path: string, file: string): string | undefined {
  const target = withoutLinks(path);
  const there = statOf(target);
  for (const database of new Set([join(withoutLinks(dirname(file)), basename(file)), withoutLinks(file)])) {
    if (dirname(target) === dirname(database) && isOwn(database, basename(target))) return target;
    if (there === undefined || statOf(dirname(database)) === undefined) continue;
    const same = protectedPaths(database).find((own) => isSame(there, statOf(own)));
    if (same !== undefined) return same;
  }
  return undefined;
}

/** Whether two paths lead to the same file. */
export function isSameFile(one: string, other: string): boolean {
  return isSame(statOf(one), statOf(other));
}

function isOwn(file: string, name: string): boolean {
  const database = basename(file);
  if (name.toLowerCase().startsWith(database.toLowerCase())) return ENDING.test(name.slice(database.length));
  return OLD.test(name);
}

type Identity = { readonly dev: bigint; readonly ino: bigint } | undefined;

function isSame(one: Identity, other: Identity): boolean {
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

/** Returns a path without links. If the file does not exist yet, resolves its folder or the target of its last link. */
function withoutLinks(path: string): string {
  let place = resolve(path);
  for (let links = 0; links < LINKS_MAX; links++) {
    try {
      return realpathSync(place);
    } catch {
      if (lstatOf(place)?.isSymbolicLink() !== true) break;
      place = resolve(dirname(place), readlinkSync(place));
    }
  }
  const folder = dirname(place);
  return folder === place ? place : join(withoutLinks(folder), basename(place));
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function lstatOf(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
