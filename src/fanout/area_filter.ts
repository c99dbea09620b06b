import Type, { type TSchema } from 'typebox';
import { DEGREES_PER_METER, RADIANS } from '../core/geo/ellipsoid.ts';
import { compileSearchRegion, metersBetween } from '../core/search/search_area.ts';
import { hubError } from '../errors.ts';
import { show } from '../model/error_value_text.ts';
import { Polygon } from '../model/geojson.ts';
import { asNumber } from './coerce.ts';

/** Names of the parameters of an area, whose values are no lists of alternatives. */
export const [NEAR, RADIUS, REGION] = ['near', 'radius', 'region'] as const;

/** Maximum number of positions of a region: each event in its bounds is compared with all edges. */
const POSITIONS_MAX = 1000;

/** Parameters of subscriptions to topics with positions. All values may also be sent as strings. */
export const AREA_PARAMS: Readonly<Record<string, TSchema>> = {
  [NEAR]: Type.Union([Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), Type.String()], {
    description: 'Longitude and latitude: events within radius of this point.',
  }),
  [RADIUS]: Type.Number({ exclusiveMinimum: 0, description: 'Greatest distance from near in meters.' }),
  [REGION]: Type.Union([Polygon, Type.String()], {
    description: `Polygon in EPSG:4326 with at most ${POSITIONS_MAX} positions, or its JSON: events inside.`,
  }),
};

/** Test of positions. */
export interface AreaFilter {
  contains(lon: number, lat: number): boolean;
  /** Bounds of all positions inside, in degrees; the longitudes may extend beyond ±180. */
  readonly box: AreaBox;
}

export type AreaBox = readonly [west: number, south: number, east: number, north: number];

/**
 * Compiles the parameters of an area; undefined without them. With a point and a region, positions are inside both.
 * Throws HUB_BAD_REQUEST with the name of an invalid parameter.
 */
export function compileArea(given: (name: string) => unknown): AreaFilter | undefined {
  const [near, radius, region] = [given(NEAR), given(RADIUS), given(REGION)];
  if (near === undefined && radius !== undefined) throw missing(NEAR);
  if (radius === undefined && near !== undefined) throw missing(RADIUS);
  const circle = near === undefined ? undefined : circleOf(near, radius);
  const inside = region === undefined ? undefined : compileSearchRegion(polygonOf(region));
  if (circle === undefined || inside === undefined) return circle ?? inside;
  return { box: inside.box, contains: (lon, lat) => circle.contains(lon, lat) && inside.contains(lon, lat) };
}

/** Returns the coordinates of a region as one list; empty for a value that is no region. */
export function numbersOf(region: unknown): readonly unknown[] {
  const coordinates = typeof region === 'object' && region !== null && 'coordinates' in region && region.coordinates;
  return Array.isArray(coordinates) ? coordinates.flat(2) : [];
}

function circleOf(near: unknown, radius: unknown): AreaFilter {
  const parts: readonly unknown[] = typeof near === 'string' ? near.split(',') : Array.isArray(near) ? near : [];
  const [lon = Number.NaN, lat = Number.NaN] = parts.map((part) => asNumber(NEAR, part));
  if (parts.length !== 2 || !isOnEarth(lon, lat)) {
    throw hubError('not_a_position', { path: `params.${NEAR}`, found: show(parts.slice(0, 3).join(',')) });
  }
  const meters = asNumber(RADIUS, radius);
  if (!(meters > 0)) throw hubError('not_above', { path: `params.${RADIUS}`, minimum: 0, found: String(meters) });
  const degrees = meters * DEGREES_PER_METER;
  // Around a pole all longitudes are inside.
  const furthest = Math.abs(lat) + degrees;
  const across = furthest < 90 ? degrees / Math.cos(furthest * RADIANS) : 360;
  return {
    box: [lon - across, lat - degrees, lon + across, lat + degrees],
    contains: (x, y) => metersBetween(lon, lat, x, y) <= meters,
  };
}

function polygonOf(value: unknown): Polygon {
  const region = typeof value === 'string' ? parsed(value) : value;
  const found = typeof region === 'object' && region !== null ? '{}' : show(value);
  const where = { path: `params.${REGION}`, type: 'Polygon', found } as const;
  if (typeof region !== 'object' || region === null) throw hubError('not_geojson', where);
  const { type, coordinates } = region as { readonly type?: unknown; readonly coordinates?: unknown };
  if (type !== 'Polygon' || !Array.isArray(coordinates) || coordinates.length === 0)
    throw hubError('not_geojson', where);
  let count = 0;
  for (const ring of coordinates as readonly unknown[]) {
    if (!Array.isArray(ring) || ring.length < 3) throw hubError('not_geojson', where);
    count += ring.length;
    if (count > POSITIONS_MAX) {
      throw hubError('too_many', { path: where.path, limit: POSITIONS_MAX, unit: 'positions', found: count });
    }
    for (const position of ring as readonly unknown[]) {
      if (Array.isArray(position) && isOnEarth(position[0], position[1])) continue;
      throw hubError('not_a_position', {
        path: where.path,
        found: Array.isArray(position) ? '[]' : show(typeof position),
      });
    }
  }
  return { type, coordinates } as Polygon;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isOnEarth(lon: unknown, lat: unknown): boolean {
  return typeof lon === 'number' && typeof lat === 'number' && Math.abs(lon) <= 180 && Math.abs(lat) <= 90;
}

function missing(name: string): Error {
  return hubError('missing', { path: `params.${name}` });
}
