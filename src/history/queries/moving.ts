import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { cursorText } from './cursor.ts';
import { between } from './places.ts';
import { type BoundingBox, GAP_MS, type ObjectsQuery, type AnswerContent, type TrackQuery } from './query.ts';
import { microseconds, num, Values } from './sql.ts';

/**
 * History in the form of OGC API – Moving Features 1.0: objects as features, and their tracks as temporal geometries.
 */

/** Returns the objects that were in a box, by id, each with its first and last time in the span. */
export async function objects(duck: Duck, files: readonly HistoryFile[], asked: ObjectsQuery): Promise<AnswerContent> {
  const { whose, limit, cursor, only, box, href } = asked;
  const values = new Values();
  const within = [
    between(asked),
    ...(cursor === undefined ? [] : [`id > ${values.text(cursor.id)}`]),
    ...(only === undefined ? [] : [`id IN ${values.list(only)}`]),
  ];
  const having = box === undefined ? '' : ` HAVING bool_or(${inBox(box)})`;
  const rows = await duck.rows(
    `SELECT id, epoch_us(min(time)) AS first, epoch_us(max(time)) AS last, min(longitude) AS west, min(latitude) AS south,` +
      ` max(longitude) AS east, max(latitude) AS north FROM ${parquet(files)} WHERE ${within.join(' AND ')}` +
      ` GROUP BY id${having} ORDER BY id LIMIT ${limit + 1}`,
    values,
  );
  const shown = rows.slice(0, limit);
  const features = shown.map(({ id, first, last, west, south, east, north }) => ({
    ...{ type: 'Feature', id, geometry: null, properties: { kind: whose === 'motions' ? 'trackable' : 'provider' } },
    ...(west !== null && { bbox: [west, south, east, north] }),
    time: [timeOf(Number(first)), timeOf(Number(last))],
  }));
  const next = rows.length > limit ? cursorText('objects', { id: String(shown.at(-1)?.id) }) : undefined;
  const body = { type: 'FeatureCollection', features, ...linked(href, next), numberReturned: features.length };
  return { text: JSON.stringify(body), next };
}

/** A position on a track. */
interface Waypoint {
  readonly us: number;
  /** Longitude, latitude and the height if known. */
  readonly position: readonly number[];
}

/** Returns the track of an object: its positions, or interpolated positions at given times. */
export async function way(duck: Duck, files: readonly HistoryFile[], asked: TrackQuery): Promise<AnswerContent> {
  const { leafMs, endsMs, limit, cursor, box, href } = asked;
  const isBehind = ({ us }: Waypoint): boolean => cursor === undefined || us > Number(cursor.us);
  const found =
    leafMs === undefined
      ? await placesOf(duck, files, asked)
      : (await placesAt(duck, files, { asked, momentsMs: leafMs })).filter(isBehind);
  const lastUs = found.length > limit ? found[limit - 1]?.us : undefined;
  const next = lastUs === undefined ? undefined : cursorText('way', { us: String(lastUs) });
  let places: readonly Waypoint[] = found.slice(0, limit);
  if (endsMs !== undefined) {
    const ends = await placesAt(duck, files, { asked, momentsMs: endsMs });
    places = merged(
      places,
      ends.filter((end) => isBehind(end) && end.us < (lastUs ?? Number.POSITIVE_INFINITY)),
    );
  }
  const pieces = leafMs === undefined ? piecesOf(places) : [places].filter(({ length }) => length > 0);
  const geometrySequence = pieces
    .filter((piece) => box === undefined || piece.some(({ position }) => isInBox(position, box)))
    .map((piece) => ({
      ...{ id: timeOf(piece[0]?.us ?? 0), type: 'MovingPoint', datetimes: piece.map(({ us }) => timeOf(us)) },
      coordinates: piece.map(({ position }) => position),
      interpolation: leafMs === undefined ? 'Linear' : 'Discrete',
    }));
  const body = {
    ...{ type: 'TemporalGeometrySequence', geometrySequence, ...linked(href, next) },
    numberReturned: geometrySequence.length,
  };
  return { text: JSON.stringify(body), next };
}

/** Returns the response if there is no history. */
export function nothingMoved({ ask, href }: ObjectsQuery | TrackQuery): object {
  const list =
    ask === 'objects'
      ? { type: 'FeatureCollection', features: [] }
      : { type: 'TemporalGeometrySequence', geometrySequence: [] };
  return { ...list, ...linked(href, undefined), numberReturned: 0 };
}

/**
 * Returns a query for positions with unique times. If several positions have the same time, the last one received
 * counts.
 */
function waypoints(files: readonly HistoryFile[], within: readonly string[]): string {
  return (
    `SELECT time, longitude, latitude, z FROM ${parquet(files)} WHERE ${within.join(' AND ')}` +
    ` AND longitude IS NOT NULL AND latitude IS NOT NULL` +
    ` QUALIFY row_number() OVER (PARTITION BY time ORDER BY received DESC, longitude, latitude) = 1`
  );
}

/** Returns positions by time, at most one more than the page may contain. */
async function placesOf(duck: Duck, files: readonly HistoryFile[], asked: TrackQuery): Promise<readonly Waypoint[]> {
  const { id, limit, cursor } = asked;
  const behind = cursor === undefined ? [] : [`time > make_timestamptz(${cursor.us})`];
  const values = new Values();
  const { us, longitude, latitude, z } = await duck.columns(
    `SELECT epoch_us(time) AS us, longitude, latitude, z` +
      ` FROM (${waypoints(files, [between(asked), `id = ${values.text(id)}`, ...behind])}) ORDER BY time LIMIT ${limit + 1}`,
    values,
  );
  return ((us ?? []) as readonly bigint[]).map((time, i) => ({
    us: Number(time),
    position: positionOf(longitude?.[i], latitude?.[i], z?.[i]),
  }));
}

/** Returns interpolated positions at times, in order, without times at which the position is unknown. */
async function placesAt(
  duck: Duck,
  files: readonly HistoryFile[],
  { asked: { id }, momentsMs }: { readonly asked: TrackQuery; readonly momentsMs: readonly number[] },
): Promise<readonly Waypoint[]> {
  if (momentsMs.length === 0) return [];
  const values = new Values();
  const windows = momentsMs.map((ms) => `time BETWEEN ${microseconds(ms - GAP_MS)} AND ${microseconds(ms + GAP_MS)}`);
  const rows = await duck.rows(
    `WITH places AS (${waypoints(files, [`id = ${values.text(id)}`, `(${windows.join(' OR ')})`])}),` +
      ` moments AS (SELECT unnest([${momentsMs.map(microseconds).join()}]) AS moment)` +
      ` SELECT epoch_us(moment) AS us, epoch_us(b.time) AS before_us, epoch_us(a.time) AS after_us,` +
      ` b.longitude AS before_lon, b.latitude AS before_lat, b.z AS before_z,` +
      ` a.longitude AS after_lon, a.latitude AS after_lat, a.z AS after_z` +
      ` FROM moments ASOF LEFT JOIN places b ON moment >= b.time ASOF LEFT JOIN places a ON moment <= a.time ORDER BY moment`,
    values,
  );
  return rows.flatMap((row) => {
    if (row.before_us === null || row.after_us === null) return [];
    const [us, beforeUs, afterUs] = [row.us, row.before_us, row.after_us].map(Number) as [number, number, number];
    if (afterUs - beforeUs > 1000 * GAP_MS) return [];
    const before = positionOf(row.before_lon, row.before_lat, row.before_z);
    const after = positionOf(row.after_lon, row.after_lat, row.after_z);
    return [
      { us, position: afterUs === beforeUs ? before : onLine(before, after, (us - beforeUs) / (afterUs - beforeUs)) },
    ];
  });
}

/** Interpolates between two positions, across the antimeridian if that is shorter. */
function onLine(before: readonly number[], after: readonly number[], part: number): readonly number[] {
  return before.slice(0, after.length).map((from, i) => {
    const by = (after[i] as number) - from;
    if (i > 0 || Math.abs(by) <= 180) return from + part * by;
    const at = from + part * (by - 360 * Math.sign(by));
    return Math.abs(at) > 180 ? at - 360 * Math.sign(at) : at;
  });
}

/** Merges two lists by time. At equal times, the first list takes precedence. */
function merged(places: readonly Waypoint[], others: readonly Waypoint[]): readonly Waypoint[] {
  const known = new Set(places.map(({ us }) => us));
  return [...places, ...others.filter(({ us }) => !known.has(us))].sort((a, b) => a.us - b.us);
}

/** Splits a track where the object was silent for longer than the gap. */
function piecesOf(places: readonly Waypoint[]): readonly (readonly Waypoint[])[] {
  const pieces: Waypoint[][] = [];
  for (const place of places) {
    const last = pieces.at(-1)?.at(-1);
    if (last === undefined || place.us - last.us > 1000 * GAP_MS) pieces.push([]);
    pieces.at(-1)?.push(place);
  }
  return pieces;
}

function inBox({ west, south, east, north, low, high }: BoundingBox): string {
  const within = [`latitude BETWEEN ${num(south)} AND ${num(north)}`];
  // In a box across the antimeridian, west is greater than east.
  const or = west <= east ? 'AND' : 'OR';
  within.push(`(longitude >= ${num(west)} ${or} longitude <= ${num(east)})`);
  if (low !== undefined && high !== undefined) within.push(`(z IS NULL OR z BETWEEN ${num(low)} AND ${num(high)})`);
  return within.join(' AND ');
}

function isInBox(
  [lon = 0, lat = 0, z]: readonly number[],
  { west, south, east, north, low, high }: BoundingBox,
): boolean {
  const isAcross = west <= east ? lon >= west && lon <= east : lon >= west || lon <= east;
  const isHigh = z === undefined || low === undefined || high === undefined || (z >= low && z <= high);
  return isAcross && isHigh && lat >= south && lat <= north;
}

function positionOf(longitude: unknown, latitude: unknown, z: unknown): readonly number[] {
  return z == null ? [longitude as number, latitude as number] : [longitude as number, latitude as number, z as number];
}

function timeOf(us: number): string {
  return formatTime(us / 1000);
}

/** Returns the links of a list: to itself and to its next page. */
function linked(href: string, next: string | undefined) {
  const type = href.includes('/tgsequence') ? 'application/json' : 'application/geo+json';
  const self = { href, rel: 'self', type };
  if (next === undefined) return { links: [self] };
  const cursor = `${href.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(next)}`;
  return { links: [self, { href: href + cursor, rel: 'next', type }] };
}
