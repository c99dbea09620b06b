import { problemOf } from '../../problem.ts';
import { cellAt, centerOf } from '../../../wasm/h3.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { type LastFixesNeeded, lastFixes } from './last_fixes.ts';
import { between, inArea } from './places.ts';
import { EVER, type HeatmapQuery, type Span, type AnswerContent, Unanswerable } from './query.ts';
import { filesOf } from './spans.ts';
import { microseconds } from './sql.ts';

const CELLS_MAX = 50_000;
/** Resolution at which positions are aggregated before they are assigned to H3 cells: about 0.1 m. */
const DEGREES = 1e-6;
const SPOTS_MAX = 2_000_000;
/** Meters per degree on a sphere with the mean radius of the earth. The height of a cell is exact to 0.3 %. */
export const DEGREE_METERS = (6_371_008.8 * Math.PI) / 180;

/**
 * Returns the seconds that objects spent in each cell of a grid. A fix counts from its time until the next fix of its
 * object, but at most `max_gap`; the last fix of an object does not count. Each span counts only its overlap with that
 * time, so the results of adjacent spans add up to that of the whole.
 */
export async function heatmap(duck: Duck, files: readonly HistoryFile[], asked: HeatmapQuery): Promise<AnswerContent> {
  const stays = await staysOf(duck, files, asked);
  return asked.grid === 'h3' ? inH3(duck, stays, asked) : inMeters(duck, stays, asked);
}

/** Returns the objects whose result depends on whether they have a later fix than those around the span. */
export async function soughtByHeatmap(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: HeatmapQuery,
): Promise<readonly LastFixesNeeded[]> {
  const rows = await duck.rows(silentAfter(files, asked));
  return [{ topic: asked.whose, fromMs: around(asked).toMs, ids: rows.map(({ id }) => String(id)) }];
}

/** Returns the span extended by the fixes that count for it and their successors. */
function around({ fromMs, toMs, maxGapMs }: HeatmapQuery): Span {
  return { fromMs: fromMs - maxGapMs, toMs: toMs + maxGapMs };
}

/** Returns a query for the `id` of objects whose last fix around the span is before its end. */
function silentAfter(files: readonly HistoryFile[], asked: HeatmapQuery): string {
  const own = parquet(filesOf(files, asked.whose, around(asked)));
  return (
    `SELECT id FROM ${own} WHERE ${between(around(asked))}` +
    ` GROUP BY id HAVING max(time) < ${microseconds(asked.toMs)}`
  );
}

/** Returns a query for the `longitude`, `latitude` and `seconds` of the fixes that count for a span and an area. */
async function staysOf(duck: Duck, files: readonly HistoryFile[], asked: HeatmapQuery): Promise<string> {
  const { whose, fromMs, toMs, maxGapMs } = asked;
  const own = parquet(filesOf(files, whose, around(asked)));
  const later = filesOf(files, whose, { fromMs: around(asked).toMs, toMs: EVER.toMs });
  const ids = later.length === 0 ? `SELECT '' AS id WHERE false` : silentAfter(files, asked);
  const last = await lastFixes(duck, later, { ids });
  const [fromUs, toUs] = [Math.round(1000 * fromMs), Math.round(1000 * toMs)];
  const [start, end] = ['epoch_us(time)', `least(epoch_us(next), epoch_us(time) + ${1000 * maxGapMs})`] as const;
  const overlap = `least(${end}, ${toUs}) - greatest(${start}, ${fromUs})`;
  return (
    `WITH own AS (SELECT id, time, longitude, latitude, floor,` +
    ` lead(time) OVER (PARTITION BY id ORDER BY time, received, longitude, latitude) AS next` +
    ` FROM ${own} WHERE ${between(around(asked))}),` +
    ` followed AS (SELECT own.* REPLACE (coalesce(own.next, last.time) AS next)` +
    ` FROM own LEFT JOIN ${last} last ON own.next IS NULL AND own.id = last.id AND last.time > own.time)` +
    ` SELECT longitude, latitude, (${overlap}) / 1e6 AS seconds FROM followed` +
    ` WHERE next > time AND ${start} < ${toUs} AND ${end} > ${fromUs} AND ${inArea(asked, '')}`
  );
}

/**
 * Height of a latitude band, 0.1°, in meters. All cells of a band are equally wide in degrees, so columns are straight
 * within it. The width of a cell is exact to 0.1 % at 50° of latitude.
 */
const BAND_METERS = DEGREE_METERS / 10;

/** Returns the latitude at which the cells of a row are square: the middle of its band. */
function bandLatitude(up: number, cellMeters: number): number {
  const band = Math.floor(((up + 0.5) * cellMeters) / BAND_METERS);
  return Math.max(-90, Math.min(90, ((band + 0.5) * BAND_METERS) / DEGREE_METERS));
}

async function inMeters(duck: Duck, stays: string, asked: HeatmapQuery): Promise<AnswerContent> {
  const { cellMeters } = asked;
  const squares = await inSquares(duck, { rows: stays, cellMeters, sums: 'sum(seconds) AS seconds' });
  const cells = squares.map(({ sums, ...center }) => ({ ...center, seconds: Number(sums['seconds']) }));
  return contentOf(asked, { grid: 'metres', cell_metres: cellMeters, cells });
}

/** Rows to sum up by cells. */
interface Squares {
  /** A query for rows with `longitude` and `latitude`. */
  readonly rows: string;
  readonly cellMeters: number;
  /** Aggregates of the rows of a cell, as a list of expressions with names. */
  readonly sums: string;
}

interface Square {
  /** Degrees of its center. */
  readonly longitude: number;
  readonly latitude: number;
  readonly sums: Readonly<Record<string, unknown>>;
}

/**
 * Assigns rows to square cells. Cells are counted from the equator and the prime meridian, so they do not depend on
 * the rows. Rejects with Unanswerable if there are too many cells.
 */
export async function inSquares(duck: Duck, { rows: of, cellMeters, sums }: Squares): Promise<readonly Square[]> {
  const band = `floor((up + 0.5) * ${cellMeters} / ${BAND_METERS})`;
  const middle = `greatest(-90, least(90, (${band} + 0.5) * ${BAND_METERS} / ${DEGREE_METERS}))`;
  const rows = await duck.rows(
    `WITH inRows AS (SELECT *, floor(latitude * ${DEGREE_METERS} / ${cellMeters})::BIGINT AS up FROM (${of})),` +
      ` inCells AS (SELECT *, floor(longitude * ${DEGREE_METERS} * cos(radians(${middle})) / ${cellMeters})::BIGINT AS across FROM inRows)` +
      ` SELECT across, up, ${sums} FROM inCells GROUP BY across, up ORDER BY up, across LIMIT ${CELLS_MAX + 1}`,
  );
  if (rows.length > CELLS_MAX)
    throw new Unanswerable(problemOf('cell_too_small', { path: 'cell', minimum: cellMeters, limit: CELLS_MAX }));
  return rows.map(({ across, up, ...sums }) => {
    const meters = DEGREE_METERS * Math.cos((bandLatitude(Number(up), cellMeters) * Math.PI) / 180);
    return {
      longitude: degrees(((Number(across) + 0.5) * cellMeters) / meters),
      latitude: degrees(((Number(up) + 0.5) * cellMeters) / DEGREE_METERS),
      sums,
    };
  });
}

async function inH3(duck: Duck, stays: string, asked: HeatmapQuery): Promise<AnswerContent> {
  const { resolution } = asked;
  const columns = await duck.columns(
    `SELECT round(longitude / ${DEGREES}) * ${DEGREES} AS lon, round(latitude / ${DEGREES}) * ${DEGREES} AS lat,` +
      ` sum(seconds) AS seconds FROM (${stays}) GROUP BY ALL LIMIT ${SPOTS_MAX + 1}`,
  );
  const [lons, lats, seconds] = [columns.lon, columns.lat, columns.seconds] as readonly (readonly number[])[];
  if ((lons?.length ?? 0) > SPOTS_MAX)
    throw new Unanswerable(problemOf('bbox_too_large', { path: 'bbox', limit: CELLS_MAX }));
  const sums = new Map<string, number>();
  for (let i = 0; i < (lons?.length ?? 0); i++) {
    const cell = cellAt({ lon: lons?.[i] as number, lat: lats?.[i] as number }, resolution);
    sums.set(cell, (sums.get(cell) ?? 0) + (seconds?.[i] as number));
  }
  if (sums.size > CELLS_MAX)
    throw new Unanswerable(
      problemOf('resolution_too_high', { path: 'resolution', maximum: resolution, limit: CELLS_MAX }),
    );
  const cells = [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([h3, sum]) => {
      const { lon, lat } = centerOf(h3);
      return { longitude: degrees(lon), latitude: degrees(lat), h3, seconds: sum };
    });
  return contentOf(asked, { grid: 'h3', resolution, cells });
}

function degrees(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function contentOf({ fromMs, toMs }: HeatmapQuery, rest: object): AnswerContent {
  return { text: JSON.stringify({ from: formatTime(fromMs), to: formatTime(toMs), ...rest }), next: undefined };
}
