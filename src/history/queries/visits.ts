import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import type { DwellAsked, EventsAsked, FlowsAsked, OccupancyAsked, Span, Told, VisitsAsked } from './question.ts';
import { EVENT_CURSOR, LOOK_BACK_MS, Unanswerable } from './question.ts';
import { microseconds, sqlIn, text } from './sql.ts';

/**
 * What fence events tell of visits. An exit says when its visit began, so it is a visit by itself; an entry without an exit
 * is a visit that goes on, unless the object has entered that fence again since: then its exit was not recorded, and nobody
 * knows how long it took. All is told as it was known at the end of the span.
 */
function visitsOf(files: readonly HistoryFile[], { fromMs, toMs }: Span, only: string): string {
  const overlaps =
    `entry_time < ${microseconds(toMs)}` + ` AND coalesce(exit_time, ${microseconds(toMs)}) >= ${microseconds(fromMs)}`;
  const visitor = 'fence_id, object_type, object_id';
  // Only those without an exit are looked for again: to put all in an order took half of the time.
  return `
    known AS MATERIALIZED (
      SELECT ${visitor}, entry_time, max(exit_time) FILTER (WHERE event_type = 'region_exit') AS exit_time,
        coalesce(min(id) FILTER (WHERE event_type = 'region_entry'), min(id)) AS id FROM ${parquet(files)}
      WHERE time < ${microseconds(toMs)} AND entry_time >= ${microseconds(fromMs - LOOK_BACK_MS)} AND ${only} GROUP BY ALL
    ),
    last AS (
      SELECT ${visitor}, max(entry_time) FROM known
      WHERE (${visitor}) IN (SELECT (${visitor}) FROM known WHERE exit_time IS NULL) GROUP BY ALL
    ),
    visits AS (
      SELECT *, false AS inside FROM known WHERE exit_time IS NOT NULL AND ${overlaps}
      UNION ALL
      SELECT *, true AS inside FROM known
      WHERE exit_time IS NULL AND ${overlaps} AND (${visitor}, entry_time) IN (SELECT * FROM last)
    )`;
}

const TOLD =
  'id, fence_id, object_type, object_id, epoch_us(entry_time) AS entry_us, epoch_us(exit_time) AS exit_us, inside';

/** Visits in the order of their beginnings. */
export async function visits(duck: Duck, files: readonly HistoryFile[], asked: VisitsAsked): Promise<Told> {
  const { limit, cursor, fromMs, toMs } = asked;
  const [us, id] = cursor === undefined ? [] : splitCursor(cursor);
  const behind = us === undefined ? 'true' : `(entry_time, id) > (make_timestamp(${us}), ${text(id as string)})`;
  const sql =
    `WITH ${visitsOf(files, asked, only(asked))} SELECT ${TOLD} FROM visits WHERE ${behind}` +
    ` ORDER BY entry_time, id LIMIT ${limit + 1}`;
  const rows = await duck.rows(sql);
  const shown = rows.slice(0, limit).map((row) => {
    const entryMs = Number(row.entry_us) / 1000;
    const exitMs = row.inside === true ? undefined : Number(row.exit_us) / 1000;
    return {
      id: row.id,
      fence_id: row.fence_id,
      object: { type: row.object_type, id: row.object_id },
      entry_time: formatTime(entryMs),
      exit_time: exitMs === undefined ? null : formatTime(exitMs),
      duration_ms: Math.round((exitMs ?? toMs) - entryMs),
      still_inside: row.inside,
    };
  });
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last && `${last.entry_us}.${last.id}`;
  return { text: JSON.stringify({ ...head({ fromMs, toMs }), visits: shown, next_cursor: next ?? null }), next };
}

/** How long objects stay in fences: whole visits, those that go on up to the end of the span. */
export async function dwell(duck: Duck, files: readonly HistoryFile[], asked: DwellAsked): Promise<Told> {
  const duration = `date_diff('microsecond', entry_time, coalesce(exit_time, ${microseconds(asked.toMs)})) / 1000`;
  const sql =
    `WITH ${visitsOf(files, asked, only(asked))} SELECT fence_id, count(*)::INTEGER AS visits,` +
    ' count(DISTINCT (object_type, object_id))::INTEGER AS objects,' +
    ` median(${duration}) AS median_ms, quantile_cont(${duration}, 0.95) AS p95_ms, sum(${duration}) AS total_ms,` +
    ' count(*) FILTER (WHERE inside)::INTEGER AS still_inside FROM visits GROUP BY fence_id ORDER BY fence_id';
  const rows = await duck.rows(sql);
  const fences = rows.map(({ median_ms, p95_ms, total_ms, ...row }) => ({
    ...row,
    median_ms: Math.round(Number(median_ms)),
    p95_ms: Math.round(Number(p95_ms)),
    total_ms: Math.round(Number(total_ms)),
  }));
  return whole({ ...head(asked), fences });
}

const SAMPLES_MAX = 100_000;

/** How many objects are in fences at each step. */
export async function occupancy(duck: Duck, files: readonly HistoryFile[], asked: OccupancyAsked): Promise<Told> {
  const { fromMs, toMs, stepMs } = asked;
  const steps = Math.ceil((toMs - fromMs) / stepMs);
  if (steps > SAMPLES_MAX) {
    const least = Math.ceil((toMs - fromMs) / SAMPLES_MAX);
    throw new Unanswerable(
      `step: must be at least ${least} for that span, which would have ${steps} samples, found ${stepMs}`,
    );
  }
  const sql =
    `WITH ${visitsOf(files, asked, only(asked))}, samples AS (` +
    `SELECT make_timestamp(${1000 * fromMs} + ${1000 * stepMs} * range) AS moment FROM range(${steps}))` +
    ' SELECT fence_id, epoch_us(moment) AS us, count(*)::INTEGER AS count FROM samples JOIN visits ON entry_time <= moment' +
    ' AND (inside OR exit_time > moment) GROUP BY fence_id, moment ORDER BY fence_id, moment';
  const rows = await duck.rows(sql);
  const byFence = Map.groupBy(rows, ({ fence_id: id }) => String(id));
  if (byFence.size * steps > SAMPLES_MAX) {
    const least = Math.ceil(((toMs - fromMs) * byFence.size) / SAMPLES_MAX);
    throw new Unanswerable(
      `step: must be at least ${least} for ${byFence.size} fences, found ${stepMs}: or name some with fence_id`,
    );
  }
  const fences = [...byFence].map(([fenceId, some]) => {
    const counts = new Map(some.map(({ us, count }) => [Number(us) / 1000, count]));
    const samples = Array.from({ length: steps }, (_, i) => {
      const atMs = fromMs + i * stepMs;
      return { time: formatTime(atMs), count: counts.get(atMs) ?? 0 };
    });
    return { fence_id: fenceId, samples };
  });
  return whole({ ...head(asked), step: stepMs, fences });
}

/** From which fence objects go to which next one: those that come there within the span. */
export async function flows(duck: Duck, files: readonly HistoryFile[], asked: FlowsAsked): Promise<Told> {
  const { fromMs, toMs } = asked;
  const sql =
    `WITH ${visitsOf(files, asked, only(asked))}, ways AS (SELECT fence_id, exit_time,` +
    ' lead(fence_id) OVER way AS next_fence, lead(entry_time) OVER way AS next_entry FROM visits' +
    ' WINDOW way AS (PARTITION BY object_type, object_id ORDER BY entry_time, fence_id))' +
    ' SELECT fence_id AS from_fence, next_fence AS to_fence, count(*)::INTEGER AS count,' +
    " median(CASE WHEN exit_time IS NOT NULL THEN greatest(0, date_diff('microsecond', exit_time, next_entry)) / 1000 END) AS median_ms FROM ways" +
    ` WHERE next_fence IS NOT NULL AND next_fence <> fence_id AND next_entry >= ${microseconds(fromMs)}` +
    ` AND next_entry < ${microseconds(toMs)} GROUP BY ALL ORDER BY ALL`;
  const rows = await duck.rows(sql);
  const shown = rows.map(({ median_ms: median, ...row }) => ({
    ...row,
    median_ms: median === null ? null : Math.round(Number(median)),
  }));
  return whole({ ...head(asked), flows: shown });
}

/** Events as they were published, in the order of their times. */
export async function events(duck: Duck, files: readonly HistoryFile[], asked: EventsAsked): Promise<Told> {
  const { topic, fenceIds, trackableIds, providerIds, eventType, limit, cursor } = asked;
  const isFence = topic === 'fence_events';
  const within = [`time >= ${microseconds(asked.fromMs)}`, `time < ${microseconds(asked.toMs)}`];
  if (fenceIds !== undefined) within.push(isFence ? `fence_id IN (${sqlIn(fenceIds)})` : 'false');
  if (trackableIds !== undefined) {
    const list = sqlIn(trackableIds);
    within.push(isFence ? `trackable_id IN (${list})` : `(trackable_1 IN (${list}) OR trackable_2 IN (${list}))`);
  }
  if (providerIds !== undefined) within.push(isFence ? `provider_id IN (${sqlIn(providerIds)})` : 'false');
  if (eventType !== undefined) within.push(`${isFence ? 'event_type' : 'collision_type'} = ${text(eventType)}`);
  const [us, id] = cursor === undefined ? [] : splitCursor(cursor);
  if (us !== undefined) within.push(`(time, id) > (make_timestamp(${us}), ${text(id as string)})`);
  const sql =
    `SELECT epoch_us(time) AS us, id, event FROM ${parquet(files)} WHERE ${within.join(' AND ')}` +
    ` ORDER BY time, id LIMIT ${limit + 1}`;
  const rows = await duck.rows(sql);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last && `${last.us}.${last.id}`;
  const { from, to } = head(asked);
  const shown = rows.slice(0, limit).map(({ event }) => String(event));
  const cursorText = next === undefined ? 'null' : JSON.stringify(next);
  return { text: `{"from":"${from}","to":"${to}","events":[${shown.join()}],"next_cursor":${cursorText}}`, next };
}

function splitCursor(cursor: string): readonly [us: string, id: string] {
  const found = EVENT_CURSOR.exec(cursor);
  return [found?.[1] ?? '0', found?.[2] ?? ''];
}

function only({
  fenceIds,
  trackableId,
}: {
  fenceIds: readonly string[] | undefined;
  trackableId?: string | undefined;
}): string {
  const of = fenceIds === undefined ? 'true' : `fence_id IN (${sqlIn(fenceIds)})`;
  return trackableId === undefined ? of : `${of} AND object_type = 'trackable' AND object_id = ${text(trackableId)}`;
}

function head({ fromMs, toMs }: Span) {
  return { from: formatTime(fromMs), to: formatTime(toMs) };
}

function whole(told: object): Told {
  return { text: JSON.stringify(told), next: undefined };
}
