import type { Zone } from '../../model/zone.ts';
import { projection } from '../geo/crs.ts';
import { distanceAndBearing } from '../geo/geodesic.ts';
import { roundDegrees } from '../geo/rounding.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import type { Derived, Fix } from './fix.ts';
import type { FixSlab } from './fix_slab.ts';
import type { ReceivedLocation } from './received.ts';
import { orUndefined } from './record.ts';

const scratch: [number, number] = [0, 0];

/**
 * Places an accepted location on the earth and finds what it leaves open: floor (the zone's, else 0), speed and course
 * (from the provider's previous fix). Returns undefined when its coordinates are nowhere: their zone is gone, has
 * lost its transform, or has moved away.
 *
 * `zone` is that which the location's source names, if any; `previous` is where the provider was before; `eventTimeMs`
 * orders the location among those of its provider.
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
    // What rounds up to a full turn is north.
    if (course === undefined && moved.course !== undefined) course = round(moved.course) % 360;
  }
  const floor = Number.isNaN(sentFloor) ? (zone?.floor ?? 0) : sentFloor;
  return { lon, lat, floor, eventTimeMs, speed, course };
}

/**
 * A fix whose zone was replaced: what was sent in its metres is where these are now, and everything else stays. The same
 * numbers while the zone is not placed, or does not reach there. Nobody holds it yet.
 */
export function fixInZone(fixes: FixSlab, fix: Fix, zone: Zone): Fix {
  const plane = fix.isLocal ? zoneTransform(zone) : undefined;
  scratch[0] = Number.NaN;
  plane?.toWgs84(fix.sentX, fix.sentY, scratch);
  const [x, y] = scratch;
  const isPlaced = Number.isFinite(x) && Number.isFinite(y);
  return fixes.inZone(fix, zone, isPlaced ? roundDegrees(x) : fix.lon, isPlaced ? roundDegrees(y) : fix.lat);
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : round(value);
}

/** Derived speeds and courses have no meaning beyond a ten thousandth of a metre per second, or degree. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

/** Where an object was, and when: the event time of its location. */
export interface Sighting {
  readonly lon: number;
  readonly lat: number;
  readonly eventTimeMs: number;
}

export interface Movement {
  /** Metres per second. */
  readonly speed: number | undefined;
  /** Degrees clockwise from true north, 0 to below 360. */
  readonly course: number | undefined;
}

const UNKNOWN: Movement = { speed: undefined, course: undefined };
const STILL: Movement = { speed: 0, course: undefined };

/** Mean speed and initial course between two sightings. Both are unknown when no time has passed. */
export function speedAndCourse(from: Sighting, to: Sighting): Movement {
  // hot
  const seconds = (to.eventTimeMs - from.eventTimeMs) / 1000;
  if (!(seconds > 0)) return UNKNOWN;
  if (from.lon === to.lon && from.lat === to.lat) return STILL;
  distanceAndBearing(from.lon, from.lat, to.lon, to.lat, scratch);
  const [metres, course] = scratch;
  // The two longitudes of the antimeridian, and all of a pole, are the same place.
  if (metres === 0) return STILL;
  return { speed: metres / seconds, course };
}
