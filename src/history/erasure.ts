import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectKind } from '../model/id.ts';
import type { HistoryTopic } from '../model/history.ts';
import { sync } from './files.ts';
import { between } from './queries/places.ts';
import type { Values } from './queries/sql.ts';

/**
 * A request to erase rows of an object. The recorder stores it in the folder `erasures` of the history before it rewrites
 * the first file, and removes it after the last one. A hub that was killed in between continues at its next start.
 */
export interface Erasure {
  /** UUID of the request. */
  readonly id: string;
  readonly kind: ObjectKind;
  /** Id of the object, as recorded. */
  readonly of: string;
  /** Span of the rows to erase, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Number of erased rows by topic. */
export type ErasedRows = Readonly<Record<HistoryTopic, number>>;

/** Result of an erasure at a hub. */
export interface Erased {
  readonly rows: ErasedRows;
  /** Files of the span that could not be read, so that they may still have rows of the object. */
  readonly damaged: number;
}

const FOLDER = 'erasures';
const [SUFFIX, WRITING] = ['.json', '.writing'] as const;

/** Returns the topics that may have rows of an object. */
export function erasedTopics({ kind }: Erasure): readonly HistoryTopic[] {
  return kind === 'trackable' ? ['motions', 'fence_events', 'collision_events'] : ['locations', 'fence_events'];
}

/**
 * Returns the SQL condition for the rows to erase: positions of the object, its fence events, and for a trackable all
 * events that name it.
 */
export function erasedWhere(topic: HistoryTopic, erasure: Erasure, values: Values): string {
  return `${between(erasure)} AND (${rowsOf(topic, erasure, values)})`;
}

function rowsOf(topic: HistoryTopic, { kind, of }: Erasure, values: Values): string {
  const id = values.text(of);
  if (topic === 'locations' || topic === 'motions') return `id = ${id}`;
  if (topic === 'collision_events') return `trackable_1 = ${id} OR trackable_2 = ${id}`;
  const own = `object_type = '${kind}' AND object_id = ${id}`;
  if (kind === 'provider') return own;
  // The column is a JSON list of strings, so the string with its quotation marks is a whole element.
  return `(${own}) OR trackable_id = ${id} OR contains(coalesce(trackables, ''), ${values.text(JSON.stringify(of))})`;
}

/** Stores a request durably. Throws if it cannot be written. */
export function storeErasure(folder: string, erasure: Erasure): void {
  const parent = join(folder, FOLDER);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const path = join(parent, erasure.id + SUFFIX);
  writeFileSync(path + WRITING, JSON.stringify(erasure), { mode: 0o600 });
  sync(path + WRITING);
  renameSync(path + WRITING, path);
  sync(parent);
  sync(folder);
}

/** Removes a request that is done. */
export function removeErasure(folder: string, { id }: Erasure): void {
  rmSync(join(folder, FOLDER, id + SUFFIX), { force: true });
}

/** Returns the requests that are not done, and removes those that were never stored completely. */
export function pendingErasures(folder: string): readonly Erasure[] {
  const parent = join(folder, FOLDER);
  if (!existsSync(parent)) return [];
  const pending: Erasure[] = [];
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (name.endsWith(SUFFIX)) pending.push(JSON.parse(readFileSync(path, 'utf8')) as Erasure);
    else if (name.endsWith(WRITING)) rmSync(path, { force: true });
  }
  return pending;
}
