import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { replaceByPrivate } from './private_files.ts';

/** Suffixes of the files that SQLite keeps alongside an open database. */
export const COMPANIONS = ['-wal', '-shm'] as const;

/** Copies all committed data into a new file, checks the copy, and then gives it its name. */
export function copyDatabase(db: Database.Database, to: string): void {
  const unfinished = `${to}.tmp`;
  try {
    replaceByPrivate(unfinished);
    db.prepare('VACUUM INTO ?').run(unfinished);
    verifyCopy(unfinished, db.pragma('user_version', { simple: true }) as number);
    settle(unfinished, to);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Throws if a copy is damaged or has another version. */
export function verifyCopy(path: string, version: number): void {
  const copy = new Database(path, { readonly: true });
  try {
    const found = copy.pragma('user_version', { simple: true });
    if (found !== version) throw new Error(`the copy is of version ${String(found)}, not ${version}`);
    const sound = copy.pragma('integrity_check(1)', { simple: true });
    if (sound !== 'ok') throw new Error(`the copy is damaged: ${String(sound)}`);
  } finally {
    copy.close();
  }
}

/**
 * Replaces an unused database by another unused, sound database. If the process dies at any time, one of the two is in
 * place, and never with the log of the other.
 */
export function replaceDatabase(file: string, by: string): void {
  const unfinished = `${file}.tmp`;
  copyFileSync(by, unfinished);
  flush(unfinished);
  for (const ending of COMPANIONS) rmSync(file + ending, { force: true });
  settle(unfinished, file);
}

/** Renames a finished file, durably. */
export function settle(unfinished: string, name: string): void {
  flush(unfinished);
  renameSync(unfinished, name);
  // Windows cannot sync folders, and does not need to.
  if (process.platform !== 'win32') flush(dirname(name));
}

/** A file name that is not taken: the wanted one, or that with a number. */
export function freeName(wanted: string): string {
  let name = wanted;
  for (let number = 2; existsSync(name); number++) name = wanted.replace(/\.bak$/, `.${number}.bak`);
  return name;
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
