import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { WAYS_OUT } from './damage.ts';
import { versionOf } from './migration/migrate.ts';
import { bootId, commitsDue, type Mark, readMark } from './running_mark.ts';

/** What a database says of its hubs. */
export interface Written {
  /** How many commits there were. */
  readonly commits: number;
  /** Which lock file the last hub has held; empty when it does not say. */
  readonly lock: string;
}

/** Reads that; undefined before version 4, which began with it. */
export function readWritten(db: Database.Database): Written | undefined {
  if (versionOf(db) < 4) return undefined;
  return db.prepare('SELECT commits, lock FROM written').get() as Written;
}

/** What a hub that did not stop in order has left beside its database. */
export interface Left {
  readonly mark: Mark | undefined;
  /** Bytes of the log; 0 when there is none. */
  readonly logBytes: number;
}

/** Looks for that; to be done before the database is opened, which may make an empty log. */
export function leftBeside(file: string): Left {
  return { mark: readMark(file), logBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0 };
}

/**
 * Says what a database with so many commits has lost since its hub ended without stopping, and what to do about it;
 * undefined when it has all that must be there.
 */
export function lossOf(file: string, { mark, logBytes }: Left, commits: number): string | undefined {
  if (mark === undefined) return undefined;
  const due = commitsDue(mark, bootId());
  if (commits >= due) return undefined;
  const why = logBytes === 0 ? 'is missing' : 'was cut, is damaged before its end, or is of another time';
  return `the last ${due - commits} of ${due} commits are lost, for its log ${file}-wal ${why}: ${WAYS_OUT}`;
}
