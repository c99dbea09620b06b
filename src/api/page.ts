import { hubError } from '../errors.ts';
import Type from 'typebox';
import type { HttpReply } from '../exchange.ts';
import { show } from '../model/error_value_text.ts';
import type { ApiCall } from './route.ts';

/** Parameters of paged lists. */
export const PAGE_QUERY = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Maximum number of items, sorted by id. All items if absent.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'Id after which the page begins. The id need not exist. The header Link has the next one.',
    }),
  ),
};

/** Documentation of the header with the next page. */
export const PAGE_HEADERS = { Link: 'Link to the next page, rel="next". Only with `limit`, and not on the last page.' };

interface PageQuery {
  readonly limit?: string;
  readonly cursor?: string;
}

/** A page of a list, sorted by id, or the whole list in its original order. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Path and query of the next page; undefined for the last page. */
  readonly next: string | undefined;
}

/** The requested page of a list. Throws HUB_BAD_REQUEST for an invalid limit. */
export function pageOf<T extends { readonly id: string }>(list: readonly T[], call: ApiCall): Page<T> {
  const { limit: limitText, cursor } = call.query as PageQuery;
  if (limitText === undefined && cursor === undefined) return { items: list, next: undefined };
  const limit = limitText === undefined ? Infinity : limitOf(limitText);
  const rest = cursor === undefined ? [...list] : list.filter(({ id }) => id > cursor);
  const items = smallest(rest, limit);
  const last = items.at(-1);
  const next = last === undefined || rest.length <= limit ? undefined : nextOf(call, last.id);
  return { items, next };
}

/** Adds a link to the next page to the reply. */
export function leadingOn(reply: HttpReply, { next }: Page<unknown>): HttpReply {
  if (next === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, Link: `<${next}>; rel="next"` } };
}

function limitOf(text: string): number {
  const limit = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw hubError('not_a_count', { path: 'limit', minimum: 1, found: show(text) });
}

function nextOf({ path, query }: ApiCall, cursor: string): string {
  const given = Object.entries(query as object).map(([name, value]) => [name, String(value)]);
  return `${path}?${new URLSearchParams({ ...Object.fromEntries(given), cursor })}`;
}

interface Named {
  readonly id: string;
}

/**
 * The elements with the smallest ids, sorted. Linear in the length of the list: a list of all entities need not be
 * sorted for each page. Reorders the list.
 */
export function smallest<T extends Named>(list: T[], count: number): readonly T[] {
  if (count < list.length) divide(list, count);
  return list.slice(0, Math.min(count, list.length)).sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Moves the smallest elements to the front, by quickselect. */
function divide(list: Named[], count: number): void {
  let left = 0;
  let right = list.length - 1;
  while (left < right) {
    const pivot = median(list, left, right);
    let i = left;
    let j = right;
    while (i <= j) {
      while ((list[i] as Named).id < pivot) i++;
      while ((list[j] as Named).id > pivot) j--;
      if (i > j) break;
      [list[i], list[j]] = [list[j] as Named, list[i] as Named];
      i++;
      j--;
    }
    if (count <= j) right = j;
    else if (count >= i) left = i;
    else return;
  }
}

/** Median of the first, the middle and the last: lists are often partially sorted. */
function median(list: readonly Named[], left: number, right: number): string {
  const [a, b, c] = [left, (left + right) >>> 1, right].map((at) => (list[at] as Named).id) as [string, string, string];
  if (a < b) return b < c ? b : a < c ? c : a;
  return a < c ? a : b < c ? c : b;
}
