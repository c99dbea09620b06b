import { problemOf } from '../../problem.ts';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { COLUMNS, copyQuicklyTo, inOrder } from '../columns.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { HOUR_MS } from '../layout.ts';
import { lastFixes } from './last_fixes.ts';
import { between, inArea, stepOf } from './places.ts';
import { type AnswerContent, Unanswerable } from './query.ts';
import type { SharedRowsQuery, RowSelection } from './selection.ts';
import { microseconds, num, Values } from './sql.ts';

/** A file with selected rows of one hour. */
export interface SharedFile extends Pick<HistoryFile, 'topic' | 'hourMs' | 'rows' | 'path'> {
  /** Long properties to which events in the file refer (fence_properties.ts). */
  readonly references: readonly string[];
}

/** Maximum bytes of one hub's rows for a query. */
export const SHARED_BYTES_MAX = 48 << 20;
/** Columns that are needed only for lists of events. */
const WHOLE = ['properties', 'event'] as const;
let lastFile = 0;

/** Writes the selected rows to one file per hour. The answer is a list of SharedFile as JSON. */
export async function sharedRows(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: SharedRowsQuery,
): Promise<AnswerContent> {
  const { selection, folder } = asked;
  const { topic } = selection;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made: SharedFile[] = [];
  try {
    const values = new Values();
    const rowsOf = selection.keep === 'latest' ? latest : selected;
    await duck.run(
      `CREATE OR REPLACE TEMP TABLE shared AS ${await rowsOf(selection, { duck, files, values })}`,
      values,
    );
    const hour = `epoch_ms(time) // ${HOUR_MS}`;
    const hours = await duck.rows(`SELECT ${hour} AS hour, count(*)::INTEGER AS rows FROM shared GROUP BY ALL`);
    let bytes = 0;
    for (const { hour: number, rows } of hours) {
      const path = join(folder, `shared-${threadId}-${++lastFile}.parquet`);
      const references = await referencesIn(duck, selection, `${hour} = ${number}`);
      made.push({ topic, hourMs: Number(number) * HOUR_MS, rows: Number(rows), path, references });
      await duck.run(copyQuicklyTo(path, inOrder(topic, `(FROM shared WHERE ${hour} = ${number})`)));
      bytes += statSync(path).size;
      if (bytes > SHARED_BYTES_MAX) {
        const limit = SHARED_BYTES_MAX >> 20;
        throw new Unanswerable(problemOf('span_too_long_between_hubs', { path: 'from, to', limit }));
      }
    }
    return { text: JSON.stringify(made), next: undefined };
  } catch (error) {
    for (const { path } of made) rmSync(path, { force: true });
    throw error;
  } finally {
    await duck.run('DROP TABLE IF EXISTS shared').catch(() => undefined);
  }
}

async function referencesIn(duck: Duck, { topic, isWhole }: RowSelection, where: string): Promise<readonly string[]> {
  if (!isWhole || topic !== 'fence_events') return [];
  const rows = await duck.rows(
    `SELECT DISTINCT properties FROM shared WHERE ${where} AND starts_with(properties, '{"sha256":')`,
  );
  return rows.map(({ properties }) => String(properties));
}

interface Selecting {
  readonly duck: Duck;
  readonly files: readonly HistoryFile[];
  readonly values: Values;
}

/** Selects the latest positions of some objects, with only the columns that lastFixes uses. */
async function latest({ topic, fromMs, id = [] }: RowSelection, { duck, files }: Selecting): Promise<string> {
  const sought = new Values();
  const table = await lastFixes(duck, files, {
    ids: `SELECT unnest(${sought.array(id)}) AS id`,
    values: sought,
  });
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) =>
    name === 'id' || name === 'time' || name === 'provider_id' ? name : `NULL::${type} AS ${name}`,
  );
  return `SELECT ${columns.join()} FROM ${table} WHERE time >= ${microseconds(fromMs)}`;
}

function selected(selection: RowSelection, { files, values }: Selecting): string {
  const { topic, isWhole, keep, stepMs, count, entryBeforeMs } = selection;
  const left = Object.keys(COLUMNS[topic]).filter((name) => !isWhole && WHOLE.some((whole) => whole === name));
  const columns = left.length === 0 ? '*' : `* REPLACE (${left.map((name) => `NULL::VARCHAR AS ${name}`).join()})`;
  const rows = `SELECT ${columns} FROM ${parquet(files)} WHERE ${conditions(selection, values).join(' AND ')}`;
  const limit = count === undefined ? '' : ` LIMIT ${count}`;
  switch (keep) {
    case 'all':
    case 'latest':
      return rows;
    case 'any':
      return `${rows} LIMIT 1`;
    case 'first':
      return `${rows} ORDER BY time, id${limit}`;
    case 'last': {
      const step = stepMs === undefined ? '' : `, ${stepOf(selection.fromMs, stepMs)}`;
      const isLast = `row_number() OVER (PARTITION BY id${step} ORDER BY time DESC) = 1`;
      return `${rows} QUALIFY ${isLast} ORDER BY id, time${limit}`;
    }
    case 'extremes': {
      const orders = ['time', 'time DESC', 'longitude', 'longitude DESC', 'latitude', 'latitude DESC'];
      const isFirst = (order: string) => `row_number() OVER (PARTITION BY id ORDER BY ${order}) = 1`;
      return `${rows} QUALIFY ${[...orders, `(${boxOf(selection)}) DESC`].map(isFirst).join(' OR ')}`;
    }
    case 'visits': {
      const latestEntry =
        'row_number() OVER (PARTITION BY fence_id, object_type, object_id ORDER BY entry_time DESC) = 1';
      return `${rows} QUALIFY entry_time < ${microseconds(entryBeforeMs ?? 0)} OR ${latestEntry}`;
    }
  }
}

/** Columns by which rows can be selected. */
const LISTED = [
  ...(['id', 'fence_id', 'trackable_id', 'provider_id', 'object_id', 'object_type'] as const),
  ...(['event_type', 'collision_type'] as const),
] as const;

function conditions(selection: RowSelection, values: Values): readonly string[] {
  const { sinceUs, after, bbox, floor, keep, trackables } = selection;
  const found = [between(selection)];
  for (const column of LISTED) {
    const list = selection[column];
    if (list !== undefined) found.push(`${column} IN ${values.list(list)}`);
  }
  if (trackables !== undefined) {
    found.push(`(trackable_1 IN ${values.list(trackables)} OR trackable_2 IN ${values.list(trackables)})`);
  }
  if (sinceUs !== undefined) found.push(`time >= make_timestamptz(${sinceUs})`);
  if (after !== undefined) {
    const [id, time] = [values.text(after.id), after.us === undefined ? undefined : `make_timestamptz(${after.us})`];
    if (time === undefined) found.push(`id > ${id}`);
    else if (keep === 'first') found.push(`(time, id) > (${time}, ${id})`);
    // The first condition is redundant, but lets DuckDB skip row groups.
    else found.push(`id >= ${id}`, `(id > ${id} OR time > ${time})`);
  }
  if (keep !== 'extremes') found.push(inArea({ bbox, floor }, ''));
  return found;
}

/** Returns the condition for rows in the box; `true` without a box. */
function boxOf({ bbox, low, high }: RowSelection): string {
  const height =
    low === undefined || high === undefined ? 'true' : `(z IS NULL OR z BETWEEN ${num(low)} AND ${num(high)})`;
  return `${inArea({ bbox, floor: undefined }, '')} AND ${height}`;
}
