import { viewTransform, writeInPlane } from '../../core/zone/view.ts';
import { idKey } from '../../model/id.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { placesText, type ShownPlace } from './formats.ts';
import {
  type Area,
  PLACE_CURSOR,
  type PlacesAsked,
  type Shown,
  type SnapshotAsked,
  type Span,
  type Told,
  type TracksAsked,
} from './question.ts';
import { type Columns, microseconds, num, sqlIn, text } from './sql.ts';

const SELECTED =
  'epoch_us(time) AS us, longitude, latitude, z, floor, zone_id, x, y, accuracy, speed, course, provider_id, source';

/** The places of an object, in the order of their times. */
export async function places(duck: Duck, files: readonly HistoryFile[], asked: PlacesAsked): Promise<Told> {
  const { id, stepMs, limit, whose } = asked;
  const cursor = readCursor(asked.cursor);
  const spans = [between(asked), `id = ${text(id)}`];
  // Several places may have one time: the cursor says how many of its own were told.
  if (cursor !== undefined) spans.push(`time >= make_timestamp(${cursor.us})`);
  const sampled =
    stepMs === undefined
      ? ''
      : ` QUALIFY row_number() OVER (PARTITION BY ${stepOf(asked.fromMs, stepMs)} ORDER BY time DESC) = 1`;
  const sql =
    `SELECT ${SELECTED} FROM ${parquet(files)} WHERE ${spans.join(' AND ')}${sampled} ORDER BY time` +
    ` LIMIT ${limit + 1} OFFSET ${cursor?.skip ?? 0}`;
  const columns = await duck.columns(sql);
  const shown = shownPlaces(columns, asked.shown);
  const us = columns.us as readonly bigint[];
  const isMore = shown.length > limit;
  const next = isMore ? nextCursor(us.slice(0, limit), cursor) : undefined;
  return { text: placesText({ ...asked, kind: whose }, isMore ? shown.slice(0, limit) : shown, next), next };
}

/** The last place of each object at a moment. */
export async function snapshot(duck: Duck, files: readonly HistoryFile[], asked: SnapshotAsked): Promise<Told> {
  const { atMs, maxAgeMs, limit, cursor, only } = asked;
  const within = [
    `time <= ${microseconds(atMs)}`,
    `time > ${microseconds(atMs - maxAgeMs)}`,
    ...(cursor === undefined ? [] : [`id > ${text(cursor)}`]),
    ...(only === undefined ? [] : [`id IN (${sqlIn(only)})`]),
  ];
  const sql =
    `SELECT id, unnest(last) FROM (SELECT id, arg_max(struct_pack(us := epoch_us(time), longitude := longitude,` +
    ` latitude := latitude, z := z, floor := floor, zone_id := zone_id, x := x, y := y, accuracy := accuracy,` +
    ` speed := speed, course := course, provider_id := provider_id, source := source), time) AS last` +
    ` FROM ${parquet(files)} WHERE ${within.join(' AND ')} GROUP BY id)` +
    ` WHERE ${inArea(asked, 'last.')} ORDER BY id LIMIT ${limit + 1}`;
  const columns = await duck.columns(sql);
  const ids = (columns.id ?? []) as readonly string[];
  const objects = shownPlaces(columns, asked.shown).map((place, i) => ({ id: ids[i], ...place }));
  const next = objects.length > limit ? ids[limit - 1] : undefined;
  const told = { at: formatTime(atMs), objects: objects.slice(0, limit), next_cursor: next ?? null };
  return { text: JSON.stringify(told), next };
}

/** The places of many objects: the last of each step, in the order of ids and times. */
export async function tracks(duck: Duck, files: readonly HistoryFile[], asked: TracksAsked): Promise<Told> {
  const { fromMs, toMs, stepMs, limit, cursor, only } = asked;
  const within = [
    between(asked),
    inArea(asked, ''),
    ...(cursor === undefined ? [] : [`id > ${text(cursor)}`]),
    ...(only === undefined ? [] : [`id IN (${sqlIn(only)})`]),
  ];
  // Whole objects: one whose places are not all among so many is told with the next part, unless it is the first.
  const sql =
    `SELECT id, ((epoch_us(time) - ${1000 * fromMs}) // 1000)::DOUBLE AS t, longitude, latitude, floor FROM ${parquet(files)}` +
    ` WHERE ${within.join(' AND ')}` +
    ` QUALIFY row_number() OVER (PARTITION BY id, ${stepOf(fromMs, stepMs)} ORDER BY time DESC) = 1` +
    ` ORDER BY id, time LIMIT ${limit + 1}`;
  const columns = await duck.columns(sql);
  const ids = (columns.id ?? []) as readonly string[];
  let count = ids.length;
  let next: string | undefined;
  if (count > limit) {
    const cut = ids[limit] as string;
    const first = ids.indexOf(cut);
    count = first > 0 ? first : limit;
    next = ids[count - 1];
  }
  const byId: { id: string; t: unknown[]; lon: unknown[]; lat: unknown[]; floor: unknown[] }[] = [];
  for (let i = 0; i < count; i++) {
    let track = byId.at(-1);
    if (track?.id !== ids[i]) {
      track = { id: ids[i] as string, t: [], lon: [], lat: [], floor: [] };
      byId.push(track);
    }
    track.t.push(columns.t?.[i]);
    track.lon.push(columns.longitude?.[i]);
    track.lat.push(columns.latitude?.[i]);
    track.floor.push(columns.floor?.[i]);
  }
  const told = {
    from: formatTime(fromMs),
    to: formatTime(toMs),
    step: stepMs,
    tracks: byId,
    next_cursor: next ?? null,
  };
  return { text: JSON.stringify(told), next };
}

/** Rows of a span. */
export function between({ fromMs, toMs }: Span): string {
  return `time >= ${microseconds(fromMs)} AND time < ${microseconds(toMs)}`;
}

/** Rows of an area. `of`: before the names of columns. */
export function inArea({ bbox, floor }: Area, of: string): string {
  const within: string[] = [];
  if (bbox !== undefined) {
    const [west, south, east, north] = bbox;
    within.push(`${of}latitude BETWEEN ${num(south)} AND ${num(north)}`);
    // Across the antimeridian west is greater than east.
    within.push(
      west <= east
        ? `${of}longitude BETWEEN ${num(west)} AND ${num(east)}`
        : `(${of}longitude >= ${num(west)} OR ${of}longitude <= ${num(east)})`,
    );
  }
  if (floor !== undefined) within.push(`${of}floor = ${num(floor)}`);
  return within.length === 0 ? 'true' : within.join(' AND ');
}

function stepOf(fromMs: number, stepMs: number): string {
  return `(epoch_us(time) - ${1000 * fromMs}) // ${1000 * stepMs}`;
}

/** Places as they are shown; one that the plane does not reach has no x and y. A source is that of its provider. */
function shownPlaces(columns: Columns, { crs, zone, providers, hiddenZones }: Shown): readonly ShownPlace[] {
  const view = viewTransform({ crs, zoneId: zone?.id }, undefined, () => zone);
  const us = (columns.us ?? []) as readonly bigint[];
  const value = (name: string, i: number) => (columns[name]?.[i] ?? undefined) as never;
  const out: [number, number] = [0, 0];
  return us.map((time, i) => {
    const longitude = value('longitude', i) as number;
    const latitude = value('latitude', i) as number;
    const isInPlane = view !== undefined && view !== 'wgs84';
    const isShown = isInPlane && writeInPlane(longitude, latitude, view, out);
    const isNamed = providers?.has(idKey(String(value('provider_id', i)))) !== false;
    const isLocal = !isInPlane && !hiddenZones.has(idKey(String(value('zone_id', i))));
    const local = (name: string) => (isLocal ? value(name, i) : (undefined as never));
    return {
      time: formatTime(Number(time) / 1000),
      longitude,
      latitude,
      z: value('z', i),
      floor: value('floor', i),
      zone_id: isInPlane ? (zone?.id as never) : local('zone_id'),
      x: isInPlane ? ((isShown ? out[0] : undefined) as never) : local('x'),
      y: isInPlane ? ((isShown ? out[1] : undefined) as never) : local('y'),
      accuracy: value('accuracy', i),
      speed: value('speed', i),
      course: value('course', i),
      provider_id: isNamed ? value('provider_id', i) : (undefined as never),
      source: isNamed ? value('source', i) : (undefined as never),
    };
  });
}

interface Cursor {
  readonly us: bigint;
  readonly skip: number;
}

function readCursor(cursor: string | undefined): Cursor | undefined {
  const found = cursor === undefined ? null : PLACE_CURSOR.exec(cursor);
  return found === null ? undefined : { us: BigInt(found[1] as string), skip: Number(found[2]) };
}

function nextCursor(told: readonly bigint[], before: Cursor | undefined): string {
  const last = told.at(-1) as bigint;
  let skip = told.length - told.indexOf(last);
  if (before?.us === last) skip += before.skip;
  return `${last}.${skip}`;
}
