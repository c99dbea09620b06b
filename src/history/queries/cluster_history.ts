import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSentError, receivedError, type SentError, sentError, hubError, HubError } from '../../errors.ts';
import { hashOf, referredProperties, storeFenceProperties } from '../fence_properties.ts';
import type { HistoryFile } from '../files.ts';
import type { LastFixesNeeded } from './last_fixes.ts';
import type { HistoryAnswer, QueryPool } from './query_pool.ts';
import type { HistoryQuery } from './query.ts';
import { readSelections, type RowSelection } from './selection.ts';
import { selectionsOf, selectionsOfLastFixes } from './selections_of.ts';
import type { SharedFile } from './shared_rows.ts';

/** A file as sent over the bus. */
type SharedBytes = Omit<SharedFile, 'path' | 'references'> & { readonly bytes: Uint8Array };

/** Rows of a hub for another hub's query, as sent over the bus; or the problem if they are not available. */
type Shared =
  | {
      readonly files: readonly SharedBytes[];
      /** Long properties of fences to which events in these files refer, as JSON. */
      readonly properties: readonly string[];
    }
  | { readonly problem: SentError };

const QUERY = { operation: 'query_history' } as const;

interface ClusterHistoryDeps {
  readonly pool: Pick<QueryPool, 'ask'>;
  /** Folder of the history. It also contains temporary files with rows of other hubs. */
  readonly folder: string;
  /** Timeout for other hubs. */
  readonly timeoutMs: number;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Wall-clock time. */
  now(): number;
  /**
   * Queries the other hubs. `missing` are the hubs that did not answer, and those that left the cluster and have rows
   * not older than `sinceMs`.
   */
  askOthers(
    selections: string,
    sinceMs: number,
  ): Promise<{ readonly values: readonly unknown[]; readonly missing: readonly string[] }>;
}

/**
 * Maximum number of queries that collect rows concurrently. Each may briefly hold SHARED_BYTES_MAX per hub in memory.
 */
const GATHERING_MAX = 2;
/**
 * Maximum number of queries that wait to collect rows, and their timeout as a multiple of the query timeout, since slow
 * queries may precede them.
 */
const [WAITING_MAX, WAIT_TIMES] = [64, 2] as const;

/** Rows of other hubs for a query. */
interface OfOthers {
  readonly files: HistoryFile[];
  readonly missing: Set<string>;
}

/**
 * History of all hubs of a cluster. The queried hub answers from its own files and from rows that the other hubs select
 * for it (shared_rows.ts), so every hub gives the same answer.
 *
 * Some answers also depend on the last fixes of objects, which may be long after the span. The hub determines these
 * objects from the rows of all hubs, and queries the others for the last fixes of these objects only.
 */
export class ClusterHistory {
  readonly #deps: ClusterHistoryDeps;
  #gathering = 0;
  readonly #waiting: (() => void)[] = [];
  #lastFile = 0;

  /** Removes rows of other hubs that a crashed hub has left. */
  constructor(deps: ClusterHistoryDeps) {
    this.#deps = deps;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Like QueryPool.ask, for the history of all hubs. */
  async ask(question: HistoryQuery, gone?: AbortSignal): Promise<HistoryAnswer> {
    const { pool } = this.#deps;
    const others: OfOthers = { files: [], missing: new Set() };
    try {
      const hubs = await this.#collect(selectionsOf(question), others, gone);
      if (hubs > 0 && (question.ask === 'heatmap' || 'timeouts' in question)) {
        const { bytes } = await pool.ask({ ask: 'sought', of: question }, gone, others.files);
        const needed = JSON.parse(Buffer.from(bytes).toString()) as readonly LastFixesNeeded[];
        for (const selections of selectionsOfLastFixes(needed)) await this.#collect(selections, others, gone);
      }
      const answer = await pool.ask(question, gone, others.files);
      return others.missing.size === 0 ? answer : { ...answer, missingHubs: [...others.missing] };
    } finally {
      for (const { path } of others.files) rmSync(path, { force: true });
    }
  }

  /** Returns rows of this hub for another hub's query. Throws an Error if the selections are malformed. */
  async share(json: string): Promise<Shared> {
    const files: SharedBytes[] = [];
    try {
      const references = new Set<string>();
      for (const selection of readSelections(json)) {
        const { bytes } = await this.#deps.pool.ask({ ask: 'rows', selection, folder: this.#folder });
        for (const { path, references: own, ...file } of JSON.parse(Buffer.from(bytes).toString()) as SharedFile[]) {
          files.push({ ...file, bytes: taken(path) });
          for (const reference of own) references.add(reference);
        }
      }
      const properties = [...references].flatMap((each) => referredProperties(this.#deps.folder, each) ?? []);
      return { files, properties };
    } catch (error) {
      if (error instanceof HubError && error.code === 'HUB_BAD_REQUEST') return { problem: sentError(error) };
      throw error;
    }
  }

  get #folder(): string {
    return join(this.#deps.folder, '.shared');
  }

  /** Collects rows of the other hubs. Returns the number of hubs that answered. */
  async #collect(
    selections: readonly RowSelection[],
    others: OfOthers,
    gone: AbortSignal | undefined,
  ): Promise<number> {
    if (selections.length === 0) return 0;
    await this.#turn(gone);
    try {
      const sinceMs = Math.min(...selections.map(({ fromMs }) => fromMs));
      const { values, missing } = await this.#deps.askOthers(JSON.stringify(selections), sinceMs);
      for (const hub of missing) others.missing.add(hub);
      const problem = (values as readonly Shared[]).find((value) => 'problem' in value);
      if (problem !== undefined && 'problem' in problem) throw receivedError(problem.problem);
      for (const value of values as readonly Shared[]) others.files.push(...this.#filesOf(value));
      return values.length;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#gathering--;
      else next();
    }
  }

  /** Resolves when rows may be collected. Rejects if that takes too long, or if the client disconnects. */
  async #turn(gone: AbortSignal | undefined): Promise<void> {
    if (gone?.aborted === true) throw hubError('client_left', QUERY);
    if (this.#gathering < GATHERING_MAX) {
      this.#gathering++;
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      throw hubError('too_many_waiting', { ...QUERY, count: WAITING_MAX });
    }
    await new Promise<void>((resolve, reject) => {
      const end = (how: () => void): void => {
        callOff();
        gone?.removeEventListener('abort', leave);
        how();
      };
      // Called when another query has collected its rows and passes on its slot.
      const begin = (): void => end(resolve);
      const giveUp = (error: HubError): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        end(() => reject(error));
      };
      const leave = (): void => giveUp(hubError('client_left', QUERY));
      const waitMs = WAIT_TIMES * this.#deps.timeoutMs;
      const callOff = this.#deps.schedule(waitMs, () =>
        giveUp(hubError('cluster_queries_waiting', { limit: waitMs, factor: WAIT_TIMES })),
      );
      gone?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(begin);
    });
  }

  #filesOf(value: Shared): readonly HistoryFile[] {
    if (!('files' in value)) return [];
    const folder = this.#folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const nowMs = this.#deps.now();
    for (const json of value.properties) storeFenceProperties(this.#deps.folder, { hash: hashOf(json), json, nowMs });
    return value.files.map(({ topic, hourMs, rows, bytes }) => {
      const path = join(folder, `other-${++this.#lastFile}.parquet`);
      writeFileSync(path, bytes, { mode: 0o600 });
      return { topic, hourMs, rows, path, first: 0, last: 0, bytes: bytes.length, writtenMs: 0 };
    });
  }
}

/** Validates the answer of another hub. Returns the problem; undefined if it is well-formed. */
export function sharedProblem(value: unknown): string | undefined {
  const shared = value as {
    readonly files?: unknown;
    readonly problem?: unknown;
    readonly properties?: unknown;
  } | null;
  if (typeof shared !== 'object' || shared === null) return 'an object is needed';
  if (isSentError(shared.problem)) return undefined;
  if (!Array.isArray(shared.files)) return 'files must be a list';
  if (!Array.isArray(shared.properties) || !shared.properties.every((json) => typeof json === 'string')) {
    return 'properties must be a list of texts';
  }
  return shared.files.every(isFile) ? undefined : 'each file must have topic, hourMs, rows and bytes';
}

function isFile(file: Readonly<Record<string, unknown>>): boolean {
  return Number.isFinite(file.hourMs) && Number.isFinite(file.rows) && file.bytes instanceof Uint8Array;
}

function taken(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } finally {
    rmSync(path, { force: true });
  }
}
