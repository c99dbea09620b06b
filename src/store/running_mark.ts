import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { rowSum } from './row_sum.ts';

/**
 * How a start knows that the log of the database, or the database, is not what the last hub left behind.
 *
 * Each commit counts itself in the database (the table `written`). While a hub runs, a small file beside the database,
 * `data.dat.running`, says how many commits there were: it is written after each commit, into the same 128 bytes, and
 * never waits for the disk. A stop in order takes it away. So where it is found, and the database with all that its log
 * gives counts less than it says, the log was removed, cut, damaged before its end, or is that of another time; it does
 * not matter which, nor how SQLite keeps its log.
 *
 * A crash that is nobody's fault never counts less. When the process dies, however it does, whatever it has written is
 * with the system, and the commit was written before the mark. When the power goes, commits since the last one with
 * entities may be lost with it, since nothing waits for the disk then; so the mark also says how many were on the disk for
 * certain, and after another start of the system that number counts alone.
 *
 * What cannot be told: after a loss of power, commits behind the last one with entities that are gone because
 * of damage look like those that were never on the disk. On systems that do not number their starts (all but Linux) that
 * is so after the death of the process, too. And whoever takes the mark away takes what it says with it.
 */

/** What a mark says. */
export interface Mark {
  /** Which start of the system it was written in; empty when that is not known. */
  readonly boot: string;
  readonly commits: number;
  /** How many of them were on the disk. */
  readonly synced: number;
}

const LENGTH = 128;
const ENDING = '.running';

export function markOf(file: string): string {
  return file + ENDING;
}

/** The mark that a hub has left behind which did not stop in order. One that cannot be read says nothing. */
export function readMark(file: string): Mark | undefined {
  try {
    const { boot, commits, synced, sum } = JSON.parse(readFileSync(markOf(file), 'utf8'));
    return sum === sumOf({ boot, commits, synced }) ? { boot, commits, synced } : undefined;
  } catch {
    return undefined;
  }
}

/** How many commits a database with that mark must have, at least. */
export function commitsDue({ boot, commits, synced }: Mark, bootNow: string): number {
  return boot !== '' && boot === bootNow ? commits : synced;
}

export function removeMark(file: string): void {
  rmSync(markOf(file), { force: true });
}

/** Identifies the present start of the system; empty where it has no number. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The mark of a running hub. */
export class RunningMark {
  readonly #file: string;
  readonly #boot = bootId();
  readonly #bytes = Buffer.alloc(LENGTH);
  #descriptor: number | undefined;
  #synced: number;

  /** Begins with what the database counts, which is on the disk. Throws where the file cannot be written. */
  constructor(file: string, commits: number) {
    this.#file = file;
    this.#synced = commits;
    // Anew, so that nobody else can have it open, and not through a link.
    removeMark(file);
    this.#descriptor = openSync(markOf(file), 'wx', 0o600);
    this.note(commits);
    fsyncSync(this.#descriptor);
  }

  /** Says how many commits there are; `isSynced` when all of them are on the disk. Never throws. */
  note(commits: number, { isSynced = false } = {}): void {
    if (this.#descriptor === undefined) return;
    if (isSynced) this.#synced = commits;
    const mark = { boot: this.#boot, commits, synced: this.#synced };
    this.#bytes.fill(' ').write(JSON.stringify({ ...mark, sum: sumOf(mark) }));
    try {
      writeSync(this.#descriptor, this.#bytes, 0, LENGTH, 0);
    } catch {
      // A mark that is behind demands less than it could: that is no harm.
    }
  }

  /** Ends it. What has stopped in order leaves no mark. */
  end({ isInOrder }: { readonly isInOrder: boolean }): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (isInOrder) removeMark(this.#file);
  }
}

function sumOf({ boot, commits, synced }: Mark): number {
  return rowSum('mark', boot, `${commits} ${synced}`);
}
