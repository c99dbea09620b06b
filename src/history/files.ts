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

/** A file of the history. All of its rows are of the hour that begins at `hourMs`. */
export interface HistoryFile extends PartName {
  /** Absolute. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** When it was written, in milliseconds since 1970. */
  readonly writtenMs: number;
}

/** Files that stay where they are until they are released. */
export interface LeasedFiles {
  readonly lease: number;
  readonly files: readonly HistoryFile[];
  /** How many files of these hours cannot be read. */
  readonly damaged: number;
}

/** What is asked for: files of some topics, of hours that have a part of a span of time. */
export interface FilesWanted {
  readonly topics: readonly HistoryTopic[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether those are enough that are there; otherwise what waits is written first. */
  readonly asWritten?: true;
}

/** Where people and things are is nobody's business but that of the user who runs the hub. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600] as const;

/** An hour is over, or was written to late, when nothing came for so long. */
const QUIET_MS = 120_000;
/** So many files of an hour are merged that is not quiet, if they have fewer rows than so many. */
const [SMALL_FILES_MAX, SMALL_ROWS] = [24, 250_000] as const;
/** What is merged at once at most: meanwhile nothing else is written, and 1.6 µs go for a row. */
const [MERGED_ROWS_MAX, MERGED_BYTES_MAX] = [4_000_000, 256 << 20] as const;

/**
 * The files of the history, and who reads them. A file is written aside, synced, and then given its name, so whatever happens
 * a file is whole. What is not needed any more goes when nobody reads it.
 */
export class HistoryFiles {
  readonly #folder: string;
  /** By path. */
  readonly #files = new Map<string, HistoryFile>();
  readonly #leases = new Map<number, readonly string[]>();
  /** Paths of files that are to go, and are still read. */
  readonly #going = new Set<string>();
  readonly #damaged = new Map<string, HistoryFile>();
  #lastLease = 0;
  /** The number of the last file that was begun, by topic and hour. */
  readonly #lastNumber = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Finds what is there. `rowsOf` tells how many rows a file has, and throws for one that cannot be read; `damaged` hears of
   * it. Removes what a hub has left that died. Throws where the folder cannot be used.
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

  /** All files that can be read, in no order. */
  get all(): Iterable<HistoryFile> {
    return this.#files.values();
  }

  /** These, and those that cannot be read. */
  get onDisk(): readonly HistoryFile[] {
    return [...this.#files.values(), ...this.#damaged.values()];
  }

  /** Whether a file is there still, and can be read. */
  has({ path }: HistoryFile): boolean {
    return this.#files.has(path);
  }

  /** How many files could not be read. */
  get damagedCount(): number {
    return this.#damaged.size;
  }

  /**
   * Writes a file: `write` fills it at the path that it is given. `of`: files whose rows it has, which go then. Throws, and
   * leaves nothing behind, when it cannot be written.
   */
  async write(
    { topic, hourMs }: Pick<PartName, 'topic' | 'hourMs'>,
    { rows, of = [], write }: { rows: number; of?: readonly HistoryFile[]; write(path: string): Promise<void> },
  ): Promise<HistoryFile> {
    const key = keyOf(topic, hourMs);
    const number = (this.#lastNumber.get(key) ?? 0) + 1;
    const [first, last] = of.length === 0 ? [number, number] : spanOf(of);
    const part: PartName = { topic, hourMs, first, last };
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
      // Its rows are written again.
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

  /** A file that was read and found damaged. False where that was known, or it has gone. */
  damaged(path: string): boolean {
    const file = this.#files.get(path);
    if (file === undefined) return false;
    this.#files.delete(path);
    this.#damaged.set(path, file);
    return true;
  }

  /** Removes a file, as soon as nobody reads it. */
  remove(path: string): void {
    this.#files.delete(path);
    this.#damaged.delete(path);
    if ([...this.#leases.values()].some((paths) => paths.includes(path))) this.#going.add(path);
    else unlinkFile(path);
  }

  /** Removes all files of an hour. */
  removeHour(hourMs: number): void {
    for (const file of this.onDisk) if (file.hourMs === hourMs) this.remove(file.path);
    // The name of a file that is still read is not given again.
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

/** The files below a folder, without those whose rows are in others of them too. Changes nothing. Throws where it cannot be read. */
export function filesFound(folder: string): readonly (PartName & { readonly path: string })[] {
  const parts = filesBelow(folder)
    .map(partAt)
    .filter((part) => part !== undefined && part !== 'unfinished');
  return parts
    .filter((part) => !parts.some((other) => covers(other, part)))
    .map((part) => ({ ...part, path: join(folder, pathOf(part)) }));
}

/**
 * Files of one topic and hour each, one behind the other, that are to be one. Of an hour for which nothing comes any more all
 * are, as many as can be; else the last ones that are small, when there are many.
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

/** Files whose numbers follow each other, cut where they get too large to be one: those that are two at least. */
function runsOf(files: readonly HistoryFile[]): readonly (readonly HistoryFile[])[] {
  const runs: HistoryFile[][] = [];
  let run: HistoryFile[] = [];
  let [rows, bytes] = [0, 0];
  for (const file of files) {
    rows += file.rows;
    bytes += file.bytes;
    // Between two that do not follow each other there may be one that is damaged, which the other's name would cover.
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

/** Hours whose files are to go: earlier ones than are kept, and then the earliest until the rest fits. */
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

/** Removes a file, and its folders where it was the last in them. */
export function unlinkFile(path: string): void {
  rmSync(path, { force: true });
  // A folder that is not empty stays.
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

/** What was written there is on the disk when this returns, or the names in a folder are. */
function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } catch (error) {
    // Not every system can sync a folder.
    if (!['EISDIR', 'EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(file);
  }
}

/** Paths of all files below a folder, relative to it. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
