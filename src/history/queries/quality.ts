import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { DEGREE_METERS, inSquares } from './heatmap.ts';
import { between, inArea } from './places.ts';
import type { AnswerContent, QualityQuery } from './query.ts';
import { num } from './sql.ts';

/**
 * Returns the quality of positions in each cell of a grid: their number and median accuracy, the gaps that begin there,
 * and the jumps that end there. A gap is longer than `max_gap` between two fixes of an object. A jump is faster than
 * `max_speed` since the previous fix; two fixes with the same time at different positions are one as well. Only fixes
 * in the span count.
 */
export async function quality(duck: Duck, files: readonly HistoryFile[], asked: QualityQuery): Promise<AnswerContent> {
  const { fromMs, toMs, maxGapMs, maxSpeed, cellMeters } = asked;
  const order = 'PARTITION BY id ORDER BY time, received, longitude, latitude';
  const east = '((longitude - last_lon + 540) % 360 - 180) * cos(radians((latitude + last_lat) / 2))';
  const meters = `${DEGREE_METERS} * sqrt(pow(latitude - last_lat, 2) + pow(${east}, 2))`;
  const rows =
    `WITH own AS (SELECT longitude, latitude, floor, accuracy, epoch_us(time) AS us,` +
    ` lead(epoch_us(time)) OVER own_fixes AS next_us, lag(epoch_us(time)) OVER own_fixes AS last_us,` +
    ` lag(longitude) OVER own_fixes AS last_lon, lag(latitude) OVER own_fixes AS last_lat` +
    ` FROM ${parquet(files)} WHERE ${between(asked)} WINDOW own_fixes AS (${order}))` +
    ` SELECT longitude, latitude, accuracy, coalesce(next_us - us > ${1000 * maxGapMs}, false) AS is_gap,` +
    // A centimeter is the precision of the coordinates, not a movement.
    ` coalesce(${meters} > greatest(0.01, ${num(maxSpeed)} * (us - last_us) / 1e6), false) AS is_jump` +
    ` FROM own WHERE ${inArea(asked, '')}`;
  const cells = await inSquares(duck, {
    rows,
    cellMeters,
    sums:
      'count(*) AS positions, median(accuracy) AS accuracy,' +
      ' count(*) FILTER (is_gap) AS gaps, count(*) FILTER (is_jump) AS jumps',
  });
  const body = {
    from: formatTime(fromMs),
    to: formatTime(toMs),
    cell_metres: cellMeters,
    cells: cells.map(({ longitude, latitude, sums: { positions, accuracy, gaps, jumps } }) => ({
      ...{ longitude, latitude, positions: Number(positions), gaps: Number(gaps), jumps: Number(jumps) },
      accuracy: accuracy === null ? null : Math.round(Number(accuracy) * 1e4) / 1e4,
    })),
  };
  return { text: JSON.stringify(body), next: undefined };
}
