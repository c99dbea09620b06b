import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { inlineEvents } from './event_copy.ts';
import { SegmentReader } from './event_segments.ts';
import { replaceByPrivate } from './private_files.ts';

/** Suffixes of the files that SQLite creates next to an open database. */
export const COMPANIONS = ['-wal', '-shm'] as const;

/**
 * Copies all committed data to a temporary file, with the events of its segments, verifies the copy, and renames it to
 * `to`.
 */
export function copyDatabase(db: Database.Database, to: string): void {
  const unfinished = `${to}.tmp`;
  const segments = new SegmentReader(realpathSync(db.name), Infinity);
  try {
    replaceByPrivate(unfinished);
    // A hub may delete segments in the meantime, or begin new ones.
    segments.openAll();
    db.prepare('VACUUM INTO ?').run(unfinished);
    segments.openAll();
    inlineEvents(unfinished, segments);
    verifyCopy(unfinished, db.pragma('user_version', { simple: true }) as number);
    settle(unfinished, to);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    segments.close();
  }
}

/** Throws an Error if a copy is damaged or has another version. */
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
 * Replaces a database with another one; both must be unused and the other one sound. If the process dies at any time,
 * one of the two is in place, never with the log of the other. The other one must not have segments; the next start
 * deletes those of the replaced one.
 */
export function replaceDatabase(file: string, by: string): void {
  const unfinished = `${file}.tmp`;
  copyFileSync(by, unfinished);
  flush(unfinished);
  for (const ending of COMPANIONS) rmSync(file + ending, { force: true });
  settle(unfinished, file);
}

/** Renames a complete file and syncs it, so that it survives a power failure. */
export function settle(unfinished: string, name: string): void {
  flush(unfinished);
  renameSync(unfinished, name);
  // Windows cannot sync folders and does not need it.
  if (process.platform !== 'win32') flush(dirname(name));
}

/** Returns an unused file name: the wanted one, with a number appended if necessary. */
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
