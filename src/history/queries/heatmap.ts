import { cellAt, centreOf } from '../../../wasm/h3.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { between, inArea } from './places.ts';
import { type HeatmapAsked, type Told, Unanswerable } from './question.ts';

const CELLS_MAX = 50_000;
/** Places that are told apart before they are put into cells of H3: some 0.1 m. */
const DEGREES = 1e-6;
const SPOTS_MAX = 2_000_000;
/** Metres of a degree on a sphere of the earth's mean radius: a cell is as large as its name says to a third of a hundred. */
const DEGREE_METRES = (6_371_008.8 * Math.PI) / 180;

/** Seconds that objects were in each cell of a grid: each place counts until the next one of its object. */
export async function heatmap(duck: Duck, files: readonly HistoryFile[], asked: HeatmapAsked): Promise<Told> {
  return asked.grid === 'h3' ? inH3(duck, files, asked) : inMetres(duck, files, asked);
}

/** Places with how long each counts, in seconds. */
function stays(files: readonly HistoryFile[], asked: HeatmapAsked): string {
  const gap = `least(${asked.maxGapMs}, coalesce(date_diff('microsecond', time, lead(time) OVER (PARTITION BY id ORDER BY time)) / 1000, 0))`;
  return (
    `SELECT longitude, latitude, seconds FROM (SELECT longitude, latitude, floor, ${gap} / 1000 AS seconds` +
    ` FROM ${parquet(files)} WHERE ${between(asked)}) WHERE seconds > 0 AND ${inArea(asked, '')}`
  );
}

async function inMetres(duck: Duck, files: readonly HistoryFile[], asked: HeatmapAsked): Promise<Told> {
  const { cellMetres } = asked;
  const rows = await duck.rows(
    `WITH stays AS (${stays(files, asked)}), middle AS (SELECT median(latitude) AS lat FROM stays)` +
      ` SELECT floor(longitude * ${DEGREE_METRES} * cos(radians(lat)) / ${cellMetres})::BIGINT AS across,` +
      ` floor(latitude * ${DEGREE_METRES} / ${cellMetres})::BIGINT AS up, any_value(lat) AS lat, sum(seconds) AS seconds` +
      ` FROM stays, middle GROUP BY ALL ORDER BY up, across LIMIT ${CELLS_MAX + 1}`,
  );
  if (rows.length > CELLS_MAX) throw tooMany(`cell: must be greater than ${cellMetres}`);
  const cells = rows.map(({ across, up, lat, seconds }) => {
    const metres = DEGREE_METRES * Math.cos((Number(lat) * Math.PI) / 180);
    return {
      longitude: degrees(((Number(across) + 0.5) * cellMetres) / metres),
      latitude: degrees(((Number(up) + 0.5) * cellMetres) / DEGREE_METRES),
      seconds: Number(seconds),
    };
  });
  return told(asked, { grid: 'metres', cell_metres: cellMetres, cells });
}

async function inH3(duck: Duck, files: readonly HistoryFile[], asked: HeatmapAsked): Promise<Told> {
  const { resolution } = asked;
  const columns = await duck.columns(
    `SELECT round(longitude / ${DEGREES}) * ${DEGREES} AS lon, round(latitude / ${DEGREES}) * ${DEGREES} AS lat,` +
      ` sum(seconds) AS seconds FROM (${stays(files, asked)}) GROUP BY ALL LIMIT ${SPOTS_MAX + 1}`,
  );
  const [lons, lats, seconds] = [columns.lon, columns.lat, columns.seconds] as readonly (readonly number[])[];
  if ((lons?.length ?? 0) > SPOTS_MAX) throw tooMany('bbox: must be smaller');
  const sums = new Map<string, number>();
  for (let i = 0; i < (lons?.length ?? 0); i++) {
    const cell = cellAt({ lon: lons?.[i] as number, lat: lats?.[i] as number }, resolution);
    sums.set(cell, (sums.get(cell) ?? 0) + (seconds?.[i] as number));
  }
  if (sums.size > CELLS_MAX) throw tooMany(`resolution: must be less than ${resolution}`);
  const cells = [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([h3, sum]) => {
      const { lon, lat } = centreOf(h3);
      return { longitude: degrees(lon), latitude: degrees(lat), h3, seconds: sum };
    });
  return told(asked, { grid: 'h3', resolution, cells });
}

function degrees(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function tooMany(what: string): Unanswerable {
  return new Unanswerable(`${what}, or the span or the area smaller: there are more than ${CELLS_MAX} cells`);
}

function told({ fromMs, toMs }: HeatmapAsked, rest: object): Told {
  return { text: JSON.stringify({ from: formatTime(fromMs), to: formatTime(toMs), ...rest }), next: undefined };
}
