import { hubError, HubError } from '../errors.ts';
import Type from 'typebox';
import { type CursorList, cursorOf } from '../history/queries/cursor.ts';
import type { AreaFilter, Page, Span } from '../history/queries/query.ts';
import { badId, isId } from '../model/id.ts';
import { Time } from '../model/schema.ts';
import { show } from '../model/error_value_text.ts';
import { parseTime } from '../model/time.ts';

const HOUR_MS = 3_600_000;
const LIMIT_DEFAULT = 10_000;
const LIMIT_MAX = 100_000;

/** Parameters of queries about a time range. */
export const SPAN_QUERY = {
  from: Type.Optional(Time('Start of the range, RFC 3339; an hour before its end if absent.')),
  to: Type.Optional(Time('End of the range, exclusive; now if absent.')),
};

/** Parameters of paged lists. */
export const PART_QUERY = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      description: `Maximum elements of the reply; ${LIMIT_DEFAULT} if absent.`,
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous reply.' })),
};

/** Parameters of an area. */
export const AREA_QUERY = {
  bbox: Type.Optional(Type.String({ description: 'west,south,east,north in degrees; everywhere if absent.' })),
  floor: Type.Optional(Type.Number({ description: 'The floor; all if absent.' })),
};

/** Parameters as sent. */
export type QueryParameters = Readonly<Record<string, string | boolean | undefined>>;

/** The requested time range. Throws HUB_BAD_REQUEST for an invalid time, and for an end before the start. */
export function spanOf(query: QueryParameters, nowMs: number): Span {
  const from = timeIn(query, 'from');
  const to = timeIn(query, 'to');
  const toMs = to ?? (from === undefined ? nowMs : Math.max(nowMs, from));
  const fromMs = from ?? toMs - HOUR_MS;
  if (fromMs < toMs) return { fromMs, toMs };
  throw hubError('not_before', { path: 'from', from: String(query.from), to: String(query.to ?? 'now') });
}

export function timeIn(query: QueryParameters, name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const ms = parseTime(String(text));
  if (Number.isFinite(ms)) return ms;
  throw hubError('not_a_time', { path: name, found: show(text) });
}

/** The requested page of a list. Throws HUB_BAD_REQUEST for an invalid cursor. */
export function partOf(query: QueryParameters, list: CursorList): Page {
  const limit = integerIn(query, 'limit', { least: 1, most: LIMIT_MAX }) ?? LIMIT_DEFAULT;
  if (query.cursor === undefined) return { limit, cursor: undefined };
  const cursor = cursorOf(list, String(query.cursor));
  if (cursor !== undefined) return { limit, cursor };
  throw hubError('bad_cursor', { path: 'cursor', found: show(query.cursor) });
}

/** An integer parameter. */
export function integerIn(
  query: QueryParameters,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  const value = numberIn(query, name, { least, most });
  if (value === undefined || Number.isInteger(value)) return value;
  throw hubError('not_an_integer', { path: name, found: show(query[name]) });
}

export function numberIn(
  query: QueryParameters,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const value = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw hubError('not_in_range', { path: name, minimum: least, maximum: most, found: show(text) });
}

/** An enum parameter. */
export function wordIn<const Word extends string>(
  query: QueryParameters,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw hubError('out_of_choices', { path: name, allowed: words, found: show(text) });
}

/** Ids, separated by commas. Throws HUB_BAD_REQUEST for an invalid id. */
export function idsIn(query: QueryParameters, name: string): readonly string[] | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const ids = String(text)
    .split(',')
    .filter((id) => id !== '');
  const bad = ids.find((id) => !isId(id));
  if (bad !== undefined) throw new HubError(badId(name, bad));
  return ids;
}

export function areaOf(query: QueryParameters): AreaFilter {
  const floor = numberIn(query, 'floor', { least: -1e6, most: 1e6 });
  const { bbox } = query;
  if (bbox === undefined) return { bbox: undefined, floor };
  const numbers = String(bbox)
    .split(',')
    .map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
  const [west, south, east, north] = numbers as [number, number, number, number];
  const isBox =
    numbers.length === 4 && [west, east].every((lon) => Math.abs(lon) <= 180) && south >= -90 && north <= 90;
  if (isBox && south <= north) return { bbox: [west, south, east, north], floor };
  throw hubError('not_a_bbox', { path: 'bbox', found: show(bbox) });
}
