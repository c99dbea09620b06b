import { HubError, hubError } from '../errors.ts';
import { outOfAxis } from '../problem.ts';
import type { TObject } from 'typebox';
import { idKey, isUnset } from '../model/id.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { isObject } from '../model/json_tree.ts';

/** An entity as sent by a client. */
export type EntityBody = Readonly<Record<string, unknown>>;

/** Returns the body as an object. Throws HUB_BAD_REQUEST if it is not an object. */
export function bodyObject(body: unknown): EntityBody {
  if (isObject(body)) return body as EntityBody;
  throw hubError('not_an_object', { path: 'body', found: show(body) });
}

/** Sets the id of the body: at its original position, or else as the first member. */
export function withId(body: EntityBody, id: string): EntityBody {
  if (body['id'] === id) return body;
  const { id: _replaced, ...rest } = body;
  return { id, ...rest };
}

/**
 * The body with the id of the entity that it replaces. Throws HUB_BAD_REQUEST for a different id; a missing id is
 * allowed.
 */
export function withIdOf(body: EntityBody, { id }: { readonly id: string }): EntityBody {
  const sent = body['id'];
  if (isUnset(sent)) return withId(body, id);
  if (typeof sent === 'string' && idKey(sent) === idKey(id)) return withId(body, id);
  throw hubError('not_as_in_path', { path: 'id', expected: id, found: show(sent) });
}

/** Drops members unknown to the schema. The others stay in the order in which they were sent. */
export function onlyMembers<T>(schema: TObject, body: T): T {
  const members = schema.properties;
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body as EntityBody)) {
    if (Object.hasOwn(members, name)) kept.push([name, value]);
  }
  return Object.fromEntries(kept) as T;
}

/**
 * Throws HUB_BAD_REQUEST if one of these fields is an integer too large to be written without an exponent, which
 * clients with 64-bit integers cannot read. `parent` is the member that contains the fields.
 */
export function checkIntegers(body: object, fields: readonly string[], parent?: string): void {
  for (const field of fields) {
    const value = (body as EntityBody)[field];
    if (typeof value !== 'number' || Number.isSafeInteger(value)) continue;
    const path = parent === undefined ? field : `${parent}.${field}`;
    throw hubError('above_maximum', { path, maximum: String(Number.MAX_SAFE_INTEGER), found: show(value) });
  }
}

export const DURATIONS = [
  'timeout',
  'fence_timeout',
  'tolerance_timeout',
  'entry_tolerance_timeout',
  'exit_delay',
  'entry_delay',
] as const;

/** Throws HUB_BAD_REQUEST unless the position is longitude and latitude. Longitudes reach to ±`lonMax`. */
export function checkLonLat(position: readonly number[], path: string, lonMax: number): void {
  const [lon = 0, lat = 0] = position;
  if (Math.abs(lon) > lonMax)
    throw new HubError(outOfAxis('longitude', lonMax, { path: pathOf(path, ['0']), found: show(lon) }));
  if (Math.abs(lat) > 90)
    throw new HubError(outOfAxis('latitude', 90, { path: pathOf(path, ['1']), found: show(lat) }));
}
