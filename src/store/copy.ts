import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { replaceByPrivate } from './private_files.ts';

/** Endings of the files that SQLite keeps beside a database while somebody uses it. */
export const COMPANIONS = ['-wal', '-shm'] as const;

/** Copies all that is committed into a new file, checks the copy, and only then gives it its name. */
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

/** Throws when a copy is not sound, or not of that version. */
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
 * Puts a sound database that nobody uses in the place of another that nobody uses. Whenever the process dies, there is
 * the one or the other, and never one with the log of the other.
 */
export function replaceDatabase(file: string, by: string): void {
  const unfinished = `${file}.tmp`;
  copyFileSync(by, unfinished);
  flush(unfinished);
  for (const ending of COMPANIONS) rmSync(file + ending, { force: true });
  settle(unfinished, file);
}

/** Gives a finished file its name, for good. */
export function settle(unfinished: string, name: string): void {
  flush(unfinished);
  renameSync(unfinished, name);
  // Windows has no way to do this, and no need.
  if (process.platform !== 'win32') flush(dirname(name));
}

/** A name that is not taken: the wanted one, or that with a number. */
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
