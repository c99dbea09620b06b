import type { Static } from 'typebox';
import type {
  DwellReply,
  FlowsReply,
  HeatmapReply,
  QualityReply,
  OccupancyReply,
  SnapshotReply,
  TracksReply,
  VisitsReply,
} from '../../model/history_replies.ts';
import { API_PATH } from '../hub/api_path.ts';
import { entityPath, getText, queryText, request } from '../hub/rest.ts';

/** Client of the history API. Strings contain RFC 3339 times, numbers milliseconds. */

/** Half-open time range in Unix milliseconds. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Kind of moving object, as the API names it. */
export type ObjectKind = 'trackable' | 'provider';

export type Tracks = Static<typeof TracksReply>;
export type Snapshot = Static<typeof SnapshotReply>;
export type Visit = Static<typeof VisitsReply>['visits'][number];
export type Dwell = Static<typeof DwellReply>['fences'][number];
export type Flow = Static<typeof FlowsReply>['flows'][number];
export type QualityCell = Static<typeof QualityReply>['cells'][number];
export type HeatCell = Static<typeof HeatmapReply>['cells'][number];

/** Response, and whether files or hubs of the cluster are missing in it: the hub then sends a `Warning` header. */
export interface HistoryAnswer<T> {
  readonly value: T;
  readonly isIncomplete: boolean;
}

type Query = Readonly<Record<string, string | number | undefined>>;

function within({ fromMs, toMs }: Range): { readonly from: string; readonly to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

async function fetchAnswer<T>(path: string, query: Query, signal: AbortSignal): Promise<HistoryAnswer<T>> {
  let isIncomplete = false;
  const onWarning = (): void => {
    isIncomplete = true;
  };
  const value = await request<T>('GET', path, { query, signal, onWarning });
  return { value, isIncomplete };
}

/** Points per page: the hub's maximum. */
const POINTS_MAX = 100_000;
/** Maximum number of pages per chunk of time. The user is informed that further pages are omitted. */
const PAGES_MAX = 6;

/** Response bodies, one per page. */
export interface Bodies {
  readonly pages: readonly string[];
  /** Whether pages were omitted. */
  readonly isCut: boolean;
  readonly isIncomplete: boolean;
}

export const NO_BODIES: Bodies = { pages: [], isCut: false, isIncomplete: false };

/** Fetches the tracks in a range, one point per object and step, unparsed: a worker parses them. */
export function fetchTracks(
  { kind, stepMs, ...range }: Range & { readonly kind: ObjectKind; readonly stepMs: number },
  signal: AbortSignal,
): Promise<Bodies> {
  return fetchPages('/history/tracks', { ...within(range), kind, step: stepMs, limit: POINTS_MAX }, signal);
}

/** Fetches the positions of all objects of a kind at a time, unparsed. */
export function fetchSnapshot(
  { kind, atMs, maxAgeMs }: { readonly kind: ObjectKind; readonly atMs: number; readonly maxAgeMs?: number },
  signal: AbortSignal,
): Promise<Bodies> {
  const at = new Date(atMs).toISOString();
  return fetchPages('/history/snapshot', { at, kind, max_age: maxAgeMs, limit: POINTS_MAX }, signal);
}

async function fetchPages(path: string, query: Query, signal: AbortSignal): Promise<Bodies> {
  const pages: string[] = [];
  let isIncomplete = false;
  const onWarning = (): void => {
    isIncomplete = true;
  };
  for (let cursor: string | undefined; pages.length < PAGES_MAX; ) {
    const text = await getText(`${API_PATH}${path}${queryText({ ...query, cursor })}`, { signal, onWarning });
    pages.push(text);
    cursor = cursorOf(text);
    if (cursor === undefined) return { pages, isCut: false, isIncomplete };
  }
  return { pages, isCut: true, isIncomplete };
}

/** Extracts the cursor at the end of a body without parsing all of it. */
export function cursorOf(text: string): string | undefined {
  const found = /"next_cursor"\s*:\s*("(?:[^"\\]|\\.)*"|null)/.exec(text.slice(-2_000));
  if (found === null) return (JSON.parse(text) as { next_cursor?: string | null }).next_cursor ?? undefined;
  return (JSON.parse(found[1] ?? 'null') as string | null) ?? undefined;
}

/** Fetches the visits of a fence or by a trackable that overlap a range. */
export function fetchVisits(
  { kind, id, limit, ...range }: Range & { readonly kind: 'fences' | 'trackables'; readonly id: string; limit: number },
  signal: AbortSignal,
): Promise<HistoryAnswer<Static<typeof VisitsReply>>> {
  return fetchAnswer(`${entityPath(kind, id)}/visits`, { ...within(range), limit }, signal);
}

/** Fetches the dwell times in a fence, or in all fences, and with `stepMs` also those of each step. */
export function fetchDwell(
  { fenceId, stepMs, ...range }: Range & { readonly fenceId: string | undefined; readonly stepMs?: number },
  signal: AbortSignal,
): Promise<HistoryAnswer<Static<typeof DwellReply>>> {
  return fetchAnswer('/analytics/dwell', { ...within(range), fence_id: fenceId, step: stepMs }, signal);
}

/** Fetches the number of objects in a fence, or in all fences, at each step. */
export function fetchOccupancy(
  { fenceId, stepMs, ...range }: Range & { readonly fenceId: string | undefined; readonly stepMs: number },
  signal: AbortSignal,
): Promise<HistoryAnswer<Static<typeof OccupancyReply>>> {
  return fetchAnswer('/analytics/occupancy', { ...within(range), step: stepMs, fence_id: fenceId }, signal);
}

/** Number of samples of occupancy in a range. */
const SAMPLES = 500;

/** Fetches dwell times and occupancy of all fences. */
export async function fetchUse(
  range: Range,
  signal: AbortSignal,
): Promise<
  HistoryAnswer<{ readonly dwell: Static<typeof DwellReply>; readonly occupancy: Static<typeof OccupancyReply> }>
> {
  const step = Math.max(1_000, Math.round((range.toMs - range.fromMs) / SAMPLES));
  const [dwell, occupancy] = await Promise.all([
    fetchAnswer<Static<typeof DwellReply>>('/analytics/dwell', within(range), signal),
    fetchAnswer<Static<typeof OccupancyReply>>('/analytics/occupancy', { ...within(range), step }, signal),
  ]);
  const isIncomplete = dwell.isIncomplete || occupancy.isIncomplete;
  return { value: { dwell: dwell.value, occupancy: occupancy.value }, isIncomplete };
}

/** Fetches the flows between fences. */
export function fetchFlows(range: Range, signal: AbortSignal): Promise<HistoryAnswer<Static<typeof FlowsReply>>> {
  return fetchAnswer('/analytics/flows', within(range), signal);
}

/** Grid of squares within a bounding box. */
export interface Grid extends Range {
  readonly cellMeters: number;
  readonly box: readonly number[];
  readonly floor: number | undefined;
  readonly kind: ObjectKind;
}

/** Fetches the seconds spent in each cell of a grid. */
export function fetchHeatmap(grid: Grid, signal: AbortSignal): Promise<HistoryAnswer<Static<typeof HeatmapReply>>> {
  return fetchAnswer('/analytics/heatmap', gridParams(grid), signal);
}

/** Fetches the accuracy, gaps and jumps of the positions in each cell of a grid. */
export function fetchQuality(grid: Grid, signal: AbortSignal): Promise<HistoryAnswer<Static<typeof QualityReply>>> {
  return fetchAnswer('/analytics/quality', gridParams(grid), signal);
}

function gridParams({ cellMeters, box, floor, kind, ...range }: Grid) {
  return { ...within(range), cell: cellMeters, bbox: box.join(','), floor, kind };
}
