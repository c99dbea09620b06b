import { crossingsText } from '../../model/crossings_text.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { between } from './places.ts';
import type { AnswerContent, CrossingsQuery } from './query.ts';
import { Values } from './sql.ts';

/** Returns the crossings of a gate by direction, also of each step that has any. Each object counts once. */
export async function crossings(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: CrossingsQuery,
): Promise<AnswerContent> {
  const { fenceId, fromMs, stepMs } = asked;
  const values = new Values();
  const went = (direction: string) => `contains(event, '"hub.direction":"${direction}"')`;
  const rows = await duck.rows(
    `SELECT floor((epoch_us(time) - ${1000 * fromMs}) / ${1000 * stepMs})::BIGINT AS nth,` +
      ` count(*) FILTER (${went('left')})::INTEGER AS "left", count(*) FILTER (${went('right')})::INTEGER AS "right"` +
      ` FROM ${parquet(files)} WHERE ${between(asked)} AND fence_id = ${values.text(fenceId)}` +
      ` AND event_type = 'region_exit' AND entry_time = exit_time` +
      ` AND (object_type = 'trackable' OR coalesce(trackables, '[]') = '[]') GROUP BY nth ORDER BY nth`,
    values,
  );
  const steps = rows.map(({ nth, left, right }) => ({
    fromMs: fromMs + Number(nth) * stepMs,
    left: Number(left),
    right: Number(right),
  }));
  return { text: crossingsText(asked, steps), next: undefined };
}
