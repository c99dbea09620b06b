import Type from 'typebox';
import { parseRule } from '../../core/rules/parse.ts';
import { hubError } from '../../errors.ts';
import { checker } from '../../model/check.ts';
import { show } from '../../model/error_value_text.ts';
import { MATCHES_DEFAULT, SEARCH_QUERY, SearchRequest, SearchResult } from '../../model/search.ts';
import type { HttpReply } from '../../exchange.ts';
import type { ApiDeps } from '../deps.ts';
import { limitedTo } from '../ownership.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';
import { searched, searchJson } from '../search.ts';
import { VIEW_QUERY, type ViewQuery, viewOf } from '../view.ts';

const request = checker(SearchRequest);
/** Maximum number of positions of a region. */
const POSITIONS_MAX = 10_000;
const VIEW = { crs: VIEW_QUERY.crs, zone_id: VIEW_QUERY.zone_id };
const replies = { 200: { description: 'The objects.', schema: SearchResult } };
// A token that permits its own objects only finds those of the requested kind.
const permission = { operation: 'READ', resource: 'trackable_id', owned: 'reply' } as const;

export const SEARCH_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/search',
    summary: 'Objects near a point',
    versions: ['v2'],
    permission,
    query: Type.Object({ ...SEARCH_QUERY, ...VIEW }),
    replies,
    handle: (call, hub) => reply(() => requestOf(call.query), call, hub),
  }),
  route({
    method: 'POST',
    path: '/search',
    summary: 'Objects in a region or near a point',
    versions: ['v2'],
    permission,
    query: Type.Object(VIEW),
    body: SearchRequest,
    replies,
    handle: (call, hub) => reply(() => call.body, call, hub),
  }),
];

async function reply(read: () => unknown, call: ApiCall<ViewQuery>, hub: ApiDeps): Promise<HttpReply> {
  const view = viewOf(call, hub);
  const wanted = request.parse(read());
  checkRequest(wanted);
  const { kind, near, radius, region, floor, where, k } = wanted;
  const query = {
    ask: 'search',
    kind,
    view,
    ...limitedTo(kind, call.owned, hub),
    ...(near != null && { near: near as unknown as readonly [number, number] }),
    ...(radius != null && { radius }),
    ...(region != null && { region }),
    ...(floor != null && { floor }),
    ...(where != null && { where }),
  } as const;
  return call.reply.json(searchJson(query, await searched(query, k ?? MATCHES_DEFAULT, hub), call));
}

/** Throws HUB_BAD_REQUEST. */
function checkRequest({ near, radius, region, where }: SearchRequest): void {
  if (near == null && region == null) throw hubError('missing', { path: 'near' });
  if (near == null && radius != null) throw hubError('missing_for', { path: 'near', purpose: 'radius' });
  if (near != null) checkPosition('near', near);
  const positions = region?.coordinates.flat() ?? [];
  if (positions.length > POSITIONS_MAX) {
    throw hubError('too_many', { path: 'region', limit: POSITIONS_MAX, unit: 'positions', found: positions.length });
  }
  for (const position of positions) checkPosition('region', position);
  if (where != null) parseRule(where, 'where');
}

/** Throws HUB_BAD_REQUEST for a position that is not on the earth. */
function checkPosition(path: string, [lon = 0, lat = 0]: readonly number[]): void {
  if (Math.abs(lon) <= 180 && Math.abs(lat) <= 90) return;
  const [minimum, maximum, found] = Math.abs(lat) > 90 ? [-90, 90, lat] : [-180, 180, lon];
  throw hubError('not_in_range', { path, minimum, maximum, found: show(found) });
}

type Parameters = Readonly<Record<string, unknown>>;

/** Returns the parameters of a GET as the body of a POST. Throws HUB_BAD_REQUEST. */
function requestOf({ kind, near, k, radius, floor, where }: Parameters): object {
  if (typeof where === 'string') parseRule(where, 'where');
  return {
    ...(kind !== undefined && { kind }),
    ...(typeof near === 'string' && { near: near.split(',').map((part) => numberOf('near', part)) }),
    ...(k !== undefined && { k: numberOf('k', k) }),
    ...(radius !== undefined && { radius: numberOf('radius', radius) }),
    ...(floor !== undefined && { floor: numberOf('floor', floor) }),
    ...(where !== undefined && { where }),
  };
}

/** Throws HUB_BAD_REQUEST. */
function numberOf(path: string, value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  if (Number.isFinite(number)) return number;
  throw hubError('not_a_number', { path, found: show(value) });
}
