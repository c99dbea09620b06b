import { outOfAxis, Problem, problemOf } from '../../problem.ts';
import { ExactNumber, ordinary } from '../../model/lossless_numbers.ts';
import type { Location } from '../../model/location.ts';
import { show } from '../../model/error_value_text.ts';
import { formatTime } from '../../model/time.ts';
import type { Zone } from '../../model/zone.ts';
import { readVendorTime } from '../../model/vendor_time.ts';
import { isObject } from '../../model/json_tree.ts';

/** Result of decoding: a location, nothing for other kinds of notifications, or a problem. */
export type Decoded =
  | { readonly is: 'location'; readonly location: Location }
  | { readonly is: 'ignored' }
  /** `problem` contains the field below `at` and the value found. */
  | { readonly is: 'refused'; readonly problem: Problem };

/**
 * Kinds of notifications without a current position. They may contain one, but the position of an absent device is old.
 */
const WITHOUT_POSITION: ReadonlySet<string> = new Set([
  'association',
  'absence',
  'networkdesignchanged',
  'servicestatus',
]);

const IGNORED: Decoded = { is: 'ignored' };

export type Notification = Readonly<Record<string, unknown>>;

/** Context for decoding a notification. */
export interface DecodingContext {
  /** Name of the notification in messages: `notifications[3]`. */
  readonly at: string;
  /** Finds the zone of `Campus>Building>Floor`. */
  zone(hierarchy: string): Zone | undefined;
}

/**
 * Decodes a notification of Cisco CMX or Spaces. An unknown kind is decoded by its members. Geographic coordinates take
 * precedence. Local coordinates need a zone and are in feet unless a unit is given.
 */
export function decodeNotification(sent: unknown, { at, zone }: DecodingContext): Decoded {
  const value = ordinary(sent);
  if (!isObject(value)) return refused(problemOf('not_an_object', { path: at, found: show(value) }));
  const type = textOf(value['notificationType'])?.toLowerCase();
  if (type !== undefined && WITHOUT_POSITION.has(type)) return IGNORED;
  const deviceId = textOf(value['deviceId']) ?? textOf(value['macAddress']);
  if (deviceId === undefined) {
    return refused(problemOf('not_a_filled_string', { path: `${at}.deviceId`, found: show(value['deviceId']) }));
  }
  const geographic = geographicOf(value['geoCoordinate']);
  const local = localOf(value['locationCoordinate']);
  const hierarchy = textOf(value['locationMapHierarchy']);
  const floorZone = hierarchy === undefined ? undefined : zone(hierarchy);
  const source = floorZone?.foreign_id ?? hierarchy ?? deviceId;
  const common = {
    ...commonOf(value, { type, hierarchy, floorZone, details: detailsOf(sent as Notification) }),
    provider_id: deviceId,
    source,
  };
  if (geographic !== undefined && !(geographic instanceof Problem))
    return located({ ...common, ...atGeographic(geographic) }, value, local);
  if (local !== undefined && !(local instanceof Problem)) {
    if (floorZone !== undefined) return located({ ...common, ...atLocal(local, floorZone) }, value, local);
    const found = show(value['locationMapHierarchy']);
    return refused(problemOf('not_a_foreign_id', { path: `${at}.locationMapHierarchy`, found }));
  }
  if (local !== undefined) return refused(within(`${at}.locationCoordinate`, local));
  if (geographic !== undefined) return refused(within(`${at}.geoCoordinate`, geographic));
  return IGNORED;
}

function located(location: Location, value: Notification, local: Local | Problem | undefined): Decoded {
  const radius = value['confidenceFactor'];
  // The radius is in the unit of the local coordinates, or in feet without local coordinates.
  const meters = local === undefined ? 0.3048 : local instanceof Problem ? undefined : local.metersPerUnit;
  if (typeof radius === 'number' && radius > 0 && meters !== undefined) {
    location.accuracy = roundMillimeters(radius * meters, meters);
  }
  return { is: 'location', location };
}

interface Read {
  readonly type: string | undefined;
  readonly hierarchy: string | undefined;
  readonly floorZone: Zone | undefined;
  readonly details: Details;
}

function commonOf(value: Notification, { type, hierarchy, floorZone, details }: Read): Omit<Location, 'position'> {
  const common: Omit<Location, 'position'> = {
    provider_type: 'wifi',
    properties: {
      cisco: {
        ...(type === undefined ? {} : { notification_type: type }),
        ...(hierarchy === undefined ? {} : { map_hierarchy: hierarchy }),
        ...details,
      },
    },
  };
  const associated = associatedOf(value);
  if (associated !== undefined) common.associated = associated;
  const timeMs = timeOf(value);
  if (timeMs !== undefined) common.timestamp_generated = formatTime(timeMs);
  if (floorZone?.floor != null) common.floor = floorZone.floor;
  return common;
}

function atGeographic({ longitude, latitude }: Geographic): Pick<Location, 'position' | 'crs'> {
  return { position: { type: 'Point', coordinates: [longitude, latitude] }, crs: 'EPSG:4326' };
}

/**
 * Returns a local position in meters. If the zone declares that its ground control points are in the vendor's unit, x
 * and y are unchanged.
 */
function atLocal(local: Local, zone: Zone): Pick<Location, 'position' | 'crs' | 'elevation_ref'> {
  const { x, y, z, metersPerUnit } = local;
  const scale = zone.properties?.['cisco_unit'] === 'raw' ? 1 : metersPerUnit;
  const coordinates = [roundMillimeters(x * scale, scale), roundMillimeters(y * scale, scale)];
  if (z === 0) return { position: { type: 'Point', coordinates }, crs: 'local' };
  coordinates.push(roundMillimeters(z * metersPerUnit, metersPerUnit));
  return { position: { type: 'Point', coordinates }, crs: 'local', elevation_ref: 'floor' };
}

/** Rounds to millimeters. Values in meters stay unchanged. */
function roundMillimeters(meters: number, scale: number): number {
  return scale === 1 ? meters : Math.round(meters * 1000) / 1000;
}

/**
 * Details of a location that the hub forwards, with their names in the hub. Names and addresses of persons are
 * excluded.
 */
const DETAILS: readonly (readonly [name: string, member: string])[] = [
  ['entity', 'entity'],
  ['ap_mac', 'apMacAddress'],
  ['ssid', 'ssid'],
  ['band', 'band'],
  ['event_id', 'eventId'],
  ['boundary', 'boundary'],
  ['move_distance_ft', 'moveDistanceInFt'],
];

type Details = Record<string, string | number | ExactNumber>;

/** Returns the details of a location as sent. */
function detailsOf(value: Notification): Details {
  const details: Details = {};
  for (const [name, member] of DETAILS) {
    const detail = value[member];
    if (typeof detail === 'number' || detail instanceof ExactNumber) details[name] = detail;
    else if (typeof detail === 'string' && detail !== '') details[name] = detail;
  }
  return details;
}

function associatedOf(value: Notification): boolean | undefined {
  if (typeof value['associated'] === 'boolean') return value['associated'];
  const status = textOf(value['dot11Status']);
  return status === undefined ? undefined : status.toUpperCase() === 'ASSOCIATED';
}

/** Smaller times are in seconds, since in milliseconds they would be before 2001. */
const MILLISECONDS_FROM = 1e12;
const END_MS = Date.UTC(9999, 11, 31);

function timeOf(value: Notification): number | undefined {
  const text = value['timestamp'];
  const stamp = typeof text === 'string' && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  const stampMs = typeof stamp === 'number' ? Math.floor(stamp < MILLISECONDS_FROM ? stamp * 1000 : stamp) : Number.NaN;
  if (stampMs > 0 && stampMs < END_MS) return stampMs;
  const seenMs = readVendorTime(textOf(value['lastSeen']) ?? '');
  return Number.isNaN(seenMs) ? undefined : seenMs;
}

function within(at: string, problem: Problem): Problem {
  return problem.at(`${at}.${String(problem.params['path'])}`);
}

function refused(problem: Problem): Decoded {
  return { is: 'refused', problem };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Coordinates in degrees. */
interface Geographic {
  readonly longitude: number;
  readonly latitude: number;
}

/** Coordinates on the map of a floor. */
interface Local {
  readonly x: number;
  readonly y: number;
  /** 0 if missing. */
  readonly z: number;
  readonly metersPerUnit: number;
}

/** The vendor's value of an unknown coordinate. */
const UNKNOWN = -999;
const METERS_PER_UNIT: Readonly<Record<string, number>> = { FEET: 0.3048, METERS: 1 };

/**
 * Returns the geographic coordinates; undefined if they are missing, one is -999, or both are 0. The path of a problem
 * is the member.
 */
function geographicOf(value: unknown): Geographic | Problem | undefined {
  if (value === undefined || value === null) return undefined;
  const { latitude, longitude } = Object(value) as Record<string, unknown>;
  if (latitude === UNKNOWN || longitude === UNKNOWN) return undefined;
  if (latitude == null && longitude == null) return undefined;
  if (latitude === 0 && longitude === 0) return undefined;
  if (!isWithin(latitude, 90)) {
    return outOfAxis('latitude', 90, { path: 'latitude', found: show(latitude) });
  }
  if (!isWithin(longitude, 180)) {
    return outOfAxis('longitude', 180, { path: 'longitude', found: show(longitude) });
  }
  return { latitude, longitude };
}

/** Returns the coordinates on the map; undefined or a problem as in geographicOf. The default unit is feet. */
function localOf(value: unknown): Local | Problem | undefined {
  if (value === undefined || value === null) return undefined;
  const { x, y, z, unit } = Object(value) as Record<string, unknown>;
  if (x === UNKNOWN && y === UNKNOWN) return undefined;
  if (!isWithin(x)) return problemOf('not_a_number', { path: 'x', found: show(x) });
  if (!isWithin(y)) return problemOf('not_a_number', { path: 'y', found: show(y) });
  const metersPerUnit = metersPer(unit);
  if (metersPerUnit === undefined) {
    return problemOf('out_of_choices', { path: 'unit', allowed: ['FEET', 'METERS'], found: show(unit) });
  }
  return { x, y, z: isWithin(z) ? z : 0, metersPerUnit };
}

function metersPer(unit: unknown): number | undefined {
  if (unit === undefined || unit === null) return METERS_PER_UNIT['FEET'];
  return typeof unit === 'string' ? METERS_PER_UNIT[unit.toUpperCase()] : undefined;
}

function isWithin(value: unknown, most = Number.MAX_VALUE): value is number {
  return typeof value === 'number' && Math.abs(value) <= most;
}
