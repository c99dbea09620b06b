import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type HistoryTopic, recordedSince } from '../model/history.ts';
import { covers, foldersOf, HOUR_MS, type PartName, partAt, pathOf, writingPathOf } from './layout.ts';

/** A file of the history. All of its rows are in the hour that starts at `hourMs`. */
export interface HistoryFile extends PartName {
  /** Absolute path. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Time of writing, in milliseconds since 1970. */
  readonly writtenMs: number;
}

/** Files that are not removed until the lease is released. */
export interface LeasedFiles {
  readonly lease: number;
  readonly files: readonly HistoryFile[];
  /** Number of unreadable files in these hours. */
  readonly damaged: number;
}

/** A request for the files of some topics whose hours overlap with a time span. */
export interface FilesWanted {
  readonly topics: readonly HistoryTopic[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether existing files suffice. Otherwise buffered rows are written first. */
  readonly asWritten?: true;
}

/** Access modes: only the user who runs the hub may read positions. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600] as const;

/** An hour is quiet if nothing was written to it for this long. */
const QUIET_MS = 120_000;
/** In an active hour, files are merged once this many of them have fewer rows than this. */
const [SMALL_FILES_MAX, SMALL_ROWS] = [24, 250_000] as const;
/** Maximum rows and bytes of a merge. A row takes 1.6 µs, during which nothing else is written. */
const [MERGED_ROWS_MAX, MERGED_BYTES_MAX] = [4_000_000, 256 << 20] as const;

/**
 * Files of the history and their leases. A file is written under a temporary name, synced, and renamed, so every file
 * is complete. Obsolete files are removed once no reader uses them.
 */
export class HistoryFiles {
  readonly #folder: string;
  /** Readable files by path. */
  readonly #files = new Map<string, HistoryFile>();
  readonly #leases = new Map<number, readonly string[]>();
  /** Paths of files to remove once their leases are released. */
  readonly #going = new Set<string>();
  readonly #damaged = new Map<string, HistoryFile>();
  #lastLease = 0;
  /** Number of the last file started, by topic and hour. */
  readonly #lastNumber = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Finds existing files and removes leftovers of a crashed hub. `rowsOf` returns the number of rows of a file; if it
   * throws, `damaged` is called for the file. Throws if the folder is not usable.
   */
  async open(rowsOf: (path: string) => Promise<number>, damaged: (path: string, why: unknown) => void): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: FOLDER_MODE });
    const found: PartName[] = [];
    for (const path of filesBelow(this.#folder)) {
      const part = partAt(path);
      if (part === 'unfinished') rmSync(join(this.#folder, path), { force: true });
      else if (part !== undefined) found.push(part);
    }
    for (const part of found) {
      this.#note(part);
      const path = join(this.#folder, pathOf(part));
      if (found.some((other) => covers(other, part))) {
        rmSync(path, { force: true });
        continue;
      }
      try {
        this.#files.set(path, fileAt(path, part, await rowsOf(path)));
      } catch (error) {
        this.#damaged.set(path, fileAt(path, part, 0));
        damaged(path, error);
      }
    }
  }

  /** All readable files, in no particular order. */
  get all(): Iterable<HistoryFile> {
    return this.#files.values();
  }

  /** All files, including unreadable ones. */
  get onDisk(): readonly HistoryFile[] {
    return [...this.#files.values(), ...this.#damaged.values()];
  }

  /** Whether a file still exists and is readable. */
  has({ path }: HistoryFile): boolean {
    return this.#files.has(path);
  }

  /** Number of unreadable files. */
  get damagedCount(): number {
    return this.#damaged.size;
  }

  /**
   * Writes a file: `write` fills it at the given path. Then removes the files `of`, which it replaces. If it cannot be
   * written, throws and leaves nothing behind.
   */
  async write(
    { topic, hourMs }: Pick<PartName, 'topic' | 'hourMs'>,
    { rows, of = [], write }: { rows: number; of?: readonly HistoryFile[]; write(path: string): Promise<void> },
  ): Promise<HistoryFile> {
    const key = keyOf(topic, hourMs);
    const number = (this.#lastNumber.get(key) ?? 0) + 1;
    const [first, last] = of.length === 0 ? [number, number] : spanOf(of);
    return await this.#put({ topic, hourMs, first, last }, { rows, of, write });
  }

  /** Writes the next revision of a file, which replaces it. Fails like `write`. */
  async rewrite(
    file: HistoryFile,
    { rows, write }: { rows: number; write(path: string): Promise<void> },
  ): Promise<HistoryFile> {
    const { topic, hourMs, first, last, revision = 0 } = file;
    return await this.#put({ topic, hourMs, first, last, revision: revision + 1 }, { rows, of: [file], write });
  }

  async #put(
    part: PartName,
    { rows, of, write }: { rows: number; of: readonly HistoryFile[]; write(path: string): Promise<void> },
  ): Promise<HistoryFile> {
    const path = join(this.#folder, pathOf(part));
    const aside = writingPathOf(path);
    const isNewFolder = mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE }) !== undefined;
    try {
      closeSync(openSync(aside, 'w', FILE_MODE));
      await write(aside);
      sync(aside);
      renameSync(aside, path);
      sync(dirname(path));
      if (isNewFolder) for (const folder of foldersOf(pathOf(part)).slice(1)) sync(join(this.#folder, folder));
    } catch (error) {
      // The caller writes the rows again.
      rmSync(aside, { force: true });
      rmSync(path, { force: true });
      throw error;
    }
    this.#note(part);
    const file = fileAt(path, part, rows);
    this.#files.set(path, file);
    for (const { path: old } of of) this.remove(old);
    return file;
  }

  /** Marks a file as damaged. Returns false if it was already marked or removed. */
  damaged(path: string): boolean {
    const file = this.#files.get(path);
    if (file === undefined) return false;
    this.#files.delete(path);
    this.#damaged.set(path, file);
    return true;
  }

  /** Removes a file as soon as no reader uses it. */
  remove(path: string): void {
    this.#files.delete(path);
    this.#damaged.delete(path);
    if ([...this.#leases.values()].some((paths) => paths.includes(path))) this.#going.add(path);
    else unlinkFile(path);
  }

  /** Removes all files of an hour. */
  removeHour(hourMs: number): void {
    for (const file of this.onDisk) if (file.hourMs === hourMs) this.remove(file.path);
    // Numbering continues while removed files are still in use, so that their names are not reused.
    if (this.#going.size > 0) return;
    for (const key of [...this.#lastNumber.keys()]) if (key.endsWith(` ${hourMs}`)) this.#lastNumber.delete(key);
  }

  lease({ topics, fromMs, toMs }: FilesWanted): LeasedFiles {
    const isWanted = ({ topic, hourMs }: PartName): boolean =>
      topics.includes(topic) && hourMs < toMs && hourMs + HOUR_MS > fromMs;
    const files = [...this.#files.values()].filter(isWanted);
    const damaged = [...this.#damaged.values()].filter(isWanted).length;
    const lease = ++this.#lastLease;
    this.#leases.set(
      lease,
      files.map(({ path }) => path),
    );
    return { lease, files, damaged };
  }

  release(lease: number): void {
    this.#leases.delete(lease);
    if (this.#going.size === 0) return;
    const read = new Set([...this.#leases.values()].flat());
    for (const path of this.#going) {
      if (read.has(path)) continue;
      this.#going.delete(path);
      unlinkFile(path);
    }
  }

  #note({ topic, hourMs, last }: PartName): void {
    const key = keyOf(topic, hourMs);
    this.#lastNumber.set(key, Math.max(last, this.#lastNumber.get(key) ?? 0));
  }
}

/**
 * Returns the files below a folder, without those that a merged file covers. Changes nothing. Throws if the folder
 * cannot be read.
 */
export function filesFound(folder: string): readonly (PartName & { readonly path: string })[] {
  const parts = filesBelow(folder)
    .map(partAt)
    .filter((part) => part !== undefined && part !== 'unfinished');
  return parts
    .filter((part) => !parts.some((other) => covers(other, part)))
    .map((part) => ({ ...part, path: join(folder, pathOf(part)) }));
}

/**
 * Returns runs of consecutive files of one topic and hour to merge: all files of a quiet hour, or the last small files
 * of an active hour if there are many.
 */
export function mergeable(files: Iterable<HistoryFile>, nowMs: number): readonly (readonly HistoryFile[])[] {
  const byHour = Map.groupBy(files, ({ topic, hourMs }) => keyOf(topic, hourMs));
  return [...byHour.values()].flatMap((unordered) => {
    if (unordered.length < 2) return [];
    const all = unordered.toSorted((a, b) => a.first - b.first);
    const writtenMs = Math.max(...all.map((file) => file.writtenMs));
    const isQuiet = Math.max(writtenMs, (all[0] as HistoryFile).hourMs + HOUR_MS) + QUIET_MS <= nowMs;
    if (isQuiet) return runsOf(all);
    const small = all.slice(all.findLastIndex(({ rows }) => rows >= SMALL_ROWS) + 1);
    return small.length < SMALL_FILES_MAX ? [] : runsOf(small);
  });
}

/** Returns runs of at least two files with consecutive numbers, split at the size limits of a merge. */
function runsOf(files: readonly HistoryFile[]): readonly (readonly HistoryFile[])[] {
  const runs: HistoryFile[][] = [];
  let run: HistoryFile[] = [];
  let [rows, bytes] = [0, 0];
  for (const file of files) {
    rows += file.rows;
    bytes += file.bytes;
    // A missing number may belong to a damaged file, which the name of a merged file would cover.
    const follows = run.at(-1)?.last === file.first - 1;
    if (!follows || rows > MERGED_ROWS_MAX || bytes > MERGED_BYTES_MAX) {
      run = [];
      runs.push(run);
      ({ rows, bytes } = file);
    }
    run.push(file);
  }
  return runs.filter(({ length }) => length > 1);
}

/**
 * Returns the hours to delete: those beyond the retention, and then the earliest ones until the rest fits the size
 * limit.
 */
export function expiredHours(
  files: Iterable<Pick<HistoryFile, 'hourMs' | 'bytes'>>,
  { nowMs, retentionMs, bytesMax }: { nowMs: number; retentionMs: number; bytesMax: number },
): readonly number[] {
  const bytesOf = new Map<number, number>();
  for (const { hourMs, bytes } of files) bytesOf.set(hourMs, (bytesOf.get(hourMs) ?? 0) + bytes);
  const hours = [...bytesOf].sort(([a], [b]) => a - b);
  let bytes = hours.reduce((sum, [, of]) => sum + of, 0);
  const expired: number[] = [];
  for (const [hourMs, of] of hours) {
    if (hourMs >= recordedSince({ nowMs, retentionMs }) && bytes <= bytesMax) break;
    bytes -= of;
    expired.push(hourMs);
  }
  return expired;
}

/** Removes a file, and its folders if that leaves them empty. */
export function unlinkFile(path: string): void {
  rmSync(path, { force: true });
  // rmdirSync fails for a folder that is not empty.
  for (const folder of [dirname(path), dirname(dirname(path))]) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}

function keyOf(topic: HistoryTopic, hourMs: number): string {
  return `${topic} ${hourMs}`;
}

function spanOf(parts: readonly PartName[]): readonly [first: number, last: number] {
  return [Math.min(...parts.map(({ first }) => first)), Math.max(...parts.map(({ last }) => last))];
}

function fileAt(path: string, part: PartName, rows: number): HistoryFile {
  const { size, mtimeMs } = statSync(path);
  return { ...part, path, rows, bytes: size, writtenMs: mtimeMs };
}

/** Syncs a file, or the entries of a folder, to disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } catch (error) {
    // Some systems cannot sync a folder.
    if (!['EISDIR', 'EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(file);
  }
}

/** Returns the paths of all files below a folder, relative to it. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

const DAY_MS = 86_400_000;
/** A clock that steps ahead further than this is not trusted for a day. */
const AHEAD_MS = 3_600_000;

interface ExpiryClockDeps {
  /** Monotonic time in milliseconds. */
  elapsed(): number;
  /** Called when the wall clock has stepped ahead. */
  steppedAhead(): void;
}

/**
 * Decides whether the wall clock can be trusted for expiry. A clock that has stepped far ahead may be wrong, and
 * removed files cannot be restored, so nothing expires for a day.
 */
export class ExpiryClock {
  readonly #deps: ExpiryClockDeps;
  #last: { readonly nowMs: number; readonly elapsedMs: number } | undefined;
  #trustedFromMs = 0;

  constructor(deps: ExpiryClockDeps) {
    this.#deps = deps;
  }

  trusts(nowMs: number): boolean {
    const elapsedMs = this.#deps.elapsed();
    const last = this.#last;
    this.#last = { nowMs, elapsedMs };
    if (last !== undefined && nowMs - last.nowMs - (elapsedMs - last.elapsedMs) > AHEAD_MS) {
      this.#trustedFromMs = elapsedMs + DAY_MS;
      this.#deps.steppedAhead();
    }
    return elapsedMs >= this.#trustedFromMs;
  }
}
