import { cellAt, centerOf } from '../../../wasm/h3.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { type LastFixesNeeded, lastFixes } from './last_fixes.ts';
import { between, inArea } from './places.ts';
import { EVER, type HeatmapAsked, type Span, type Told, Unanswerable } from './question.ts';
import { filesOf } from './spans.ts';
import { microseconds } from './sql.ts';

const CELLS_MAX = 50_000;
/** Places that are told apart before they are put into cells of H3: some 0.1 m. */
const DEGREES = 1e-6;
const SPOTS_MAX = 2_000_000;
/** Metres of a degree on a sphere of the earth's mean radius: a cell is as high as its name says to a third of a hundredth. */
const DEGREE_METRES = (6_371_008.8 * Math.PI) / 180;

/**
 * The seconds that objects spent in each cell of a grid. A fix counts from its time until the next fix of its object, and
 * for `max_gap` at most; the last fix of an object counts for nothing. What counts for a span is the overlap with it, so
 * the sums of adjacent spans are those of the whole.
 */
export async function heatmap(duck: Duck, files: readonly HistoryFile[], asked: HeatmapAsked): Promise<Told> {
  const stays = await staysOf(duck, files, asked);
  return asked.grid === 'h3' ? inH3(duck, stays, asked) : inMetres(duck, stays, asked);
}

/** The objects of which it matters whether they have a fix later than those around the span. */
export async function soughtByHeatmap(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: HeatmapAsked,
): Promise<readonly LastFixesNeeded[]> {
  const rows = await duck.rows(silentAfter(files, asked));
  return [{ topic: asked.whose, fromMs: around(asked).toMs, ids: rows.map(({ id }) => String(id)) }];
}

/** The span with the fixes that count for it, and those that follow them. */
function around({ fromMs, toMs, maxGapMs }: HeatmapAsked): Span {
  return { fromMs: fromMs - maxGapMs, toMs: toMs + maxGapMs };
}

/** A query for the `id` of objects whose last fix around the span is before its end. */
function silentAfter(files: readonly HistoryFile[], asked: HeatmapAsked): string {
  const own = parquet(filesOf(files, asked.whose, around(asked)));
  return (
    `SELECT id FROM ${own} WHERE ${between(around(asked))}` +
    ` GROUP BY id HAVING max(time) < ${microseconds(asked.toMs)}`
  );
}

/** A query for the `longitude`, `latitude` and `seconds` of the fixes that count for a span and an area. */
async function staysOf(duck: Duck, files: readonly HistoryFile[], asked: HeatmapAsked): Promise<string> {
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
 * Latitudes that share one width of cells, in metres: 0.1°. Columns of cells are straight within a band, and cells are as wide
 * as their name says to 0.1 % at 50° of latitude.
 */
const BAND_METRES = DEGREE_METRES / 10;

/** The latitude by which the cells of a row are as wide as they are high: that of the middle of its band. */
function bandLatitude(up: number, cellMetres: number): number {
  const band = Math.floor(((up + 0.5) * cellMetres) / BAND_METRES);
  return Math.max(-90, Math.min(90, ((band + 0.5) * BAND_METRES) / DEGREE_METRES));
}

/** Squares that are counted from the equator and the meridian of Greenwich, whatever the fixes are. */
async function inMetres(duck: Duck, stays: string, asked: HeatmapAsked): Promise<Told> {
  const { cellMetres } = asked;
  const band = `floor((up + 0.5) * ${cellMetres} / ${BAND_METRES})`;
  const middle = `greatest(-90, least(90, (${band} + 0.5) * ${BAND_METRES} / ${DEGREE_METRES}))`;
  const rows = await duck.rows(
    `WITH inRows AS (SELECT longitude, seconds, floor(latitude * ${DEGREE_METRES} / ${cellMetres})::BIGINT AS up FROM (${stays}))` +
      ` SELECT floor(longitude * ${DEGREE_METRES} * cos(radians(${middle})) / ${cellMetres})::BIGINT AS across, up,` +
      ` sum(seconds) AS seconds FROM inRows GROUP BY ALL ORDER BY up, across LIMIT ${CELLS_MAX + 1}`,
  );
  if (rows.length > CELLS_MAX) throw tooMany(`cell: must be greater than ${cellMetres}`);
  const cells = rows.map(({ across, up, seconds }) => {
    const metres = DEGREE_METRES * Math.cos((bandLatitude(Number(up), cellMetres) * Math.PI) / 180);
    return {
      longitude: degrees(((Number(across) + 0.5) * cellMetres) / metres),
      latitude: degrees(((Number(up) + 0.5) * cellMetres) / DEGREE_METRES),
      seconds: Number(seconds),
    };
  });
  return told(asked, { grid: 'metres', cell_metres: cellMetres, cells });
}

async function inH3(duck: Duck, stays: string, asked: HeatmapAsked): Promise<Told> {
  const { resolution } = asked;
  const columns = await duck.columns(
    `SELECT round(longitude / ${DEGREES}) * ${DEGREES} AS lon, round(latitude / ${DEGREES}) * ${DEGREES} AS lat,` +
      ` sum(seconds) AS seconds FROM (${stays}) GROUP BY ALL LIMIT ${SPOTS_MAX + 1}`,
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
      const { lon, lat } = centerOf(h3);
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
