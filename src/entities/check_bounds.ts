import type { ParamValue } from '../reasons.ts';
import { hubError, HubError } from '../errors.ts';
import { type InputBounds, jsonBytesBeyond } from '../model/bounds.ts';
import { badId, isId } from '../model/id.ts';
import { pathOf } from '../model/error_value_text.ts';
import type { EntityBody } from './body.ts';

/** Members that are geometries, or lists of positions. */
const GEOMETRIES: ReadonlySet<string> = new Set(['region', 'geometry', 'ground_control_points']);
/** Maximum number of ground control points, well above that of any real site. */
const CONTROL_ROWS_MAX = 10_000;
/** Multi-line strings, and application data that may be a string. */
const LONG_TEXTS: ReadonlySet<string> = new Set(['description', 'address', 'sensors']);
/** Members that are ids, or lists of them. */
const IDS: ReadonlySet<string> = new Set([
  ...['id', 'foreign_id', 'zone_id', 'parent', 'location_providers', 'anchor_ids'],
  ...['fence_ids', 'trackable_ids', 'provider_ids'],
]);

/**
 * Throws HUB_BAD_REQUEST if a member of the body exceeds a limit of the hub, or is an id with control characters. The
 * message names member, limit and value. Does not validate the form of values. Values already in `before` are accepted.
 */
export function checkBounds(body: EntityBody, bounds: InputBounds, before: object = {}): void {
  for (const [name, value] of Object.entries(body)) {
    if (value === (before as EntityBody)[name]) continue;
    if (typeof value === 'string' && !LONG_TEXTS.has(name)) checkName(name, value, bounds, IDS.has(name));
    else if (GEOMETRIES.has(name)) checkGeometry(name, value, bounds);
    else if (typeof value === 'string' || (typeof value === 'object' && value !== null)) checkList(name, value, bounds);
  }
}

function checkName(path: string, name: string, { nameLength }: InputBounds, isAnId: boolean): void {
  if (name.length > nameLength) throw tooMany(path, nameLength, 'characters', name.length);
  if (isAnId && !isId(name)) throw new HubError(badId(path, name));
}

/** Checks a long string, application data, or a list, which may contain names. */
function checkList(path: string, value: object | string, bounds: InputBounds): void {
  checkBytes(path, value, bounds);
  if (!Array.isArray(value)) return;
  for (const [i, item] of value.entries()) {
    if (typeof item === 'string') checkName(pathOf(path, [String(i)]), item, bounds, IDS.has(path));
  }
}

function checkBytes(path: string, value: unknown, { entityPropertiesBytes: max }: InputBounds): void {
  const bytes = jsonBytesBeyond(value, max);
  if (bytes !== undefined) throw tooMany(path, max, 'bytes_of_json', bytes);
}

/** Members of a geometry besides coordinates are stored, too. */
function checkGeometry(path: string, value: unknown, bounds: InputBounds): void {
  if (Array.isArray(value)) {
    checkPositions(path, [value], { ...bounds, positions: Math.min(bounds.positions, CONTROL_ROWS_MAX) });
  } else if (typeof value === 'object' && value !== null) {
    const { coordinates, ...rest } = value as { readonly coordinates?: unknown };
    if (Array.isArray(coordinates)) checkPositions(`${path}.coordinates`, coordinates, bounds);
    checkBytes(path, rest, bounds);
  }
}

function checkPositions(path: string, parts: readonly unknown[], { rings, positions }: InputBounds): void {
  if (parts.length > rings && Array.isArray(parts[0])) throw tooMany(path, rings, 'rings', parts.length);
  let found = 0;
  for (const part of parts) found += Array.isArray(part) ? part.length : 1;
  if (found > positions) throw tooMany(path, positions, 'positions', found);
}

function tooMany(path: string, count: number, unit: ParamValue<'unit'>, found: number | 'more'): HubError {
  return hubError('too_many', { path, limit: count, unit, found });
}
