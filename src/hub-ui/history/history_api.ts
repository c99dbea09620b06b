import type { Static } from 'typebox';
import type {
  DwellReply,
  FlowsReply,
  HeatmapReply,
  OccupancyReply,
  SnapshotReply,
  TracksReply,
  VisitsReply,
} from '../../model/history_replies.ts';
import { API_PATH } from '../hub/api_path.ts';
import { entityPath, getText, queryText, request } from '../hub/rest.ts';

/** What was recorded, as the hub answers it. Times in texts are RFC 3339, all others milliseconds. */

/** From a time to another that is no part of it, in milliseconds since 1970. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What moves: the word of the API for a kind of object. */
export type Mover = 'trackable' | 'provider';

export type Tracks = Static<typeof TracksReply>;
export type Snapshot = Static<typeof SnapshotReply>;
export type Visit = Static<typeof VisitsReply>['visits'][number];
export type Dwell = Static<typeof DwellReply>['fences'][number];
export type Flow = Static<typeof FlowsReply>['flows'][number];
export type HeatCell = Static<typeof HeatmapReply>['cells'][number];

/** An answer, and whether it lacks what files or hubs of a cluster have: the hub sends a header Warning then. */
export interface Answer<T> {
  readonly value: T;
  readonly isIncomplete: boolean;
}

type Query = Readonly<Record<string, string | number | undefined>>;

function within({ fromMs, toMs }: Range): { readonly from: string; readonly to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

async function ask<T>(path: string, query: Query, signal: AbortSignal): Promise<Answer<T>> {
  let isIncomplete = false;
  const onWarning = (): void => {
    isIncomplete = true;
  };
  const value = await request<T>('GET', path, { query, signal, onWarning });
  return { value, isIncomplete };
}

/** As many points in one answer: the most that the hub gives. */
const POINTS_MAX = 100_000;
/** More of them for one piece of time would only be in the way; the rest is left out, and said to be. */
const PAGES_MAX = 6;

/** Bodies of answers, of one page each. */
export interface Bodies {
  readonly texts: readonly string[];
  /** There would have been more of them. */
  readonly isCut: boolean;
  readonly isIncomplete: boolean;
}

export const NO_BODIES: Bodies = { texts: [], isCut: false, isIncomplete: false };

/** All that moved in a range, one point of each object a step, as texts: a thread of their own reads them. */
export function fetchTracks(
  { kind, stepMs, ...range }: Range & { readonly kind: Mover; readonly stepMs: number },
  signal: AbortSignal,
): Promise<Bodies> {
  return fetchPages('/history/tracks', { ...within(range), kind, step: stepMs, limit: POINTS_MAX }, signal);
}

/** Where everything of a kind was at a time, as a text. */
export function fetchSnapshot(
  { kind, atMs }: { readonly kind: Mover; readonly atMs: number },
  signal: AbortSignal,
): Promise<Bodies> {
  return fetchPages('/history/snapshot', { at: new Date(atMs).toISOString(), kind, limit: POINTS_MAX }, signal);
}

async function fetchPages(path: string, query: Query, signal: AbortSignal): Promise<Bodies> {
  const texts: string[] = [];
  let isIncomplete = false;
  const onWarning = (): void => {
    isIncomplete = true;
  };
  for (let cursor: string | undefined; texts.length < PAGES_MAX; ) {
    const text = await getText(`${API_PATH}${path}${queryText({ ...query, cursor })}`, { signal, onWarning });
    texts.push(text);
    cursor = cursorOf(text);
    if (cursor === undefined) return { texts, isCut: false, isIncomplete };
  }
  return { texts, isCut: true, isIncomplete };
}

/** The cursor at the end of a long text, which is not read for it as a whole. */
export function cursorOf(text: string): string | undefined {
  const found = /"next_cursor"\s*:\s*("(?:[^"\\]|\\.)*"|null)/.exec(text.slice(-2_000));
  if (found === null) return (JSON.parse(text) as { next_cursor?: string | null }).next_cursor ?? undefined;
  return (JSON.parse(found[1] ?? 'null') as string | null) ?? undefined;
}

/** Visits of a fence or by a trackable that overlap a range. */
export function fetchVisits(
  { kind, id, limit, ...range }: Range & { readonly kind: 'fences' | 'trackables'; readonly id: string; limit: number },
  signal: AbortSignal,
): Promise<Answer<Static<typeof VisitsReply>>> {
  return ask(`${entityPath(kind, id)}/visits`, { ...within(range), limit }, signal);
}

/** How long objects stay in a fence. */
export function fetchDwell(
  { fenceId, ...range }: Range & { readonly fenceId: string },
  signal: AbortSignal,
): Promise<Answer<Static<typeof DwellReply>>> {
  return ask('/analytics/dwell', { ...within(range), fence_id: fenceId }, signal);
}

/** How many were in a fence, at each step. */
export function fetchOccupancy(
  { fenceId, stepMs, ...range }: Range & { readonly fenceId: string; readonly stepMs: number },
  signal: AbortSignal,
): Promise<Answer<Static<typeof OccupancyReply>>> {
  return ask('/analytics/occupancy', { ...within(range), step: stepMs, fence_id: fenceId }, signal);
}

/** From which fence to which next one objects went. */
export function fetchFlows(range: Range, signal: AbortSignal): Promise<Answer<Static<typeof FlowsReply>>> {
  return ask('/analytics/flows', within(range), signal);
}

/** Seconds that objects have spent in cells of a grid, within longitudes and latitudes. */
export function fetchHeatmap(
  {
    cellMeters,
    box,
    floor,
    kind,
    ...range
  }: Range & {
    readonly cellMeters: number;
    readonly box: readonly number[];
    readonly floor: number | undefined;
    readonly kind: Mover;
  },
  signal: AbortSignal,
): Promise<Answer<Static<typeof HeatmapReply>>> {
  return ask('/analytics/heatmap', { ...within(range), cell: cellMeters, bbox: box.join(','), floor, kind }, signal);
}
