import { problemOf } from '../../problem.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import { wholeEvents } from '../fence_properties.ts';
import type { HistoryFile } from '../files.ts';
import { cursorText } from './cursor.ts';
import { between } from './places.ts';
import type { DwellQuery, EventsQuery, FlowsQuery, OccupancyQuery, Span, AnswerContent, VisitsQuery } from './query.ts';
import { LOOK_BACK_MS, Unanswerable } from './query.ts';
import { microseconds, millisecondsBetween, Values } from './sql.ts';
import { fillVisits, VISITS } from './visits_table.ts';

/** Returns the condition for visits that overlap with a span. A visit excludes its end. */
function overlapping({ fromMs, toMs }: Span): string {
  const [from, to] = [microseconds(fromMs), microseconds(toMs)];
  return `entry_time < ${to} AND (end_time > ${from} OR entry_time >= ${from})`;
}

/** Returns visits, ordered by their start. */
export async function visits(duck: Duck, files: readonly HistoryFile[], asked: VisitsQuery): Promise<AnswerContent> {
  const { limit, cursor } = asked;
  await fillVisits(duck, files, asked);
  const values = new Values();
  const after =
    cursor === undefined ? 'true' : `(entry_time, id) > (make_timestamptz(${cursor.us}), ${values.text(cursor.id)})`;
  const rows = await duck.rows(
    'SELECT id, fence_id, object_type, object_id, is_open, epoch_us(entry_time) AS entry_us, epoch_us(end_time) AS end_us' +
      ` FROM ${VISITS} WHERE ${overlapping(asked)} AND ${after} ORDER BY entry_time, id LIMIT ${limit + 1}`,
    values,
  );
  const shown = rows.slice(0, limit).map((row) => {
    const [entryMs, endMs] = [Number(row.entry_us) / 1000, Number(row.end_us) / 1000];
    return {
      id: row.id,
      fence_id: row.fence_id,
      object: { type: row.object_type, id: row.object_id },
      entry_time: formatTime(entryMs),
      exit_time: row.is_open === true ? null : formatTime(endMs),
      duration_ms: Math.round(endMs - entryMs),
      still_inside: row.is_open,
    };
  });
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last && cursorText('visits', { us: String(last.entry_us), id: String(last.id) });
  return { text: JSON.stringify({ ...head(asked), visits: shown, next_cursor: next ?? null }), next };
}

const SAMPLES_MAX = 100_000;

/**
 * Returns durations of visits. Medians and percentiles are those of completed visits. Sums count only the time within
 * the span, so the sums of adjacent spans add up to that of the whole. Visits without an exit are counted separately.
 * With a step, each step that overlaps with visits is a span of its own.
 */
export async function dwell(duck: Duck, files: readonly HistoryFile[], asked: DwellQuery): Promise<AnswerContent> {
  const { fromMs, toMs, stepMs } = asked;
  if (stepMs !== undefined) stepsOf({ fromMs, toMs, stepMs });
  await fillVisits(duck, files, asked);
  const rows = await duck.rows(
    `SELECT fence_id, ${dwellColumns(microseconds(fromMs), microseconds(toMs))}` +
      ` FROM ${VISITS} WHERE ${overlapping(asked)} GROUP BY fence_id ORDER BY fence_id`,
  );
  const fences = rows.map(({ fence_id, ...row }) => ({ fence_id, ...dwellOf(row) }));
  if (stepMs === undefined) return complete({ ...head(asked), fences });
  const steps = await dwellSteps(duck, { ...asked, stepMs }, fences.length);
  const stepsOfFence = ({ fence_id: id }: (typeof fences)[number]) => steps.get(String(id)) ?? [];
  return complete({
    ...head(asked),
    step: stepMs,
    fences: fences.map((fence) => ({ ...fence, steps: stepsOfFence(fence) })),
  });
}

/** Returns the columns of dwell times in a span. */
function dwellColumns(from: string, to: string): string {
  const whole = millisecondsBetween('entry_time', 'end_time');
  const within = millisecondsBetween(`greatest(entry_time, ${from})`, `least(end_time, ${to})`);
  return (
    'count(*) FILTER (NOT is_open)::INTEGER AS visits,' +
    ` count(*) FILTER (entry_time >= ${from})::INTEGER AS entries,` +
    ' count(DISTINCT (object_type, object_id))::INTEGER AS objects,' +
    ` median(${whole}) FILTER (NOT is_open) AS median_ms, quantile_cont(${whole}, 0.95) FILTER (NOT is_open) AS p95_ms,` +
    ` coalesce(sum(${within}) FILTER (NOT is_open), 0) AS total_ms, count(*) FILTER (is_open)::INTEGER AS open_visits,` +
    ` coalesce(sum(${within}) FILTER (is_open), 0) AS open_ms`
  );
}

function dwellOf({ median_ms, p95_ms, total_ms, open_ms, ...row }: Readonly<Record<string, unknown>>) {
  return {
    ...row,
    median_ms: roundedOrNull(median_ms),
    p95_ms: roundedOrNull(p95_ms),
    total_ms: Math.round(Number(total_ms)),
    open_ms: Math.round(Number(open_ms)),
  };
}

/** Returns the dwell times of each step, by fence. A visit is in all steps that it overlaps with. */
async function dwellSteps(
  duck: Duck,
  asked: DwellQuery & { readonly stepMs: number },
  fences: number,
): Promise<ReadonlyMap<string, readonly object[]>> {
  const { fromMs, toMs, stepMs } = asked;
  const steps = stepsOf(asked, fences);
  const [fromUs, stepUs] = [Math.round(1000 * fromMs), 1000 * stepMs];
  const first = `greatest(0, (epoch_us(entry_time) - ${fromUs}) // ${stepUs})`;
  // A visit excludes its end.
  const last = `greatest(${first}, least(${steps}, ceil((epoch_us(end_time) - ${fromUs}) / ${stepUs})) - 1)::BIGINT`;
  const start = `make_timestamptz(${fromUs} + nth * ${stepUs})`;
  const end = `least(${microseconds(toMs)}, make_timestamptz(${fromUs} + (nth + 1) * ${stepUs}))`;
  const rows = await duck.rows(
    `WITH parts AS (SELECT *, unnest(range(${first}, ${last} + 1)) AS nth FROM ${VISITS} WHERE ${overlapping(asked)})` +
      ` SELECT fence_id, nth, ${dwellColumns(start, end)} FROM parts GROUP BY fence_id, nth ORDER BY fence_id, nth`,
  );
  const byFence = Map.groupBy(rows, ({ fence_id: id }) => String(id));
  const stepOf = ({ fence_id: _, nth, ...row }: (typeof rows)[number]) => ({
    from: formatTime(fromMs + Number(nth) * stepMs),
    ...dwellOf(row),
  });
  return new Map([...byFence].map(([id, its]) => [id, its.map(stepOf)]));
}

/** Returns the number of steps in a span. Throws if there are too many, for one fence or for all. */
function stepsOf({ fromMs, toMs, stepMs }: Span & { readonly stepMs: number }, fences?: number): number {
  const steps = Math.ceil((toMs - fromMs) / stepMs);
  const found = String(stepMs);
  if (steps > SAMPLES_MAX) {
    const minimum = Math.ceil((toMs - fromMs) / SAMPLES_MAX);
    throw new Unanswerable(problemOf('step_too_small', { path: 'step', minimum, count: steps, found }));
  }
  if (fences !== undefined && fences * steps > SAMPLES_MAX) {
    const minimum = Math.ceil(((toMs - fromMs) * fences) / SAMPLES_MAX);
    throw new Unanswerable(problemOf('step_too_small_for_fences', { path: 'step', minimum, count: fences, found }));
  }
  return steps;
}

/**
 * Returns the number of objects in fences at each step. Each visit adds one at its first sample and subtracts one at
 * the sample after its last. So the run time grows with the sum of visits and samples, not with their product.
 */
export async function occupancy(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: OccupancyQuery,
): Promise<AnswerContent> {
  const { fromMs, stepMs } = asked;
  const steps = stepsOf(asked);
  await fillVisits(duck, files, asked);
  /** Returns the first sample that is not before a time. */
  const sample = (time: string): string =>
    `greatest(0, ceil((epoch_us(${time}) - ${1000 * fromMs}) / ${1000 * stepMs}))::BIGINT`;
  const rows = await duck.rows(
    `WITH changes AS (SELECT fence_id, ${sample('entry_time')} AS nth, 1 AS change FROM ${VISITS} WHERE ${overlapping(asked)}` +
      ` UNION ALL SELECT fence_id, ${sample('end_time')} AS nth, -1 AS change FROM ${VISITS} WHERE ${overlapping(asked)})` +
      ` SELECT fence_id, nth, sum(change)::INTEGER AS change FROM changes WHERE nth < ${steps} GROUP BY fence_id, nth` +
      ' HAVING sum(change) <> 0 ORDER BY fence_id, nth',
  );
  const byFence = Map.groupBy(rows, ({ fence_id: id }) => String(id));
  stepsOf(asked, byFence.size);
  const fences = [...byFence].map(([fenceId, changes]) => {
    const changeOf = new Map(changes.map(({ nth, change }) => [Number(nth), Number(change)]));
    let count = 0;
    const samples = Array.from({ length: steps }, (_, i) => {
      count += changeOf.get(i) ?? 0;
      return { time: formatTime(fromMs + i * stepMs), count };
    });
    return { fence_id: fenceId, samples };
  });
  return complete({ ...head(asked), step: stepMs, fences });
}

/**
 * Returns the movements of objects from one fence to the next, counted by the entries within the span. The previous
 * fence may be from before the span, up to LOOK_BACK_MS earlier. An object that enters a fence and leaves it within its
 * visit of the previous fence, as of a room in a building, has not moved from one to the other.
 */
export async function flows(duck: Duck, files: readonly HistoryFile[], asked: FlowsQuery): Promise<AnswerContent> {
  await fillVisits(duck, files, asked);
  const { fromMs, toMs } = asked;
  // DuckDB's greatest() ignores NULL.
  const travelMs = `CASE WHEN NOT is_open THEN greatest(0, ${millisecondsBetween('exit_time', 'next_entry')}) END`;
  const rows = await duck.rows(
    `WITH ways AS (SELECT fence_id, is_open, coalesce(exit_time, entry_time) AS last_time, exit_time,` +
      ` end_time, lead(fence_id) OVER way AS next_fence, lead(entry_time) OVER way AS next_entry,` +
      ` lead(end_time) OVER way AS next_end FROM ${VISITS}` +
      ' WINDOW way AS (PARTITION BY object_type, object_id ORDER BY entry_time, end_time DESC, fence_id))' +
      ' SELECT fence_id AS from_fence, next_fence AS to_fence, count(*)::INTEGER AS count,' +
      ` median(${travelMs}) AS median_ms FROM ways` +
      ` WHERE next_fence <> fence_id AND (next_entry >= end_time OR (NOT is_open AND next_end > end_time)) AND next_entry >= ${microseconds(fromMs)} AND next_entry < ${microseconds(toMs)}` +
      ` AND ${millisecondsBetween('last_time', 'next_entry')} <= ${LOOK_BACK_MS} GROUP BY ALL ORDER BY ALL`,
  );
  const shown = rows.map(({ median_ms: median, ...row }) => ({ ...row, median_ms: roundedOrNull(median) }));
  return complete({ ...head(asked), flows: shown });
}

/** Returns published events, by time. */
export async function events(duck: Duck, files: readonly HistoryFile[], asked: EventsQuery): Promise<AnswerContent> {
  const { topic, fromMs, toMs, fenceIds, trackableIds, providerIds, eventType, limit, cursor } = asked;
  const isFence = topic === 'fence_events';
  const values = new Values();
  const within = [between(asked)];
  if (fenceIds !== undefined) within.push(isFence ? `fence_id IN ${values.list(fenceIds)}` : 'false');
  if (trackableIds !== undefined) {
    const columns = isFence ? ['trackable_id'] : ['trackable_1', 'trackable_2'];
    within.push(`(${columns.map((column) => `${column} IN ${values.list(trackableIds)}`).join(' OR ')})`);
  }
  if (providerIds !== undefined) within.push(isFence ? `provider_id IN ${values.list(providerIds)}` : 'false');
  if (eventType !== undefined) {
    within.push(`${isFence ? 'event_type' : 'collision_type'} = ${values.text(eventType)}`);
  }
  if (cursor !== undefined) {
    within.push(`(time, id) > (make_timestamptz(${cursor.us}), ${values.text(cursor.id)})`);
  }
  const rows = await duck.rows(
    `SELECT epoch_us(time) AS us, id, event${isFence ? ', properties' : ''} FROM ${parquet(files)}` +
      ` WHERE ${within.join(' AND ')} ORDER BY time, id LIMIT ${limit + 1}`,
    values,
  );
  const shown = wholeEvents(rows, files, limit);
  const last = rows.length > shown.length ? rows[shown.length - 1] : undefined;
  const next = last && cursorText('events', { us: String(last.us), id: String(last.id) });
  const [from, to, nextText] = [formatTime(fromMs), formatTime(toMs), JSON.stringify(next ?? null)];
  return { text: `{"from":"${from}","to":"${to}","events":[${shown.join()}],"next_cursor":${nextText}}`, next };
}

function roundedOrNull(value: unknown): number | null {
  return value === null ? null : Math.round(Number(value));
}

function head({ fromMs, toMs }: Span) {
  return { from: formatTime(fromMs), to: formatTime(toMs) };
}

function complete(body: object): AnswerContent {
  return { text: JSON.stringify(body), next: undefined };
}
