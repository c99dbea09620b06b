import { formatTime } from '../../model/time.ts';
import { type Damaged, damagedAmong, parquet } from '../damaged.ts';
import { type Duck, isInterrupted } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { HOUR_MS } from '../layout.ts';
import { placesText } from './formats.ts';
import { heatmap, soughtByHeatmap } from './heatmap.ts';
import { nothingMoved, objects, way } from './moving.ts';
import { places, snapshot, tracks } from './places.ts';
import {
  EVER,
  type KnownAsked,
  LOOK_BACK_MS,
  type Question,
  type ThreadQuestion,
  type Told,
  Unanswerable,
} from './question.ts';
import { sharedRows } from './shared_rows.ts';
import { filesOf } from './spans.ts';
import { Values } from './sql.ts';
import { trips } from './trips.ts';
import { dwell, events, flows, occupancy, visits } from './visits.ts';
import { soughtByVisits } from './visits_table.ts';

/** An answer, and the files that could not be read for it. */
export interface Answer extends Told {
  readonly damaged: readonly Damaged[];
}

/** Rows of files that are looked at for one question at most: those that cannot be found by what the files are sorted by. */
const ROWS_MAX = 400_000_000;
/** Questions about one object. */
const BY_ID: ReadonlySet<ThreadQuestion['ask']> = new Set(['places', 'trips', 'way', 'known']);

/**
 * Answers a question by the files that it was handed. Files that cannot be read are left out, and named. Rejects with
 * Unanswerable for one that is too large, and with what DuckDB says for one that takes more than it may.
 */
export async function answer(duck: Duck, files: readonly HistoryFile[], question: ThreadQuestion): Promise<Answer> {
  checkSize(files, question);
  try {
    return { ...(await told(duck, files, question)), damaged: [] };
  } catch (error) {
    if (error instanceof Unanswerable || isInterrupted(error)) throw error;
    const damaged = await damagedAmong(duck, files);
    if (damaged.length === 0) throw error;
    const readable = files.filter(({ path }) => !damaged.some((one) => one.path === path));
    return { ...(await told(duck, readable, question)), damaged };
  }
}

function told(duck: Duck, files: readonly HistoryFile[], question: ThreadQuestion): Promise<Told> | Told {
  if (mainFiles(files, question).length === 0) return nothing(question);
  switch (question.ask) {
    case 'known':
      return known(duck, files, question);
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
    case 'heatmap':
      return heatmap(duck, files, question);
    case 'trips':
      return trips(duck, files, question);
    case 'objects':
      return objects(duck, files, question);
    case 'way':
      return way(duck, files, question);
    case 'rows':
      return sharedRows(duck, files, question);
    case 'sought':
      return sought(duck, files, question.of);
  }
}

async function known(duck: Duck, files: readonly HistoryFile[], { kind, id }: KnownAsked): Promise<Told> {
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

async function sought(duck: Duck, files: readonly HistoryFile[], question: Question): Promise<Told> {
  const needed = question.ask === 'heatmap' ? await soughtByHeatmap(duck, files, question) : [];
  const ofVisits = 'timeouts' in question ? await soughtByVisits(duck, files, question) : [];
  return { text: JSON.stringify([...needed, ...ofVisits]), next: undefined };
}

/** What is answered where nothing was recorded. */
function nothing(question: ThreadQuestion): Told {
  const span = 'fromMs' in question && { from: formatTime(question.fromMs), to: formatTime(question.toMs) };
  const end = { next_cursor: null };
  const empty = (rest: object): Told => ({ text: JSON.stringify({ ...span, ...rest }), next: undefined });
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
    case 'heatmap': {
      const { grid, cellMetres, resolution } = question;
      return empty({ grid, ...(grid === 'h3' ? { resolution } : { cell_metres: cellMetres }), cells: [] });
    }
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

/** The files that the answer is made of. Others have what was before and after that. */
function mainFiles(files: readonly HistoryFile[], question: ThreadQuestion): readonly HistoryFile[] {
  switch (question.ask) {
    case 'visits':
    case 'dwell':
    case 'occupancy':
    case 'flows':
      return filesOf(files, 'fence_events', { fromMs: question.fromMs - LOOK_BACK_MS, toMs: EVER.toMs });
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

/** Whether rows are found by what the files are sorted by. */
function isOfObjects(question: ThreadQuestion): boolean {
  if (question.ask === 'objects') return question.only !== undefined;
  return question.ask === 'rows' && (question.selection.id !== undefined || question.selection.keep === 'any');
}

function checkSize(files: readonly HistoryFile[], question: ThreadQuestion): void {
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
    `${question.ask === 'objects' ? 'datetime' : 'from, to'}: the ${hours.toFixed(1)} hours between them have ${rows.toLocaleString('en-US')} rows, ` +
      `and ${ROWS_MAX.toLocaleString('en-US')} can be looked at: ask for ${least} hours at once`,
  );
}
