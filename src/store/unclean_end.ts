import { statSync } from 'node:fs';
import { WAYS_OUT } from './damage.ts';
import { openToRead } from './database_file.ts';
import { versionOf } from './migration/migrate.ts';
import { bootId, commitsDue, readMark } from './running_mark.ts';

/** What a database says of its hubs. */
export interface Written {
  /** How many commits there were; undefined before version 4. */
  readonly commits: number | undefined;
  /** Which lock file the last hub has held; empty when it does not say. */
  readonly lock: string;
}

/** Reads that from a sound database, without changing it. */
export function readWritten(file: string): Written {
  const db = openToRead(file);
  try {
    if (versionOf(db) < 4) return { commits: undefined, lock: '' };
    return db.prepare('SELECT commits, lock FROM written').get() as Written;
  } finally {
    db.close();
  }
}

/** Bytes of the log that lies beside a database; undefined when there is none. To be asked before it is opened. */
export function logBytes(file: string): number | undefined {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size;
}

/**
 * Says what a database has lost since its hub ended without stopping, and what to do about it; undefined when it has lost
 * nothing that the hub had put down. `log` are the bytes of its log before it was opened.
 */
export function lossOf(file: string, { commits }: Written, log: number | undefined): string | undefined {
  const mark = readMark(file);
  if (mark === undefined || commits === undefined) return undefined;
  const due = commitsDue(mark, bootId());
  if (commits >= due) return undefined;
  const why =
    log === undefined || log === 0 ? 'is missing' : 'was cut, is damaged before its end, or is of another time';
  return `the last ${due - commits} of ${due} commits are lost, for its log ${file}-wal ${why}: ${WAYS_OUT}`;
}
