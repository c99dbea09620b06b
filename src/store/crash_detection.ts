import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { WAYS_OUT } from './damage.ts';
import { versionOf } from './migration/migrate.ts';
import { bootId, commitsDue, type DirtyFlag, readDirtyFlag } from './dirty_flag.ts';

/** Statistics about commits, stored in the database. */
export interface CommitStatistics {
  /** Number of commits. */
  readonly commits: number;
  /** Id of the last hub's lock file; empty if unknown. */
  readonly lock: string;
}

/** Reads the statistics; undefined for a database before version 4, which introduced them. */
export function readWritten(db: Database.Database): CommitStatistics | undefined {
  const version = versionOf(db);
  if (version < 4) return undefined;
  const { commits, lock } = db.prepare('SELECT commits, lock FROM written').get() as CommitStatistics;
  const logged = version < 5 ? 0 : (db.prepare('SELECT coalesce(max(seq), 0) FROM row_log').pluck().get() as number);
  return { commits: Math.max(commits, logged), lock };
}

/** Files that a hub without a clean shutdown has left next to its database. */
export interface CrashTraces {
  readonly mark: DirtyFlag | undefined;
  /** Size of the log in bytes; 0 if it is missing. */
  readonly logBytes: number;
}

/** Inspects the files next to a database. Call it before opening the database, which may create an empty log. */
export function crashTraces(file: string): CrashTraces {
  return { mark: readDirtyFlag(file), logBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0 };
}

/**
 * Describes the commits that a database has lost since its hub crashed, and what to do about it; undefined if none are
 * lost.
 */
export function lossOf(file: string, { mark, logBytes }: CrashTraces, commits: number): string | undefined {
  if (mark === undefined) return undefined;
  const due = commitsDue(mark, bootId());
  if (commits >= due) return undefined;
  const why = logBytes === 0 ? 'is missing' : 'was cut, is damaged before its end, or is of another time';
  return `the last ${due - commits} of ${due} commits are lost, for its log ${file}-wal ${why}: ${WAYS_OUT}`;
}
