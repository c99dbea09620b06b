import { CRS_CHOICES, isCrs, projection } from '../core/geo/crs.ts';
import { type AcceptedLocation, accept } from '../core/location/accepted.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { type InputBounds, bytesBeyond, DEFAULT_BOUNDS, overBound } from '../model/bounds.ts';
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
  /** Returns the id as the provider was created: a UUID may be sent in another case. */
  knownId(providerId: string): string;
  /** Maximum nesting of properties; default 200. */
  readonly depthMax?: number | undefined;
  /** Default DEFAULT_BOUNDS. */
  readonly bounds?: InputBounds | undefined;
}

/**
 * Checks a received location, cheapest rules first, and fills in provider, source and crs. Returns a message with the
 * field and the value found if it is invalid.
 */
export function checkLocation(value: unknown, context: CheckContext): CheckedLocation | string {
  const { at, bounds = DEFAULT_BOUNDS } = context;
  if (!LOCATION.fits(value)) return LOCATION.explain(value, at) ?? `${at}: is no location`;
  const providerId = value.provider_id || context.providerId;
  if (providerId === undefined) return `${path(at, 'provider_id')}: is required, but is ${show(value.provider_id)}`;
  if (context.providerId !== undefined && providerId !== context.providerId) {
    return `${path(at, 'provider_id')}: must be ${show(context.providerId)} as in the path, found ${show(providerId)}`;
  }
  const crs = value.crs || 'local';
  const source = value.source || providerId;
  const overlong = findOverlong(value, providerId, bounds.nameLength);
  if (overlong !== undefined) {
    return overBound(path(at, overlong.field), bounds.nameLength, 'characters', overlong.length);
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
      return overBound(path(at, 'properties'), bounds.locationPropertiesBytes, 'bytes of JSON', bytes);
    }
  }
  const id = providerId.length === UUID_LENGTH ? context.knownId(providerId) : providerId;
  return { location: accept(value, { providerId: id, source, crs, generatedMs, propertiesText }), generatedMs };
}

/** Finds a string that is stored as sent and exceeds the limit. A time may have any number of digits. */
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

function checkPosition(value: Location, crs: string, context: CheckContext): string | undefined {
  const { at } = context;
  const [x, y, z] = value.position.coordinates as [number, number, number?];
  const bad = [x, y, z ?? 0].findIndex((coordinate) => !Number.isFinite(coordinate));
  if (bad >= 0) return `${path(at, 'position')}.coordinates[${bad}]: must be a finite number`;
  if (crs === 'EPSG:4326') {
    if (Math.abs(x) > 180) return outside(at, 0, 'a longitude between -180 and 180', x);
    if (Math.abs(y) > 90) return outside(at, 1, 'a latitude between -90 and 90', y);
    return undefined;
  }
  if (crs === 'local') return checkLocal(value, [x, y], context);
  if (!isCrs(crs)) return `${path(at, 'crs')}: must be ${CRS_CHOICES}, found ${show(crs)}`;
  if (projection(crs)?.covers(x, y) === true) return undefined;
  return `${path(at, 'position')}.coordinates: must be a place in ${crs}, found ${show([x, y])}`;
}

function checkLocal(value: Location, [x, y]: readonly [number, number], context: CheckContext): string | undefined {
  const { at } = context;
  const name = value.source || undefined;
  const zone = name === undefined ? undefined : context.zone(name);
  if (zone === undefined) {
    return `${path(at, 'source')}: must name a zone when crs is local, found ${show(value.source)}`;
  }
  const transform = zoneTransform(zone);
  if (transform === undefined) {
    return `${path(at, 'source')}: must name a zone with ground control points when crs is local, found ${show(name)}`;
  }
  if (transform.covers(x, y)) return undefined;
  return `${path(at, 'position')}.coordinates: must be a place near the zone ${show(name)}, found ${show([x, y])}`;
}

function outside(at: string, index: number, rule: string, found: number): string {
  return `${path(at, 'position')}.coordinates[${index}]: must be ${rule}, found ${found}`;
}

function badTime(at: string, field: string, found: string): string {
  return `${path(at, field)}: must be an RFC 3339 date and time, found ${show(found)}`;
}

function path(at: string, field: string): string {
  return at === '' ? field : `${at}.${field}`;
}
