import type { PositionTopic } from '../../core/history_rows.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { Values } from './sql.ts';

/** Temporary tables: the ids to search, and the last fix of each object found. */
const [SOUGHT, LAST_FIXES] = ['sought', 'last_fixes'] as const;

/** Objects whose last fix since a time affects an answer. */
export interface LastFixesNeeded {
  readonly topic: PositionTopic;
  readonly fromMs: number;
  readonly ids: readonly string[];
}

interface Sought {
  /** Statement that selects the ids of objects as `id`. */
  readonly ids: string;
  /** Parameters of that statement. */
  readonly values?: Values;
}

/**
 * Finds the last recorded fix of some objects. Returns the name of a temporary table with their `id`, `time` and
 * `provider_id`, without objects that have no fix in these files.
 *
 * Files are read backwards from the latest hour, in batches of doubling size, until every object is found. An object
 * that still moves is found in the last hour, whatever the span of the files.
 */
export async function lastFixes(duck: Duck, files: readonly HistoryFile[], { ids, values }: Sought): Promise<string> {
  await duck.run(`CREATE OR REPLACE TEMP TABLE ${SOUGHT} AS SELECT DISTINCT id FROM (${ids})`, values ?? new Values());
  await duck.run(`CREATE OR REPLACE TEMP TABLE ${LAST_FIXES}(id VARCHAR, time TIMESTAMPTZ, provider_id VARCHAR)`);
  const hours = [...Map.groupBy(files, ({ hourMs }) => hourMs)].sort(([a], [b]) => b - a).map(([, own]) => own);
  for (let at = 0; at < hours.length; at += Math.max(1, at)) {
    const [row] = await duck.rows(`SELECT count(*)::INTEGER AS left_over FROM ${SOUGHT}`);
    if (row?.left_over === 0) break;
    const some = hours.slice(at, at + Math.max(1, at)).flat();
    await duck.run(
      `INSERT INTO ${LAST_FIXES} SELECT id, max(time), arg_max(provider_id, time) FROM ${parquet(some)}` +
        ` WHERE id IN (SELECT id FROM ${SOUGHT}) GROUP BY id`,
    );
    await duck.run(`DELETE FROM ${SOUGHT} WHERE id IN (SELECT id FROM ${LAST_FIXES})`);
  }
  return LAST_FIXES;
}
