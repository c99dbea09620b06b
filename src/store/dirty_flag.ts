import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { rowSum } from './row_sum.ts';

/**
 * Detects at startup that a database or its log has lost commits since the last hub used it.
 *
 * Commits are numbered. The database contains the number of the last one: in the row log, or in the table `written` for
 * a commit without rows. While a hub runs, a small file next to the
 * database, `data.dat.running`, contains the number of commits. It is overwritten in place (128 bytes) after each
 * commit, without waiting for the disk. A clean shutdown removes it. If the file exists and the database, including its
 * log, counts fewer commits, the log was removed, truncated or damaged, or it belongs to an older state. The check
 * depends neither on which of these happened nor on how SQLite stores its log.
 *
 * An ordinary crash is never reported. When the process dies, the operating system still has its writes, and each
 * commit was written before the flag. When the power fails, commits after the last one with entities may be lost, since
 * they do not wait for the disk. So the flag also contains the number of commits synced to disk; after a reboot, only
 * that number is required.
 *
 * Limits: after a power failure, damaged commits after the last one with entities cannot be distinguished from commits
 * that never reached the disk. On systems without boot ids (all but Linux) this also holds after the death of the
 * process. Deleting the flag disables the check.
 */

/** Contents of the flag file. */
export interface DirtyFlag {
  /** Boot id of the system when the flag was written; empty if unknown. */
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

/** Reads the flag of a hub that did not shut down cleanly; undefined if the flag is missing or unreadable. */
export function readDirtyFlag(file: string): DirtyFlag | undefined {
  try {
    const { boot, commits, synced, sum } = JSON.parse(readFileSync(dirtyFlagPath(file), 'utf8'));
    return sum === sumOf({ boot, commits, synced }) ? { boot, commits, synced } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the minimum number of commits of a sound database with this flag. */
export function commitsDue({ boot, commits, synced }: DirtyFlag, bootNow: string): number {
  return boot !== '' && boot === bootNow ? commits : synced;
}

export function removeDirtyFlag(file: string): void {
  rmSync(dirtyFlagPath(file), { force: true });
}

/** Returns the id of the system's current boot; empty if the system has none. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Flag file of a running hub. */
export class DirtyFlagFile {
  readonly #file: string;
  readonly #boot = bootId();
  readonly #bytes = Buffer.alloc(LENGTH);
  #descriptor: number | undefined;
  #synced: number;

  /**
   * Creates the file with the database's number of commits, all of which are on disk. Throws if the file cannot be
   * written.
   */
  constructor(file: string, commits: number) {
    this.#file = file;
    this.#synced = commits;
    // Creates a new file, so that it is neither open in another process nor reached through a link.
    removeDirtyFlag(file);
    this.#descriptor = openSync(dirtyFlagPath(file), 'wx', 0o600);
    this.note(commits);
    fsyncSync(this.#descriptor);
  }

  /** Records the number of commits. `isSynced`: all of them are on disk. Never throws. */
  note(commits: number, { isSynced = false } = {}): void {
    if (this.#descriptor === undefined) return;
    if (isSynced) this.#synced = commits;
    const mark = { boot: this.#boot, commits, synced: this.#synced };
    this.#bytes.fill(' ').write(JSON.stringify({ ...mark, sum: sumOf(mark) }));
    try {
      writeSync(this.#descriptor, this.#bytes, 0, LENGTH, 0);
    } catch {
      // A stale flag only requires fewer commits, which is harmless.
    }
  }

  /** Closes the file. A clean shutdown removes it. */
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
