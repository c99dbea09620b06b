import { show } from '../../model/show.ts';

/** Degrees. */
export interface Geographic {
  readonly longitude: number;
  readonly latitude: number;
}

/** Coordinates on the map of a floor. */
export interface Local {
  readonly x: number;
  readonly y: number;
  /** 0 when there is none. */
  readonly z: number;
  readonly metresPerUnit: number;
}

/** What the vendor writes for a coordinate that it does not know. */
const UNKNOWN = -999;
const METRES_PER_UNIT: Readonly<Record<string, number>> = { FEET: 0.3048, METERS: 1 };

/**
 * The geographic coordinates; undefined when there are none, one is -999, or both are 0. A text says what is wrong with them,
 * beginning with the member: `.latitude: must be …`.
 */
export function geographicOf(value: unknown): Geographic | string | undefined {
  if (value === undefined || value === null) return undefined;
  const { latitude, longitude } = Object(value) as Record<string, unknown>;
  if (latitude === UNKNOWN || longitude === UNKNOWN) return undefined;
  if (latitude == null && longitude == null) return undefined;
  if (latitude === 0 && longitude === 0) return undefined;
  if (!isWithin(latitude, 90)) return `.latitude: must be a number between -90 and 90, found ${show(latitude)}`;
  if (!isWithin(longitude, 180)) return `.longitude: must be a number between -180 and 180, found ${show(longitude)}`;
  return { latitude, longitude };
}

/** The coordinates on the map; undefined or a text as for geographicOf. Without unit they are in feet. */
export function localOf(value: unknown): Local | string | undefined {
  if (value === undefined || value === null) return undefined;
  const { x, y, z, unit } = Object(value) as Record<string, unknown>;
  if (x === UNKNOWN && y === UNKNOWN) return undefined;
  if (!isWithin(x)) return `.x: must be a number, found ${show(x)}`;
  if (!isWithin(y)) return `.y: must be a number, found ${show(y)}`;
  const metresPerUnit = metresPer(unit);
  if (metresPerUnit === undefined) return `.unit: must be FEET or METERS, found ${show(unit)}`;
  return { x, y, z: isWithin(z) ? z : 0, metresPerUnit };
}

function metresPer(unit: unknown): number | undefined {
  if (unit === undefined || unit === null) return METRES_PER_UNIT['FEET'];
  return typeof unit === 'string' ? METRES_PER_UNIT[unit.toUpperCase()] : undefined;
}

function isWithin(value: unknown, most = Number.MAX_VALUE): value is number {
  return typeof value === 'number' && Math.abs(value) <= most;
}
