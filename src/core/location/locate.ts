import type { Zone } from '../../model/zone.ts';
import { projection } from '../geo/crs.ts';
import { distanceAndBearing } from '../geo/geodesic.ts';
import { roundDegrees } from '../geo/rounding.ts';
import { carryTrack, placeTrack } from '../tracking/carry.ts';
import { emptyTrack } from '../tracking/track.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import type { Derived, Fix } from './fix.ts';
import type { FixSlab } from './fix_slab.ts';
import type { ReceivedLocation } from './received.ts';
import { orUndefined } from './record.ts';

const scratch: [number, number] = [0, 0];
const track = emptyTrack();

/**
 * Locates an accepted location on the earth and derives missing values: floor (the zone's, else 0), speed and course
 * (from the provider's previous fix). Returns undefined if its coordinates have no position: their zone was deleted,
 * lost its transform, or moved away.
 *
 * `zone` is the zone of the location's source, if any; `previous` is the provider's previous fix; `eventTimeMs` orders
 * the location among those of its provider.
 */
// hot
export function locate(
  location: ReceivedLocation,
  zone: Zone | undefined,
  previous: Fix | undefined,
  eventTimeMs: number,
): Derived | undefined {
  const { crs, sentFloor, sentSpeed, sentCourse } = location;
  let lon = location.sentX;
  let lat = location.sentY;
  if (crs !== 'EPSG:4326') {
    const plane = crs === 'local' ? zone && zoneTransform(zone) : projection(crs);
    if (plane === undefined) return undefined;
    plane.toWgs84(lon, lat, scratch);
    if (!Number.isFinite(scratch[0]) || !Number.isFinite(scratch[1])) return undefined;
    lon = roundDegrees(scratch[0]);
    lat = roundDegrees(scratch[1]);
  }
  let speed = orUndefined(sentSpeed);
  let course = orUndefined(sentCourse);
  if (previous !== undefined && (speed === undefined || course === undefined)) {
    const moved = speedAndCourse(previous, { lon, lat, eventTimeMs });
    speed ??= rounded(moved.speed);
    // A course that rounds up to a full turn is north.
    if (course === undefined && moved.course !== undefined) course = round(moved.course) % 360;
  }
  const floor = Number.isNaN(sentFloor) ? (zone?.floor ?? 0) : sentFloor;
  return { lon, lat, floor, eventTimeMs, speed, course };
}

/**
 * Returns a copy of a fix after its zone was replaced: a position sent in meters of the zone is converted again, and
 * its track moves with the zone; everything else stays. The position also stays if the zone has no plane or does not reach it. The copy has no holder
 * yet.
 */
export function fixInZone(fixes: FixSlab, fix: Fix, zone: Zone): Fix {
  const plane = fix.isLocal ? zoneTransform(zone) : undefined;
  scratch[0] = Number.NaN;
  plane?.toWgs84(fix.sentX, fix.sentY, scratch);
  const [x, y] = scratch;
  const isPlaced = Number.isFinite(x) && Number.isFinite(y);
  const moved = fixes.inZone(fix, zone, isPlaced ? roundDegrees(x) : fix.lon, isPlaced ? roundDegrees(y) : fix.lat);
  if (isPlaced && fix.hasTrack && (moved.lon !== fix.lon || moved.lat !== fix.lat))
    carryWithZone(moved, fix.zone, zone);
  return moved;
}

/**
 * Moves the track of a fix with its zone. A restored fix has no earlier zone: its track continues at the position of
 * its location.
 */
function carryWithZone(fix: Fix, before: Zone | undefined, zone: Zone): void {
  fix.readTrack(track);
  const from = before === zone ? undefined : before && zoneTransform(before);
  const to = zoneTransform(zone);
  if (from === undefined || to === undefined || !carryTrack(track, from, to)) placeTrack(track, fix.lon, fix.lat);
  fix.writeTrack(track);
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : round(value);
}

/** Derived speeds and courses are rounded to 1e-4 meters per second or degrees. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

/** Position of an object and the event time of its location. */
export interface Sighting {
  readonly lon: number;
  readonly lat: number;
  readonly eventTimeMs: number;
}

export interface Movement {
  /** Meters per second. */
  readonly speed: number | undefined;
  /** Degrees clockwise from true north, 0 to below 360. */
  readonly course: number | undefined;
}

const UNKNOWN: Movement = { speed: undefined, course: undefined };
const STILL: Movement = { speed: 0, course: undefined };

/** Returns mean speed and initial course between two sightings; both are unknown if no time has passed. */
export function speedAndCourse(from: Sighting, to: Sighting): Movement {
  // hot
  const seconds = (to.eventTimeMs - from.eventTimeMs) / 1000;
  if (!(seconds > 0)) return UNKNOWN;
  if (from.lon === to.lon && from.lat === to.lat) return STILL;
  distanceAndBearing(from.lon, from.lat, to.lon, to.lat, scratch);
  const [meters, course] = scratch;
  // Both longitudes of the antimeridian, and all longitudes of a pole, are the same position.
  if (meters === 0) return STILL;
  return { speed: meters / seconds, course };
}
