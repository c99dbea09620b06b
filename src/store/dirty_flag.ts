import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { rowSum } from './row_sum.ts';

/**
 * Detects at start that the database or its log is not what the last hub left.
 *
 * Each commit increments a counter in the database (table `written`). While a hub runs, a small file alongside the
 * database, `data.dat.running`, holds the number of commits: it is rewritten after each commit, in the same 128 bytes,
 * without waiting for the disk. A clean shutdown removes it. So if the file exists and the database, including its log,
 * counts fewer commits, then the log was removed, truncated, damaged, or belongs to another time. The check needs to
 * know neither which of these happened nor how SQLite stores its log.
 *
 * An ordinary crash never counts fewer. When the process dies, its writes are with the operating system, and the commit
 * was written before the mark. When the power fails, commits since the last one with entities may be lost together with
 * the mark, since they do not wait for the disk. So the mark also holds the number of commits that were synced to disk,
 * and after a reboot only that number counts.
 *
 * Limits: after a power failure, commits after the last one with entities that were lost by damage look like commits
 * that never reached the disk. On systems without boot ids (all but Linux) the same holds after the death of the
 * process. And deleting the mark deletes its information.
 */

/** Contents of a mark. */
export interface DirtyFlag {
  /** Boot id of the system when it was written; empty if unknown. */
  readonly boot: string;
  readonly commits: number;
  /** Number of commits synced to disk. */
  readonly synced: number;
}

const LENGTH = 128;
const ENDING = '.running';

export function dirtyFlagPath(file: string): string {
  return file + ENDING;
}

/** The mark left by a hub that did not shut down cleanly. An unreadable mark counts as none. */
export function readDirtyFlag(file: string): DirtyFlag | undefined {
  try {
    const { boot, commits, synced, sum } = JSON.parse(readFileSync(dirtyFlagPath(file), 'utf8'));
    return sum === sumOf({ boot, commits, synced }) ? { boot, commits, synced } : undefined;
  } catch {
    return undefined;
  }
}

/** Minimum number of commits that a database with that mark must have. */
export function commitsDue({ boot, commits, synced }: DirtyFlag, bootNow: string): number {
  return boot !== '' && boot === bootNow ? commits : synced;
}

export function removeDirtyFlag(file: string): void {
  rmSync(dirtyFlagPath(file), { force: true });
}

/** Identifies the current boot of the system; empty if it has no id. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The mark of a running hub. */
export class DirtyFlagFile {
  readonly #file: string;
  readonly #boot = bootId();
  readonly #bytes = Buffer.alloc(LENGTH);
  #descriptor: number | undefined;
  #synced: number;

  /** Starts with the count of the database, which is on disk. Throws if the file cannot be written. */
  constructor(file: string, commits: number) {
    this.#file = file;
    this.#synced = commits;
    // Created from scratch, so that no other process has it open, and not through a link.
    removeDirtyFlag(file);
    this.#descriptor = openSync(dirtyFlagPath(file), 'wx', 0o600);
    this.note(commits);
    fsyncSync(this.#descriptor);
  }

  /** Records the number of commits; `isSynced` if all of them are on disk. Never throws. */
  note(commits: number, { isSynced = false } = {}): void {
    if (this.#descriptor === undefined) return;
    if (isSynced) this.#synced = commits;
    const mark = { boot: this.#boot, commits, synced: this.#synced };
    this.#bytes.fill(' ').write(JSON.stringify({ ...mark, sum: sumOf(mark) }));
    try {
      writeSync(this.#descriptor, this.#bytes, 0, LENGTH, 0);
    } catch {
      // A stale mark only demands less than it could, which is harmless.
    }
  }

  /** Closes the mark. A clean shutdown removes it. */
  end({ isInOrder }: { readonly isInOrder: boolean }): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (isInOrder) removeDirtyFlag(this.#file);
  }
}

function sumOf({ boot, commits, synced }: DirtyFlag): number {
  return rowSum('mark', boot, `${commits} ${synced}`);
}
