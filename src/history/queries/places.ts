import { viewTransform, writeInPlane } from '../../core/zone/view.ts';
import type { WalkFix } from '../../core/walk_figures.ts';
import { idKey } from '../../model/id.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { type Cursor, cursorText } from './cursor.ts';
import { placesText, type ShownPlace } from './formats.ts';
import type {
  AreaFilter,
  PositionsQuery,
  PositionFields,
  SnapshotQuery,
  Span,
  AnswerContent,
  TracksQuery,
} from './query.ts';
import { type Columns, microseconds, num, Values } from './sql.ts';

const SELECTED =
  'epoch_us(time) AS us, longitude, latitude, z, floor, zone_id, x, y, accuracy, speed, course, provider_id, source, epoch_us(received) AS received_us';

/** Returns the positions of an object, by time. */
export async function places(duck: Duck, files: readonly HistoryFile[], asked: PositionsQuery): Promise<AnswerContent> {
  const { id, stepMs, limit, whose, cursor } = asked;
  const values = new Values();
  const spans = [between(asked), `id = ${values.text(id)}`];
  // Several positions may have the same time, so the cursor counts those already listed.
  if (cursor !== undefined) spans.push(`time >= make_timestamptz(${cursor.us})`);
  const sampled =
    stepMs === undefined
      ? ''
      : ` QUALIFY row_number() OVER (PARTITION BY ${stepOf(asked.fromMs, stepMs)} ORDER BY time DESC) = 1`;
  const sql =
    `SELECT ${SELECTED} FROM ${parquet(files)} WHERE ${spans.join(' AND ')}${sampled} ORDER BY time` +
    ` LIMIT ${limit + 1} OFFSET ${cursor?.skip ?? 0}`;
  const columns = await duck.columns(sql, values);
  if (asked.format === 'fixes') return { text: JSON.stringify(fixesOf(columns)), next: undefined };
  const shown = shownPlaces(columns, asked.shown);
  const us = columns.us as readonly bigint[];
  const isMore = shown.length > limit;
  const next = isMore ? nextCursor(us.slice(0, limit), cursor) : undefined;
  return { text: placesText({ ...asked, kind: whose }, isMore ? shown.slice(0, limit) : shown, next), next };
}

/** Returns positions with the times at which the hub has received them; one more than the limit if there are more. */
function fixesOf(columns: Columns): readonly WalkFix[] {
  const us = (columns.us ?? []) as readonly bigint[];
  const value = (name: string, i: number) => (columns[name]?.[i] ?? undefined) as never;
  return us.map((time, i) => ({
    timeMs: Number(time) / 1000,
    receivedMs: Number(value('received_us', i) ?? time) / 1000,
    longitude: value('longitude', i),
    latitude: value('latitude', i),
    z: value('z', i),
    floor: value('floor', i),
    source: value('source', i),
  }));
}

/** Returns the last position of each object at a time. */
export async function snapshot(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: SnapshotQuery,
): Promise<AnswerContent> {
  const { atMs, maxAgeMs, limit, cursor, only } = asked;
  const values = new Values();
  const within = [
    `time <= ${microseconds(atMs)}`,
    `time > ${microseconds(atMs - maxAgeMs)}`,
    ...(cursor === undefined ? [] : [`id > ${values.text(cursor.id)}`]),
    ...(only === undefined ? [] : [`id IN ${values.list(only)}`]),
  ];
  const sql =
    `SELECT id, unnest(last) FROM (SELECT id, arg_max(struct_pack(us := epoch_us(time), longitude := longitude,` +
    ` latitude := latitude, z := z, floor := floor, zone_id := zone_id, x := x, y := y, accuracy := accuracy,` +
    ` speed := speed, course := course, provider_id := provider_id, source := source), time) AS last` +
    ` FROM ${parquet(files)} WHERE ${within.join(' AND ')} GROUP BY id)` +
    ` WHERE ${inArea(asked, 'last.')} ORDER BY id LIMIT ${limit + 1}`;
  const columns = await duck.columns(sql, values);
  const ids = (columns.id ?? []) as readonly string[];
  const objects = shownPlaces(columns, asked.shown).map((place, i) => ({ id: ids[i], ...place }));
  const next = objects.length > limit ? cursorText('snapshot', { id: ids[limit - 1] as string }) : undefined;
  const body = { at: formatTime(atMs), objects: objects.slice(0, limit), next_cursor: next ?? null };
  return { text: JSON.stringify(body), next };
}

/**
 * Returns positions of many objects: the last of each step, by id and time. An object may continue on the next page.
 */
export async function tracks(duck: Duck, files: readonly HistoryFile[], asked: TracksQuery): Promise<AnswerContent> {
  const { fromMs, toMs, stepMs, limit, cursor, only } = asked;
  const values = new Values();
  const within = [between(asked), inArea(asked, '')];
  if (cursor !== undefined) {
    const id = values.text(cursor.id);
    // The first condition is redundant, but lets DuckDB skip row groups.
    within.push(`id >= ${id}`, `(id > ${id} OR time > make_timestamptz(${cursor.us}))`);
  }
  if (only !== undefined) within.push(`id IN ${values.list(only)}`);
  const sql =
    `SELECT id, epoch_us(time) AS us, ((epoch_us(time) - ${1000 * fromMs}) // 1000)::DOUBLE AS t, longitude, latitude, floor` +
    ` FROM ${parquet(files)} WHERE ${within.join(' AND ')}` +
    ` QUALIFY row_number() OVER (PARTITION BY id, ${stepOf(fromMs, stepMs)} ORDER BY time DESC) = 1` +
    ` ORDER BY id, time LIMIT ${limit + 1}`;
  const columns = await duck.columns(sql, values);
  const ids = (columns.id ?? []) as readonly string[];
  const count = Math.min(ids.length, limit);
  const next =
    ids.length > limit
      ? cursorText('tracks', { id: ids[limit - 1] as string, us: String(columns.us?.[limit - 1]) })
      : undefined;
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
  const body = {
    from: formatTime(fromMs),
    to: formatTime(toMs),
    step: stepMs,
    tracks: byId,
    next_cursor: next ?? null,
  };
  return { text: JSON.stringify(body), next };
}

/** Returns the condition for the rows of a span. */
export function between({ fromMs, toMs }: Span): string {
  return `time >= ${microseconds(fromMs)} AND time < ${microseconds(toMs)}`;
}

/** Returns the condition for the rows of an area. `of` is a prefix of column names. */
export function inArea({ bbox, floor }: AreaFilter, of: string): string {
  const within: string[] = [];
  if (bbox !== undefined) {
    const [west, south, east, north] = bbox;
    within.push(`${of}latitude BETWEEN ${num(south)} AND ${num(north)}`);
    // In a box across the antimeridian, west is greater than east.
    within.push(
      west <= east
        ? `${of}longitude BETWEEN ${num(west)} AND ${num(east)}`
        : `(${of}longitude >= ${num(west)} OR ${of}longitude <= ${num(east)})`,
    );
  }
  if (floor !== undefined) within.push(`${of}floor = ${num(floor)}`);
  return within.length === 0 ? 'true' : within.join(' AND ');
}

/** Returns the expression for the number of a row's step. */
export function stepOf(fromMs: number, stepMs: number): string {
  return `(epoch_us(time) - ${1000 * fromMs}) // ${1000 * stepMs}`;
}

/**
 * Returns positions as they appear in the response. x and y are omitted for positions out of range of the projection.
 */
function shownPlaces(columns: Columns, { crs, zone, providers, hiddenZones }: PositionFields): readonly ShownPlace[] {
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

function nextCursor(listed: readonly bigint[], before: Cursor | undefined): string {
  const last = listed.at(-1) as bigint;
  const skip = listed.length - listed.indexOf(last);
  const isSameTime = before !== undefined && BigInt(before.us) === last;
  return cursorText('places', { us: String(last), skip: isSameTime ? skip + before.skip : skip });
}
