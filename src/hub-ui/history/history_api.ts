import type { Static } from 'typebox';
import type { SnapshotReply, TracksReply } from '../../model/history_replies.ts';
import { API_PATH } from '../hub/api_path.ts';
import { getText, queryText } from '../hub/rest.ts';

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

type Query = Readonly<Record<string, string | number | undefined>>;

function within({ fromMs, toMs }: Range): { readonly from: string; readonly to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
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
