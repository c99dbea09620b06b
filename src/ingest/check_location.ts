import { outOfAxis, problemOf, type Problem } from '../problem.ts';
import { isCrs, projection } from '../core/geo/crs.ts';
import { type AcceptedLocation, accept } from '../core/location/accepted.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { type InputBounds, bytesBeyond, DEFAULT_BOUNDS } from '../model/bounds.ts';
import { checker } from '../model/check.ts';
import { DEPTH_MAX } from '../model/depth.ts';
import { badId, isId } from '../model/id.ts';
import { unsupportedReason } from '../model/json.ts';
import { Location } from '../model/location.ts';
import { show } from '../model/error_value_text.ts';
import { parseTime } from '../model/time.ts';
import type { Zone } from '../model/zone.ts';

const LOCATION = checker(Location);
const UUID_LENGTH = 36;

/** A valid location, and its timestamp_generated in milliseconds: the time of receipt if absent. */
export interface CheckedLocation {
  readonly location: AcceptedLocation;
  readonly generatedMs: number;
}

/** Context of a check. */
export interface CheckContext {
  /** Name of the location in messages: `locations[3]`, or empty. */
  readonly at: string;
  /** Provider in the path of the request, which the location may omit. */
  readonly providerId?: string | undefined;
  readonly receivedMs: number;
  /** Finds a zone by id or foreign id. */
  zone(name: string): Zone | undefined;
  /** Returns the id with which the provider was created. A UUID may be sent in another case. */
  knownId(providerId: string): string;
  /** Maximum nesting of properties; default 200. */
  readonly depthMax?: number | undefined;
  /** Default DEFAULT_BOUNDS. */
  readonly bounds?: InputBounds | undefined;
}

/**
 * Validates a received location, cheapest rules first, and fills in provider, source and crs. If it is invalid, returns
 * the problem with the field and the value found.
 */
export function checkLocation(value: unknown, context: CheckContext): CheckedLocation | Problem {
  const { at, bounds = DEFAULT_BOUNDS } = context;
  if (!LOCATION.fits(value)) return LOCATION.explain(value, at) ?? problemOf('no_location', { path: at });
  const providerId = value.provider_id || context.providerId;
  if (providerId === undefined)
    return problemOf('missing_provider', { path: path(at, 'provider_id'), found: show(value.provider_id) });
  if (context.providerId !== undefined && providerId !== context.providerId) {
    return problemOf('not_as_in_path', {
      path: path(at, 'provider_id'),
      expected: context.providerId,
      found: show(providerId),
    });
  }
  const crs = value.crs || 'local';
  const source = value.source || providerId;
  const overlong = findOverlong(value, providerId, bounds.nameLength);
  if (overlong !== undefined) {
    const { field, length } = overlong;
    return problemOf('too_many', {
      path: path(at, field),
      limit: bounds.nameLength,
      unit: 'characters',
      found: length,
    });
  }
  if (!isId(providerId)) return badId(path(at, 'provider_id'), providerId);
  if (!isId(source)) return badId(path(at, 'source'), source);
  const positionProblem = checkPosition(value, crs, context);
  if (positionProblem !== undefined) return positionProblem;
  let generatedMs = context.receivedMs;
  if (value.timestamp_generated != null) {
    generatedMs = parseTime(value.timestamp_generated);
    if (Number.isNaN(generatedMs)) return badTime(at, 'timestamp_generated', value.timestamp_generated);
  }
  if (value.timestamp_sent != null && Number.isNaN(parseTime(value.timestamp_sent))) {
    return badTime(at, 'timestamp_sent', value.timestamp_sent);
  }
  let propertiesText: string | undefined;
  if (value.properties != null) {
    const { depthMax = DEPTH_MAX } = context;
    const unfit = unsupportedReason(value.properties, { root: path(at, 'properties'), depthMax });
    if (unfit !== undefined) return unfit;
    propertiesText = JSON.stringify(value.properties);
    const bytes = bytesBeyond(propertiesText, bounds.locationPropertiesBytes);
    if (bytes !== undefined) {
      const max = bounds.locationPropertiesBytes;
      return problemOf('too_many', {
        path: path(at, 'properties'),
        limit: max,
        unit: 'bytes_of_json',
        found: bytes,
      });
    }
  }
  const id = providerId.length === UUID_LENGTH ? context.knownId(providerId) : providerId;
  return { location: accept(value, { providerId: id, source, crs, generatedMs, propertiesText }), generatedMs };
}

/** Finds a string that exceeds the limit among those stored as sent. Even a time may have any number of digits. */
// hot
function findOverlong(
  { source, timestamp_generated: generated, timestamp_sent: sent }: Location,
  providerId: string,
  max: number,
): { readonly field: string; readonly length: number } | undefined {
  if (providerId.length > max) return { field: 'provider_id', length: providerId.length };
  if (source != null && source.length > max) return { field: 'source', length: source.length };
  if (generated != null && generated.length > max) return { field: 'timestamp_generated', length: generated.length };
  if (sent != null && sent.length > max) return { field: 'timestamp_sent', length: sent.length };
  return undefined;
}

function checkPosition(value: Location, crs: string, context: CheckContext): Problem | undefined {
  const { at } = context;
  const [x, y, z] = value.position.coordinates as [number, number, number?];
  const bad = [x, y, z ?? 0].findIndex((coordinate) => !Number.isFinite(coordinate));
  if (bad >= 0) return problemOf('not_finite', { path: `${path(at, 'position')}.coordinates[${bad}]` });
  if (crs === 'EPSG:4326') {
    if (Math.abs(x) > 180) return outside('longitude', path(at, 'position'), x);
    if (Math.abs(y) > 90) return outside('latitude', path(at, 'position'), y);
    return undefined;
  }
  if (crs === 'local') return checkLocal(value, [x, y], context);
  if (!isCrs(crs)) return problemOf('not_a_crs', { path: path(at, 'crs'), found: show(crs) });
  if (projection(crs)?.covers(x, y) === true) return undefined;
  return problemOf('out_of_reach', { path: `${path(at, 'position')}.coordinates`, crs: crs, found: show([x, y]) });
}

function checkLocal(value: Location, [x, y]: readonly [number, number], context: CheckContext): Problem | undefined {
  const { at } = context;
  const name = value.source || undefined;
  const zone = name === undefined ? undefined : context.zone(name);
  if (zone === undefined) {
    return problemOf('not_zone', { path: path(at, 'source'), found: show(value.source) });
  }
  const transform = zoneTransform(zone);
  if (transform === undefined) {
    return problemOf('not_placed_zone', { path: path(at, 'source'), found: show(name) });
  }
  if (transform.covers(x, y)) return undefined;
  return problemOf('out_of_zone', {
    path: `${path(at, 'position')}.coordinates`,
    zone_id: zone.id,
    found: show([x, y]),
  });
}

function outside(axis: 'longitude' | 'latitude', position: string, found: number): Problem {
  const [index, max] = axis === 'longitude' ? [0, 180] : [1, 90];
  return outOfAxis(axis, max, { path: `${position}.coordinates[${index}]`, found: String(found) });
}

function badTime(at: string, field: string, found: string): Problem {
  return problemOf('not_a_time', { path: path(at, field), found: show(found) });
}

function path(at: string, field: string): string {
  return at === '' ? field : `${at}.${field}`;
}
