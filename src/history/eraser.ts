import { messageOf } from '../errors.ts';
import { HOUR_MS } from './layout.ts';
import { copyTo, inOrder } from './columns.ts';
import { damagedAmong, parquet } from './damaged.ts';
import type { Duck } from './duck.ts';
import {
  type Erased,
  type Erasure,
  erasedTopics,
  erasedWhere,
  pendingErasures,
  removeErasure,
  storeErasure,
} from './erasure.ts';
import type { HistoryFile, HistoryFiles } from './files.ts';
import { Values } from './queries/sql.ts';

interface EraserDeps {
  /** Folder of the history. */
  readonly folder: string;
  readonly files: HistoryFiles;
  /** The database of the recorder. Rejects if the folder is not usable. */
  open(): Promise<Duck>;
  /** Runs a task when all earlier tasks of the recorder are done. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Reports an unreadable file. */
  damaged(path: string, why: string): void;
  notice(text: string, facts: object, isGood?: boolean): void;
}

/**
 * Erases the rows of objects. Each file with such rows is replaced by a revision without them (layout.ts), in a task of
 * its own, so that buffered rows are written in between. A revision without rows remains as an empty file, by which the
 * copy in a database is erased too (postgres_copy.ts).
 *
 *     request stored ─▶ part-3.parquet ─▶ part-3.revision-1.parquet ─▶ part-3.parquet removed ─▶ … ─▶ request removed
 */
export class Eraser {
  readonly #deps: EraserDeps;
  /** Ids of the requests in progress. */
  readonly #running = new Set<string>();
  #isClosed = false;

  constructor(deps: EraserDeps) {
    this.#deps = deps;
  }

  /**
   * Stores the request, and resolves when no readable file has rows of the object. All buffered rows must have been
   * written. Once stored, the request is carried out even if this rejects: at the next `resume`, also after a crash.
   */
  erase(erasure: Erasure): Promise<Erased> {
    const { folder, inTurn } = this.#deps;
    return this.#run(erasure, async () => {
      await inTurn(async () => storeErasure(folder, erasure));
      return await this.#eraseAll(erasure);
    });
  }

  /** Continues requests that a crash or an error has interrupted. Never rejects. */
  async resume(): Promise<void> {
    const { folder, notice } = this.#deps;
    try {
      for (const erasure of pendingErasures(folder)) {
        if (this.#running.has(erasure.id)) continue;
        const { rows, damaged } = await this.#run(erasure, () => this.#eraseAll(erasure));
        notice('An interrupted erasure of the history is complete', { id: erasure.of, ...rows, damaged }, true);
      }
    } catch (error) {
      if (!this.#isClosed) notice('The history of an object cannot be erased yet', { error: messageOf(error) });
    }
  }

  /** Stops after the file in progress. Pending requests continue at the next start. */
  close(): void {
    this.#isClosed = true;
  }

  async #run({ id }: Erasure, work: () => Promise<Erased>): Promise<Erased> {
    this.#running.add(id);
    try {
      return await work();
    } finally {
      this.#running.delete(id);
    }
  }

  async #eraseAll(erasure: Erasure): Promise<Erased> {
    const { files, folder, inTurn } = this.#deps;
    const rows = { locations: 0, motions: 0, fence_events: 0, collision_events: 0 };
    const topics = erasedTopics(erasure);
    const inSpan = ({ topic, hourMs }: HistoryFile): boolean =>
      topics.includes(topic) && hourMs < erasure.toMs && hourMs + HOUR_MS > erasure.fromMs;
    // Merges replace files in between, and merged files may have rows of files that were not examined yet.
    const examined = new Set<string>();
    const unexamined = () => [...files.all].filter((file) => inSpan(file) && !examined.has(file.path));
    for (let next = unexamined(); next.length > 0; next = unexamined()) {
      for (const file of next) {
        examined.add(file.path);
        rows[file.topic] += await inTurn(() => this.#eraseFrom(file, erasure));
      }
    }
    removeErasure(folder, erasure);
    return { rows, damaged: files.onDisk.filter((file) => inSpan(file) && !files.has(file)).length };
  }

  /** Replaces a file by one without the rows of the object. Returns their number. */
  async #eraseFrom(file: HistoryFile, erasure: Erasure): Promise<number> {
    const { files, open, damaged } = this.#deps;
    if (this.#isClosed) throw new Error('The recorder is closing');
    if (!files.has(file)) return 0;
    const { topic } = file;
    const duck = await open();
    const values = new Values();
    const where = erasedWhere(topic, erasure, values);
    const table = parquet([file]);
    try {
      const [row] = await duck.rows(`SELECT count(*)::VARCHAR AS rows FROM ${table} WHERE ${where}`, values);
      const erased = Number(row?.['rows']);
      if (erased === 0) return 0;
      const rest = inOrder(topic, `(SELECT * FROM ${table} WHERE (${where}) IS NOT TRUE)`);
      await files.rewrite(file, { rows: file.rows - erased, write: (path) => duck.run(copyTo(path, rest), values) });
      return erased;
    } catch (error) {
      const [found] = await damagedAmong(duck, [file]);
      if (found === undefined) throw error;
      damaged(found.path, found.why);
      return 0;
    }
  }
}
