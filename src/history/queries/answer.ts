import { problemOf } from '../../problem.ts';
import { crossingsText } from '../../model/crossings_text.ts';
import { formatTime } from '../../model/time.ts';
import { type Damaged, damagedAmong, parquet } from '../damaged.ts';
import { type Duck, isInterrupted } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { HOUR_MS } from '../layout.ts';
import { placesText } from './formats.ts';
import { crossings } from './crossings.ts';
import { heatmap, soughtByHeatmap } from './heatmap.ts';
import { nothingMoved, objects, way } from './moving.ts';
import { places, snapshot, tracks } from './places.ts';
import {
  EVER,
  type ExistsQuery,
  LOOK_BACK_MS,
  type HistoryQuery,
  type PoolQuery,
  type AnswerContent,
  Unanswerable,
} from './query.ts';
import { quality } from './quality.ts';
import { sharedRows } from './shared_rows.ts';
import { filesOf } from './spans.ts';
import { Values } from './sql.ts';
import { trips } from './trips.ts';
import { dwell, events, flows, occupancy, visits } from './visits.ts';
import { soughtByVisits } from './visits_table.ts';

/** An answer, and the files that could not be read for it. */
export interface QueryAnswer extends AnswerContent {
  readonly damaged: readonly Damaged[];
}

/** Maximum number of rows that a query reads, unless the sort order of the files narrows them down. */
const ROWS_MAX = 400_000_000;
/** Queries for a single object. */
const BY_ID: ReadonlySet<PoolQuery['ask']> = new Set(['places', 'trips', 'way', 'known']);

/**
 * Answers a query from the given files. Unreadable files are omitted and reported. Rejects with Unanswerable for a
 * query that is too large, and with DuckDB's error if it exceeds its resources.
 */
export async function answer(duck: Duck, files: readonly HistoryFile[], question: PoolQuery): Promise<QueryAnswer> {
  checkSize(files, question);
  try {
    return { ...(await answerOf(duck, files, question)), damaged: [] };
  } catch (error) {
    if (error instanceof Unanswerable || isInterrupted(error)) throw error;
    const damaged = await damagedAmong(duck, files);
    if (damaged.length === 0) throw error;
    const readable = files.filter(({ path }) => !damaged.some((one) => one.path === path));
    return { ...(await answerOf(duck, readable, question)), damaged };
  }
}

function answerOf(
  duck: Duck,
  files: readonly HistoryFile[],
  question: PoolQuery,
): Promise<AnswerContent> | AnswerContent {
  if (mainFiles(files, question).length === 0) return nothing(question);
  switch (question.ask) {
    case 'known':
      return existsAnswer(duck, files, question);
    case 'places':
      return places(duck, files, question);
    case 'snapshot':
      return snapshot(duck, files, question);
    case 'tracks':
      return tracks(duck, files, question);
    case 'events':
      return events(duck, files, question);
    case 'visits':
      return visits(duck, files, question);
    case 'dwell':
      return dwell(duck, files, question);
    case 'occupancy':
      return occupancy(duck, files, question);
    case 'flows':
      return flows(duck, files, question);
    case 'crossings':
      return crossings(duck, files, question);
    case 'heatmap':
      return heatmap(duck, files, question);
    case 'quality':
      return quality(duck, files, question);
    case 'trips':
      return trips(duck, files, question);
    case 'objects':
      return objects(duck, files, question);
    case 'way':
      return way(duck, files, question);
    case 'rows':
      return sharedRows(duck, files, question);
    case 'sought':
      return lastFixesAnswer(duck, files, question.of);
  }
}

async function existsAnswer(
  duck: Duck,
  files: readonly HistoryFile[],
  { kind, id }: ExistsQuery,
): Promise<AnswerContent> {
  for (const [topic, some] of Map.groupBy(files, (file) => file.topic)) {
    const values = new Values();
    const bound = values.text(id);
    const inEvents = kind === 'fence' ? `fence_id = ${bound}` : `object_id = ${bound} AND object_type = '${kind}'`;
    const own = topic === 'fence_events' ? inEvents : `id = ${bound}`;
    const rows = await duck.rows(`SELECT true FROM ${parquet(some)} WHERE ${own} LIMIT 1`, values);
    if (rows.length > 0) return { text: 'true', next: undefined };
  }
  return { text: 'false', next: undefined };
}

async function lastFixesAnswer(
  duck: Duck,
  files: readonly HistoryFile[],
  question: HistoryQuery,
): Promise<AnswerContent> {
  const needed = question.ask === 'heatmap' ? await soughtByHeatmap(duck, files, question) : [];
  const ofVisits = 'timeouts' in question ? await soughtByVisits(duck, files, question) : [];
  return { text: JSON.stringify([...needed, ...ofVisits]), next: undefined };
}

/** Returns the answer if there is no history at all. */
function nothing(question: PoolQuery): AnswerContent {
  const span = 'fromMs' in question && { from: formatTime(question.fromMs), to: formatTime(question.toMs) };
  const end = { next_cursor: null };
  const empty = (rest: object): AnswerContent => ({ text: JSON.stringify({ ...span, ...rest }), next: undefined });
  switch (question.ask) {
    case 'known':
      return { text: 'false', next: undefined };
    case 'places':
      return { text: placesText({ ...question, kind: question.whose }, [], undefined), next: undefined };
    case 'snapshot':
      return empty({ at: formatTime(question.atMs), objects: [], ...end });
    case 'tracks':
      return empty({ step: question.stepMs, tracks: [], ...end });
    case 'events':
      return empty({ events: [], ...end });
    case 'visits':
      return empty({ visits: [], ...end });
    case 'dwell':
      return empty({ fences: [] });
    case 'occupancy':
      return empty({ step: question.stepMs, fences: [] });
    case 'flows':
      return empty({ flows: [] });
    case 'crossings':
      return { text: crossingsText(question, []), next: undefined };
    case 'heatmap': {
      const { grid, cellMeters, resolution } = question;
      return empty({ grid, ...(grid === 'h3' ? { resolution } : { cell_metres: cellMeters }), cells: [] });
    }
    case 'quality':
      return empty({ cell_metres: question.cellMeters, cells: [] });
    case 'trips':
      return empty({ id: question.id, trips: [], stops: [] });
    case 'rows':
    case 'sought':
      return { text: '[]', next: undefined };
    case 'objects':
    case 'way':
      return { text: JSON.stringify(nothingMoved(question)), next: undefined };
  }
}

/**
 * Returns the files whose rows are the answer, without those that are read only for the time before and after the span.
 */
function mainFiles(files: readonly HistoryFile[], question: PoolQuery): readonly HistoryFile[] {
  switch (question.ask) {
    case 'visits':
    case 'dwell':
    case 'occupancy':
    case 'flows':
      return filesOf(files, 'fence_events', { fromMs: question.fromMs - LOOK_BACK_MS, toMs: EVER.toMs });
    case 'crossings':
      return filesOf(files, 'fence_events', question);
    case 'heatmap': {
      const { whose, fromMs, toMs, maxGapMs } = question;
      return filesOf(files, whose, { fromMs: fromMs - maxGapMs, toMs });
    }
    case 'sought':
      return mainFiles(files, question.of);
    default:
      return files;
  }
}

/** Whether the sort order of the files narrows down the rows of the query. */
function isOfObjects(question: PoolQuery): boolean {
  if (question.ask === 'objects') return question.only !== undefined;
  return question.ask === 'rows' && (question.selection.id !== undefined || question.selection.keep === 'any');
}

function checkSize(files: readonly HistoryFile[], question: PoolQuery): void {
  if (question.ask === 'sought') checkSize(files, question.of);
  const span = question.ask === 'rows' ? question.selection : question;
  if (BY_ID.has(question.ask) || !('fromMs' in span) || isOfObjects(question)) return;
  const { fromMs, toMs } = span;
  const some = mainFiles(files, question).filter(({ hourMs }) => hourMs < toMs);
  const rows = some.reduce((sum, file) => sum + file.rows, 0);
  if (rows <= ROWS_MAX) return;
  const firstMs = Math.max(fromMs, Math.min(...some.map(({ hourMs }) => hourMs)));
  const endMs = Math.min(toMs, Math.max(...some.map(({ hourMs }) => hourMs + HOUR_MS)));
  const hours = (endMs - firstMs) / HOUR_MS;
  const least = Math.max(1, Math.floor((hours * ROWS_MAX) / rows));
  throw new Unanswerable(
    problemOf('span_has_too_many_rows', {
      path: question.ask === 'objects' ? 'datetime' : 'from, to',
      ...{ hours: hours.toFixed(1), rows, limit: ROWS_MAX, fewer_hours: least },
    }),
  );
}
